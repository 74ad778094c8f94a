from __future__ import annotations

from pathlib import Path

import pytest
import yaml

from intentmatch.languages.sections import OF_REFUSALS
from intentmatch.languages.tables import codes, sections_of
from intentmatch.text.normalize import language_range
from intentmatch.text.refusals import REFUSALS, negated, refusal

MATCHING = Path(__file__).parents[1] / "matching"
MESSAGES = yaml.safe_load((MATCHING / "negation.yaml").read_text(encoding="utf-8"))
FORMS = yaml.safe_load((MATCHING / "negation_forms.yaml").read_text(encoding="utf-8"))

HARMLESS = yaml.safe_load(Path(__file__).with_name("refusal_phrases.yaml").read_text(encoding="utf-8"))["not refused"]


def found(text: str, language: str) -> tuple[str, str] | None:
    refused = refusal(text, language)
    return None if refused is None else (refused.words, refused.without)


@pytest.mark.parametrize("code", list(REFUSALS))
def test_each_language_refuses_some_messages_and_leaves_others_alone(code: str) -> None:
    """The file of a language has no examples of refusals: these messages are examples."""
    of_language = next(one for one in language_range(code) if one in FORMS["requests"])
    requests = FORMS["requests"][of_language]
    harmless = FORMS["problems"].get(of_language) or [text for language, text in HARMLESS if language == code]

    assert any(refusal(text, code) for text in requests)
    assert any(not refusal(text, code) for text in harmless)


def test_sections_of_refusals_stand_beside_refusals() -> None:
    """Words of answers ("no") and of clauses ("that") may stand alone: they count in messages of other languages."""
    alone = {"refusal_words", "dependent_clauses"}

    assert {name for code in codes() if code not in REFUSALS for name in sections_of(code)} & {*OF_REFUSALS} <= alone


@pytest.mark.parametrize(
    ("language", "text"),
    [(language, text) for language, rows in MESSAGES["development"].items() for text, _ in rows],
)
def test_refusal_is_found_and_taken_out(language: str, text: str) -> None:
    refused = refusal(text, language)

    assert refused is not None
    assert refused.words in text
    assert refused.without != text
    assert refusal(refused.without, language) is None


@pytest.mark.parametrize(
    ("language", "text", "words", "without"),
    [
        ("en", "please don't cancel my order", "don't", "please cancel my order"),
        ("en", "I don’t want to cancel", "don’t", "I want to cancel"),
        ("en", "I do not really want to cancel", "do not", "I really want to cancel"),
        ("de", "ich möchte meine Bestellung nicht stornieren", "nicht", "ich möchte meine Bestellung stornieren"),
        ("de", "ich will keine Rückerstattung", "keine", "ich will eine Rückerstattung"),
        ("de", "bitte löscht mein Konto nicht", "nicht", "bitte löscht mein Konto"),
        ("fr", "n'annulez pas ma commande", "n'annulez pas", "annulez ma commande"),
        ("es", "por favor no eliminen mi cuenta", "no", "por favor eliminen mi cuenta"),
        ("tr", "hesabımı silmeyin", "silmeyin", "hesabımı silin"),
        ("tr", "siparişimi iptal etmek istemiyorum", "istemiyorum", "siparişimi iptal etmek istiyorum"),
        ("cs", "nerušte prosím moji objednávku", "nerušte", "rušte prosím moji objednávku"),
        ("hi", "मेरा ऑर्डर कैंसल मत करो", "मत", "मेरा ऑर्डर कैंसल करो"),
        ("zh", "订单不要取消", "不要", "订单取消"),
        ("ja", "アカウントを削除しないでください", "ないで", "アカウントを削除してください"),
        ("ko", "주문 취소하지 마세요", "취소하지 마세요", "주문 취소하세요"),
        ("pt-BR", "não quero cancelar", "não", "quero cancelar"),
    ],
)
def test_words_of_refusal_are_those_that_differ(language: str, text: str, words: str, without: str) -> None:
    assert found(text, language) == (words, without)


