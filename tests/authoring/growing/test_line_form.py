"""Texts that are no line of an author by their form."""

from __future__ import annotations

import pytest

from intentmatch.authoring.growing.form import MOST_CHARACTERS, flaw_of


@pytest.mark.parametrize(
    "text",
    [
        "where is my order?",
        "I'd like 2 of them, please :-)",
        "wann öffnet ihr – morgen?",
        "¿dónde está mi pedido?",
        "注文をキャンセルしたい",
        "e-mail me (please)",
        "my order 48213 is late",
        "10 of these",
        "no: the other one",
    ],
)
def test_message_has_no_flaw(text: str) -> None:
    assert flaw_of(text, None) is None


@pytest.mark.parametrize(
    ("text", "flaw"),
    [
        ("", "no words"),
        ("?!", "no words"),
        ("utterances: cancel it", "markup"),
        ("a " * MOST_CHARACTERS, "longer than 200"),
        ("one\ntwo", "several lines"),
        ("a\u2028b", "several lines"),
        ("a\x00b", "control characters"),
        ("cancel {order}", "template"),
        ("[please] cancel", "template"),
        ("(cancel|stop) it", "template"),
        ("cancel <order>", "template"),
        ("- cancel it", "template or markup"),
        ("1. cancel it", "template or markup"),
        ("cancel_order: cancel it", "markup"),
        ('"cancel it"', "markup"),
        ("```yaml", "markup"),
        ("--- # new", "markup"),
        ("**cancel** it", "markup"),
        ("# heading", "markup"),
        ("&anchor text", None),
        ("write to anna@example.com", "personal data"),
        ("call ‹phone›", "personal data"),
    ],
)
def test_flaw_is_told(text: str, flaw: str | None) -> None:
    found = flaw_of(text, None)

    assert found is None if flaw is None else flaw in (found or "")


@pytest.mark.parametrize(
    ("text", "language", "flaw"),
    [
        ("could I keep the books for another month", "de", "it reads like en, not de"),
        ("could I keep the books for another month", "en-GB", None),
        ("ich möchte meine Bestellung stornieren", "de", None),
        ("ok", "de", None),
        ("12345", "de", None),
        ("could I keep the books", "tlh", None),
    ],
)
def test_clearly_other_language_is_told(text: str, language: str, flaw: str | None) -> None:
    assert flaw_of(text, language) == flaw
