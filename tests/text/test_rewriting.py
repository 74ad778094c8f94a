from __future__ import annotations

import pytest

from intentmatch.text.rewriting import compiled, rewritten

RULES = compiled([(r"\b(buy|order) no\b", r"\1 a"), (r"\bno\b", "")])


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Order no pizza", "Order a pizza"),
        ("there is no pizza, no", "there is pizza, no"),
        ("NO pizza", "pizza"),
        ("pizza", None),
        ("", None),
    ],
)
def test_first_matching_rule_replaces_its_first_place(text: str, expected: str | None) -> None:
    """Case does not matter, and spaces that are left over are removed."""
    assert rewritten(text, RULES) == expected


def test_text_without_rules_is_not_rewritten() -> None:
    assert rewritten("no", ()) is None