@pytest.mark.parametrize(
    ("language", "text"),
    [
        ("en", "it isn't here yet"),
        ("en", "I don't know my password"),
        ("en", "my card isn't working"),
        ("en", "stop the transaction"),
        ("en", "I can't log in"),
        ("en", "why don't you ship to Norway?"),
        ("en", "don't you deliver on Sundays"),
        ("en", "never mind"),
        ("de", "meine Karte funktioniert nicht"),
        ("de", "mein Paket ist nicht angekommen"),
        ("de", "zahlung geht nicht durch"),
        ("de", "ich kann mich nicht mehr anmelden"),
        ("fr", "je ne sais pas où est mon colis"),
        ("fr", "mon paiement ne passe pas"),
        ("es", "mi pedido no ha llegado"),
        ("pt", "meu cartão não funciona"),
        ("pl", "paczka nie dotarła"),
        ("ru", "посылка не пришла"),
        ("ru", "не могли бы вы помочь"),
        ("zh", "我登录不了"),
        ("zh", "这两个有什么区别"),
        ("hi", "ना पढ़े हुए मैसेज पढ़ें"),
        ("en", "I shouldn't be charged a fee"),
        ("en", "I don't have to so I'd like to cancel it"),
        ("ja", "オペレーターにつないでください"),
        ("ko", "와이파이가 안 돼요"),
    ],
)
def test_harmless_negation_is_no_refusal(language: str, text: str) -> None:
    assert refusal(text, language) is None


def test_language_without_rules_has_no_refusals() -> None:
    assert refusal("no quiero cancelar", "xx") is None


@pytest.mark.parametrize("language", ["fr", "xx", None])
def test_negations_that_tell_their_language_are_found_whatever_the_guess(language: str | None) -> None:
    assert found("please don't unsubscribe", language) == ("don't", "please unsubscribe")
    assert found("bitte nicht löschen", language) == ("nicht", "bitte löschen")


@pytest.mark.parametrize(
    ("language", "text"),
    [("en", "don't forget to send it"), ("de", "bitte vergiss nicht zu liefern"), ("fr", "n'oubliez pas ma facture")],
)
def test_request_not_to_forget_is_no_refusal(language: str, text: str) -> None:
    assert refusal(text, language) is None


@pytest.mark.parametrize(
    ("language", "text", "without"),
    [
        ("en", "where is it? please don't cancel it, I still want it", "please cancel it"),
        ("en", "I don't want a refund", "I want a refund"),
        ("en", "I don't need a receipt", "I need a receipt"),
        ("en", "you must not cancel my order", "you must cancel my order"),
        ("de", "Ihr sollt meine Bestellung nicht stornieren", "Ihr sollt meine Bestellung stornieren"),
        ("fr", "pas besoin d'annuler ma commande", "annuler ma commande"),
        ("ko", "주문 취소 안 할래요", "주문 취소 할래요"),
        ("zh", "我没有要取消订单", "我要取消订单"),
        ("th", "อย่ายกเลิกคำสั่งซื้อ", "ยกเลิกคำสั่งซื้อ"),
        ("bg", "не отменяйте поръчката", "отменяйте поръчката"),
        ("ca", "no vull cancel·lar la comanda", "vull cancel·lar la comanda"),
        ("ro", "nu vreau să anulez comanda", "vreau să anulez comanda"),
        ("nb", "jeg vil ikke avbestille ordren", "jeg vil avbestille ordren"),
        ("ur", "میرا آرڈر منسوخ مت کریں", "میرا آرڈر منسوخ کریں"),
    ],
)
def test_clause_is_read_without_the_negation(language: str, text: str, without: str) -> None:
    refused = refusal(text, language)

    assert refused is not None
    assert refused.without == without


@pytest.mark.parametrize(
    ("language", "text", "is_whole", "is_affix"),
    [
        ("en", "please don't cancel my order", True, False),
        ("en", "thanks, but please don't cancel my order", False, False),
        ("cs", "nerušte prosím moji objednávku", True, True),
        ("tr", "hesabımı silmeyin", True, True),
        ("zh", "订单不要取消", True, False),
    ],
)
def test_refusal_says_how_much_of_the_text_it_is(language: str, text: str, is_whole: bool, is_affix: bool) -> None:
    found = refusal(text, language)

    assert found is not None
    assert (found.is_whole, found.is_affix) == (is_whole, is_affix)


