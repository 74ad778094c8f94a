"""Any negation is found and taken out, by language."""

from __future__ import annotations

import pytest

from intentmatch.text.refusals import possible_refusal


@pytest.mark.parametrize(
    ("language", "text", "without"),
    [
        ("ar", "لا داعي لإلغاء الطلب", "لإلغاء الطلب"),
        ("da", "min ordre skal ikke annulleres", "min ordre skal annulleres"),
        ("de", "lösch mein Konto auf keinen Fall", "lösch mein Konto"),
        ("de", "ich habe nicht darum gebeten", "ich habe darum gebeten"),
        ("el", "δε θέλω να ακυρώσω", "θέλω να ακυρώσω"),
        ("en", "nobody should cancel my order", "cancel my order"),
        ("en", "I'm not cancelling my order", "cancelling my order"),
        ("en", "I didn't ask you to close my account", "close my account"),
        ("en", "I won't be returning the shoes", "returning the shoes"),
        ("en", "I'd rather you didn't cancel my order", "cancel my order"),
        ("en", "stop cancelling my order", "cancelling my order"),
        ("en", "cancel my order, no wait, don't", "cancel my order"),
        ("en", "cancel my order? no!", "cancel my order"),
        ("es", "no hace falta que cancelen el pedido", "cancelen el pedido"),
        ("fr", "ma commande ne doit pas être annulée", "ma commande doit être annulée"),
        ("he", "לא לבטל את ההזמנה", "לבטל את ההזמנה"),
        ("id", "tidak usah dibatalkan", "dibatalkan"),
        ("it", "non c'è bisogno di annullare l'ordine", "annullare l'ordine"),
        ("ja", "注文はキャンセルしません", "注文はキャンセルします"),
        ("nl", "mijn bestelling niet annuleren", "mijn bestelling annuleren"),
        ("pl", "wolę nie usuwać konta", "wolę usuwać konta"),
        ("pt", "não é para cancelar o pedido", "cancelar o pedido"),
        ("ru", "я передумал отменять заказ", "я отменять заказ"),
        ("vi", "không cần hủy đơn hàng", "hủy đơn hàng"),
        ("zh", "我没说要取消订单", "我取消订单"),
    ],
)
def test_negation_is_taken_out(language: str, text: str, without: str) -> None:
    found = possible_refusal(text, language)

    assert found is not None
    assert found.without == without
    assert found.words in text


@pytest.mark.parametrize(
    ("language", "text"),
    [
        ("en", "I don't know my password"),
        ("en", "my card isn't working"),
        ("en", "stop the transaction"),
        ("en", "the app won't let me pay"),
        ("en", "why is my card not working"),
        ("en", "when does my card stop working"),
        ("en", "I did not ask for this amount of cash"),
        ("en", "cancel my order"),
        ("es", "seguro que no"),
        ("fr", "je veux le prix le plus bas"),
        ("zh", "你能不能帮我"),
        ("zh", "没关系"),
        (None, "do not cancel"),
        ("xx", "do not cancel"),
    ],
)
def test_other_messages_have_no_possible_refusal(language: str | None, text: str) -> None:
    assert possible_refusal(text, language) is None
