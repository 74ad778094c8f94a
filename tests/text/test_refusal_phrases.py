"""Phrases that refuse the request beside them are found and left out, by language."""

from __future__ import annotations

import pytest

from intentmatch.text.refusal_phrases import DECLINED, PHRASES
from intentmatch.text.refusals import LANGUAGES, possible_refusal, refusal


def test_there_are_phrases_for_languages_with_rules_only() -> None:
    assert set(PHRASES) | set(DECLINED) <= LANGUAGES


@pytest.mark.parametrize(
    ("language", "text", "without"),
    [
        # Not needed, or not allowed.
        ("cs", "faktura není potřeba", "faktura"),
        ("de", "die Rechnung ist nicht nötig", "die Rechnung"),
        ("el", "απαγορεύεται να διαγραφεί", "διαγραφεί"),
        ("en", "it is not necessary to reset my password", "reset my password"),
        ("en", "no exchange needed", "exchange"),
        ("es", "la cita no se debe anular", "la cita anular"),
        ("fr", "la facture n'est pas nécessaire", "la facture"),
        ("he", "אסור לבטל את התור", "לבטל את התור"),
        ("ja", "予約を取り消されては困ります", "予約を取り消されて"),
        ("ru", "нельзя удалять мой аккаунт", "удалять мой аккаунт"),
        ("sk", "heslo netreba resetovať", "heslo resetovať"),
        ("tr", "siparişim iptal edilmemeli", "siparişim iptal edilmeli"),
        # Never asked for, or not meant.
        ("da", "jeg har aldrig bedt om en faktura", "jeg en faktura"),
        ("fi", "en kysy alennuskoodista", "alennuskoodista"),
        ("hi", "मैंने पता बदलने को कभी नहीं कहा", "मैंने पता बदलने"),
        ("hu", "sosem kértem számlát", "számlát"),
        ("id", "bukan soal kode promo", "kode promo"),
        ("it", "non ho mai chiesto il reso", "il reso"),
        ("ko", "환불 얘기가 아니에요", "환불"),
        ("nl", "ik vraag niet naar een code", "ik een code"),
        ("vi", "mình có bảo đổi mật khẩu đâu", "mình đổi mật khẩu"),
        # Something else is preferred, or decided.
        ("en", "I decided against returning it", "I returning it"),
        ("es", "prefiero que no me la envíen", "me la envíen"),
        ("pl", "wolałbym nie zmieniać adresu", "zmieniać adresu"),
        ("pt", "desisti de cancelar o pedido", "cancelar o pedido"),
        ("ro", "aș prefera să nu schimb parola", "aș prefera să schimb parola"),
        ("sv", "jag klarar mig utan kvitto", "jag kvitto"),
        ("uk", "чек мені ні до чого", "чек мені"),
        ("zh", "改收货地址的事就算了吧", "改收货地址"),
        # Politely declined.
        ("en", "no refund please", "refund"),
        ("it", "un rimborso no grazie", "un rimborso"),
        ("pt", "sem piada por favor", "piada"),
    ],
)
def test_phrase_is_left_out(language: str, text: str, without: str) -> None:
    found = refusal(text, language)

    assert found is not None
    assert found.without == without


@pytest.mark.parametrize(
    ("language", "text", "without"),
    [
        ("en", "cancel my order? certainly not", "cancel my order"),
        ("nb", "avbestille? nei", "avbestille"),
        ("pt", "devolução não, obrigado", "devolução"),
        ("sk", "reset hesla? nie", "reset hesla"),
    ],
)
def test_request_that_is_declined_behind_it_may_be_refused(language: str, text: str, without: str) -> None:
    found = possible_refusal(text, language)

    assert found is not None
    assert found.without == without


@pytest.mark.parametrize(
    ("language", "text"),
    [
        ("cs", "slevový kód neplatí"),
        ("cs", "nikdo mi nevrátil peníze"),
        ("de", "ohne Konto, wie bestelle ich?"),
        ("de", "ich kann meine Karte nicht mehr finden"),
        ("en", "the code does not count"),
        ("en", "is it forbidden to return worn shoes?"),
        ("en", "no refund yet"),
        ("en", "where is my order? it has not arrived"),
        ("es", "no he recibido mi paquete"),
        ("hi", "नेट काम नहीं कर रहा है"),
        ("it", "niente internet da stamattina"),
        ("ja", "領収書なしで返品できますか"),
        ("ro", "nu am primit niciodată factura"),
        ("ru", "никто не доставил мой заказ"),
        ("ru", "почему нельзя отменить заказ"),
        ("sv", "jag får inte mitt paket"),
        ("sv", "ingen har levererat mitt paket"),
        ("uk", "ніхто не привіз моє замовлення"),
        ("vi", "đơn hàng của tôi không được giao"),
        ("zh", "我不得不取消订单"),
    ],
)
def test_what_describes_a_problem_has_no_phrase(language: str, text: str) -> None:
    assert refusal(text, language) is None