@pytest.mark.parametrize(
    ("language", "text", "behind"),
    [
        ("en", "please don't cancel my order", None),
        ("en", "don't wait, cancel my order", None),
        ("en", "I found my card, don't block it. Thanks", "I found my card, block it"),
        ("ro", "am găsit cardul, nu-l mai blocați", "am găsit cardul, blocați"),
    ],
)
def test_refusal_is_read_behind_the_clauses_before_it(language: str, text: str, behind: str | None) -> None:
    found = refusal(text, language)

    assert found is not None
    assert found.with_before == behind


@pytest.mark.parametrize(
    ("language", "text", "without"),
    [
        ("ar", "لا داعي لإلغاء طلبي", "لإلغاء طلبي"),
        ("bg", "няма нужда да отменяте поръчката", "отменяте поръчката"),
        ("cs", "není potřeba měnit heslo", "měnit heslo"),
        ("da", "jeg behøver ingen faktura", "jeg behøver faktura"),
        ("de", "ihr müsst mich nicht verbinden", "ihr müsst mich verbinden"),
        ("es", "la factura no la quiero cambiar", "la factura la quiero cambiar"),
        ("fa", "نیازی نیست سفارش را لغو کنید", "سفارش را لغو کنید"),
        ("fi", "en tarvitse laskua", "tarvitsen laskua"),
        ("fr", "il ne faut pas annuler ma commande", "annuler ma commande"),
        ("hi", "पता बदलने की कोई ज़रूरत नहीं है", "पता बदलने की ज़रूरत है"),
        ("hu", "nincs szükségem számlára", "szükségem számlára"),
        ("id", "tidak perlu membatalkan pesanan", "membatalkan pesanan"),
        ("it", "non ho bisogno della fattura", "ho bisogno della fattura"),
        ("ja", "パスワードのリセットは不要です", "パスワードのリセット"),
        ("ko", "비밀번호를 재설정할 필요가 없습니다", "비밀번호를 재설정해 주세요"),
        ("nb", "jeg trenger ingen faktura", "jeg trenger faktura"),
        ("nl", "ik heb geen factuur nodig", "ik heb een factuur nodig"),
        ("pl", "nie potrzebuję faktury", "potrzebuję faktury"),
        ("ro", "n-aș vrea să anulez comanda", "aș vrea să anulez comanda"),
        ("ru", "мне не нужен счёт", "мне нужен счёт"),
        ("sv", "byt aldrig mitt lösenord", "byt mitt lösenord"),
        ("tr", "şifremi sıfırlamaya gerek yok", "şifremi sıfırlamak istiyorum"),
        ("uk", "рахунок мені не потрібен", "рахунок мені потрібен"),
        ("vi", "xin vui lòng không hủy lịch hẹn", "xin vui lòng hủy lịch hẹn"),
        ("zh", "收货地址没必要改", "收货地址改"),
    ],
)
def test_what_is_not_needed_is_refused(language: str, text: str, without: str) -> None:
    found = refusal(text, language)

    assert found is not None
    assert found.without == without


@pytest.mark.parametrize(
    ("language", "text", "negative"),
    [
        ("en", "cancel my order", "please don't cancel my order"),
        ("en", "I want to delete my profile", "I don't want to delete my profile"),
        ("en", "I'd like to sign up", "I wouldn't like to sign up"),
        ("en", "can you erase my account?", "please don't erase my account?"),
        ("de", "ich möchte mein Konto löschen", "ich möchte mein Konto nicht löschen"),
        ("fr", "je veux fermer mon compte", "je ne veux pas fermer mon compte"),
        ("es", "quiero cancelar mi pedido", "no quiero cancelar mi pedido"),
        ("tr", "hesabımı silmek istiyorum", "hesabımı silmek istemiyorum"),
        ("ja", "アカウントを削除してください", "アカウントを削除しないでください"),
        ("ko", "계정 삭제해 주세요", "계정 삭제하지 마세요"),
        ("zh", "我要注销账号", "我不想注销账号"),
    ],
)
def test_request_is_put_into_the_negative(language: str, text: str, negative: str) -> None:
    assert negated(text, language) == negative
    assert refusal(negative, language) is not None


@pytest.mark.parametrize("text", ["where is my order?", "tracking number", "please don't cancel my order", ""])
def test_what_is_no_request_is_not_negated(text: str) -> None:
    assert negated(text, "en") is None


def test_language_without_rules_is_not_negated() -> None:
    assert negated("cancel my order", "xx") is None
