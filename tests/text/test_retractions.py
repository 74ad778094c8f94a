"""Phrases that take a request back are found and left out."""

from __future__ import annotations

import pytest

from intentmatch.text.refusals import refusal


@pytest.mark.parametrize(
    ("language", "text", "without"),
    [
        ("ar", "تجاهلوا إلغاء الطلب", "إلغاء الطلب"),
        ("bg", "забравете за отказа на поръчката", "отказа на поръчката"),
        ("cs", "zapomeňte na změnu adresy", "změnu adresy"),
        ("da", "glem annulleringen", "annulleringen"),
        ("de", "vergesst die Stornierung", "die Stornierung"),
        ("de", "ich ziehe die Kündigung zurück", "die Kündigung"),
        ("el", "ξεχάστε την ακύρωση", "την ακύρωση"),
        ("en", "forget about the cancellation", "the cancellation"),
        ("en", "please leave my account alone", "please my account"),
        ("es", "olvídense de la devolución", "la devolución"),
        ("fi", "unohtakaa peruutus", "peruutus"),
        ("fr", "ne tenez pas compte de l'annulation", "l'annulation"),
        ("he", "תשכחו מביטול ההזמנה", "מביטול ההזמנה"),
        ("hu", "visszavonom a törlést", "törlést"),
        ("id", "lupakan saja pembatalan", "pembatalan"),
        ("it", "lasciate stare il reso", "il reso"),
        ("nl", "laat die retour maar zitten", "die retour"),
        ("pl", "zapomnijcie o zwrocie", "zwrocie"),
        ("pt", "esqueçam o cancelamento", "o cancelamento"),
        ("ro", "uitați de anularea comenzii", "anularea comenzii"),
        ("ru", "оставьте адрес доставки как есть", "адрес доставки"),
        ("sk", "zabudnite na zmenu adresy", "zmenu adresy"),
        ("sv", "glöm avbokningen", "avbokningen"),
        ("uk", "забудьте про скасування", "скасування"),
        ("vi", "bỏ chuyện hủy đơn", "hủy đơn"),
    ],
)
def test_retraction_is_left_out(language: str, text: str, without: str) -> None:
    found = refusal(text, language)

    assert found is not None
    assert found.without == without


def test_whole_text_is_read_without_the_retraction() -> None:
    """What comes behind it may tell which request is taken back."""
    found = refusal("scrap the cancellation, I want my order", "en")

    assert found is not None
    assert (found.without, found.is_whole) == ("the cancellation, I want my order", True)


@pytest.mark.parametrize(
    ("language", "text"),
    [
        ("en", "I forgot my password"),
        ("en", "forget reservation for tonight"),
        ("en", "don't forget to send it"),
        ("de", "ich habe mein Passwort vergessen"),
        ("de", "ich nehme die Bestellung zurück"),
        ("es", "olvide mi contraseña"),
        ("ro", "am uitat parola"),
        ("ro", "lasă coletul la vecin"),
        ("th", "ลืมรหัสผ่าน"),
        ("vi", "tôi quên mật khẩu"),
    ],
)
def test_what_is_forgotten_is_not_taken_back(language: str, text: str) -> None:
    assert refusal(text, language) is None


@pytest.mark.parametrize(
    ("language", "text", "without", "retracts"),
    [
        ("de", "bitte streichen Sie meinen Termin nicht", "bitte streichen Sie meinen Termin", False),
        ("fr", "ne laissez pas tomber ma commande", "laissez tomber ma commande", False),
        # A negation in another clause is none of the retraction.
        ("en", "scrap the cancellation, I don't want it", "the cancellation, I don't want it", True),
        # The negation belongs to the phrase.
        ("fr", "ne tenez pas compte de ma commande", "ma commande", True),
    ],
)
def test_retraction_in_the_negative_takes_nothing_back(language: str, text: str, without: str, retracts: bool) -> None:
    found = refusal(text, language)

    assert found is not None
    assert (found.without, found.retracts) == (without, retracts)
