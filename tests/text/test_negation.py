from __future__ import annotations

import pytest

from intentmatch.text.negation import negated
from intentmatch.text.refusals import refusal


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
