from __future__ import annotations

import pytest

from intentmatch.text.accents import typed_without_accents, unaccented
from intentmatch.text.normalize import fold


@pytest.mark.parametrize(
    ("written", "typed"),
    [
        ("até logo", "ate logo"),
        ("¿Dónde está mi pedido?", "donde esta mi pedido"),
        ("où est ma commande", "ou est ma commande"),
        ("zażółć gęślą jaźń", "zazolc gesla jazn"),
        ("smørrebrød på", "smorrebrod pa"),
        ("siparişim nerede kaldı", "siparisim nerede kaldi"),
        ("İptal", "iptal"),
        ("hủy đơn hàng", "huy don hang"),
        ("καλημέρα", "καλημερα"),
        ("ещё", "еще"),
        ("мой", "мой"),
        ("їжа", "їжа"),
        ("مَرْحَبًا", "مرحبا"),
        ("شَلוֹם", "شلום"),
        ("إلغاء", "الغاء"),
        ("घड़ी कहाँ है", fold("घड़ी कहाँ है")),
        ("ขอบคุณ", "ขอบคุณ"),
        ("がぎぐ", "がぎぐ"),
        ("한국어", "한국어"),
        ("plain", "plain"),
    ],
)
def test_unaccented(written, typed):
    """Marks that writers drop are dropped; marks that make another letter stay."""
    assert unaccented(fold(written)) == typed


@pytest.mark.parametrize(
    ("written", "forms"),
    [
        ("kündigung bestätigen", ("kundigung bestatigen", "kuendigung bestaetigen")),
        ("købe æg på", ("kobe aeg pa", "koebe aeg paa")),
        ("até", ("ate",)),
        ("訂單", ()),
        ("order", ()),
    ],
)
def test_typed_without_accents(written, forms):
    """Umlauts are left out or spelled out; a text that loses nothing has no other form."""
    assert typed_without_accents(written) == forms
