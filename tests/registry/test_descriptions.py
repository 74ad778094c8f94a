"""Intents that begin as a description."""

from __future__ import annotations

from pathlib import Path

import pytest

from intentmatch import Matcher
from intentmatch.registry import examine

BOT = """\
intents:
  order_status:
    title: Where an order is
    description: where an order or a parcel is and when it arrives
  refund:
    description: get money back for a purchase
    not: [which payment methods do you take]
  hours:
    description: when the shop opens and closes on a day of the week
"""


def read(path: Path, text: str) -> tuple[dict[str, list[str]], list[tuple[str, str, int]]]:
    """The lines of each intent, and rule, severity and line of each problem."""
    (path / "bot.yaml").write_text(text, encoding="utf-8")
    registry, problems = examine(path)
    lines = {intent.name: [line.text for line in intent.utterances] for intent in registry}
    return lines, [(problem.rule, problem.severity, problem.location.line) for problem in problems]


@pytest.mark.parametrize(
    ("message", "intent"),
    [("where is my parcel", "order_status"), ("I want my money back", "refund"), ("when do you close", "hours")],
)
def test_registry_of_descriptions_ranks_the_intent_first(tmp_path: Path, message: str, intent: str) -> None:
    (tmp_path / "bot.yaml").write_text(BOT, encoding="utf-8")
    assert Matcher.load(tmp_path, cache="off").match(message).candidates[0].intent == intent


def test_description_alone_is_a_warning(tmp_path: Path) -> None:
    lines, problems = read(tmp_path, BOT)
    assert lines["order_status"] == ["where an order or a parcel is and when it arrives", "Where an order is"]
    assert [found for found in problems if found[0] == "description-only"] == [
        ("description-only", "warning", 2),
        ("description-only", "warning", 5),
        ("description-only", "warning", 8),
    ]


def test_description_is_not_read_beside_lines(tmp_path: Path) -> None:
    lines, problems = read(tmp_path, "intents: {a: {description: a refund please, utterances: [money back]}}")
    assert lines == {"a": ["money back"]}
    assert not [found for found in problems if found[0] == "description-only"]


def test_description_that_is_a_line_or_describes_two_intents_is_left_out(tmp_path: Path) -> None:
    """It would be a conflict that nobody has written."""
    text = (
        "intents: {a: {description: hello}, c: {description: same}, d: {description: same}, b: {utterances: [hello]}}"
    )
    assert read(tmp_path, text)[0] == {"a": ["a"], "c": ["c"], "d": ["d"], "b": ["hello"]}


def test_intent_without_lines_and_description_stays_an_error(tmp_path: Path) -> None:
    assert ("no-utterances", "error", 1) in read(tmp_path, "intents: {a: {title: A}, b: {utterances: [hello]}}")[1]


def test_edits_do_not_see_the_description(tmp_path: Path) -> None:
    (tmp_path / "bot.yaml").write_text(BOT, encoding="utf-8")
    assert not any(intent.utterances for intent in examine(tmp_path, expand=False)[0])
