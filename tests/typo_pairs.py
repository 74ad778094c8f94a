"""Pairs of texts for the tests of typing mistakes and of the spelling index: folded they are alike, or only similar."""

from __future__ import annotations

TYPOS = [
    ("where is my ordre", "where is my order"),
    ("whre is my order", "where is my order"),
    ("wheere is my order", "where is my order"),
    ("where is my oeder?", "Where is my order"),
    ("I want to cancell", "I want to cancel"),
    ("trak my shipmet", "track my shipment"),
    ("reccomendation please", "recommendation please"),
    ("thankyou", "thank you"),
    ("good by", "goodby"),
    ("wo ist mein Pakte", "wo ist mein Paket"),
    ("ich möchte meine Bestelung stornieren", "ich möchte meine Bestellung stornieren"),
    ("où est mon coli", "où est mon colis"),
    ("je veux anuler ma commande", "je veux annuler ma commande"),
    ("dónde está mi peddido", "dónde está mi pedido"),
    ("dónde esta mi pedido", "dónde está mi pedido"),
    ("gdzie jest moja paczka", "gdzie jest moja paczką"),
    ("где мой закас", "где мой заказ"),
    ("отменить закзз", "отменить заказ"),
    ("siparişim nerde", "siparişim nerede"),
    ("أريد إلغاء الطلبب", "أريد إلغاء الطلب"),
]
"""Messages that are an utterance with typing mistakes: a letter left out, doubled, swapped or wrong, a lost space."""

DIFFERENT = [
    ("turn the light off", "turn the light on"),
    ("increase the volume of the music", "decrease the volume of the music"),
    ("enable notifications please", "disable notifications please"),
    ("please do not cancel my order", "please do cancel my order"),
    ("I can pay the bill now", "I can't pay the bill now"),
    ("cancel order 1234567", "cancel order 1234568"),
    ("book a table for 12", "book a table for 2"),
    ("meet me at 10pm tonight", "meet me at 11pm tonight"),
    ("install version v2beta please", "install version v3beta please"),
    ("der Preis ist mir zu hoch", "der Preis ist mir zu doch"),
    ("ich kann das nicht bezahlen", "ich kann das bezahlen"),
    ("me gusta el gato", "me gusta el pato"),
    ("我想取消这个订单", "我想取消那个订单"),
    ("我要买这个东西", "我要卖这个东西"),
    ("注文を確認したいです", "注文を確定したいです"),
    ("볼륨을 올려 주세요", "볼륨을 내려 주세요"),
    ("включить свет", "отключить свет"),
    ("where is my order", "where was my order"),
    ("my order where is", "where is my order"),
    ("", "hi"),
]
"""Messages that say something else: short words, first letters, numbers, added words, one-character words differ."""

OPPOSITES = [
    ("ich möchte mich abmelden", "ich möchte mich anmelden"),
    ("выключи свет в комнате", "включи свет в комнате"),
    ("wyłącz światło", "włącz światło"),
    ("unload the picture", "upload the picture"),
    ("expert help please", "export help please"),
]
"""Messages one letter away from their opposite."""
