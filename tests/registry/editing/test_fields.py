"""Set keys of an intent: only the lines of that key change."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from intentmatch.core.errors import InputError, UnknownNameError
from intentmatch.registry.editing.fields import SetField
from intentmatch.registry.editing.plan import Changes, plan

TEXT = """\
version: 1
intents:
  # The first.
  greet:
    title: 'Hi'   # short
    threshold: 0.5
    response:
      en: Hello!   # the usual
      de: "Hallo!"
    utterances: {en: [hello], de: [hallo]}
  bye:
    utterances: {en: [goodbye]}
"""


@pytest.fixture
def bot(tmp_path: Path) -> Path:
    file = tmp_path / "bot.yaml"
    file.write_text(TEXT, encoding="utf-8")
    return file


def changed(changes: Changes) -> list[str]:
    """The lines that a change removes and adds."""
    return [line for line in changes.diff.splitlines() if line[:1] in "+-" and line[:3] not in ("+++", "---")]


@pytest.mark.parametrize(
    ("field", "value", "lines"),
    [
        ("title", "Say hello", ["-    title: 'Hi'   # short", "+    title: 'Say hello'   # short"]),
        ("threshold", 0.7, ["-    threshold: 0.5", "+    threshold: 0.7"]),
        ("threshold", "90%", ["-    threshold: 0.5", "+    threshold: 90%"]),
        (
            "response",
            {"en": "Hi!", "de": "Hallo!"},
            ["-      en: Hello!   # the usual", "+      en: Hi!   # the usual"],
        ),
        ("response", {"en": "Hello!"}, ['-      de: "Hallo!"']),
        ("response", {"en": "Hello!", "de": "Hallo!", "fr": "Salut"}, ["+      fr: Salut"]),
        ("threshold", None, ["-    threshold: 0.5"]),
    ],
)
def test_only_lines_of_the_field_change(bot: Path, field: str, value: Any, lines: list[str]) -> None:
    changes = plan(bot, [SetField("greet", field, value)])

    assert changed(changes) == lines
    assert changes.problems == ()


def test_new_fields_are_read_back(bot: Path) -> None:
    slots = {"count": {"type": "number", "required": True, "ask": {"en": "How many?"}}}
    edits = [
        SetField("bye", "title", {"en": "Go", "de": "Geh"}),
        SetField("bye", "when", ["checkout"]),
        SetField("bye", "slots", slots),
        SetField("bye", "confirm", True),
        SetField("bye", "response", {"en": ["Bye.", "See you."]}),
    ]

    changes = plan(bot, edits)

    intent = changes.registry["bye"]
    assert changes.errors == ()
    assert (intent.title, intent.when, intent.confirm) == ("Go", ("checkout",), True)
    assert [(slot.name, slot.required) for slot in intent.slots] == [("count", True)]
    assert intent.responses_in("en") == ("Bye.", "See you.")


def test_scalar_becomes_mapping_at_the_same_place(bot: Path) -> None:
    changes = plan(bot, [SetField("greet", "title", {"en": "Hi", "de": "Hallo"})])

    assert changes.registry["greet"].title_in("de") == "Hallo"
    keys = [name for name in ("title", "threshold", "response") if name in (changes.files[0].new or "")]
    assert keys == ["title", "threshold", "response"]


def test_same_value_changes_nothing(bot: Path) -> None:
    edits = [SetField("greet", "title", "Hi"), SetField("greet", "response", {"en": "Hello!", "de": "Hallo!"})]

    assert plan(bot, edits).files == ()


def test_impossible_fields_are_refused(bot: Path) -> None:
    with pytest.raises(UnknownNameError, match="threshold"):
        plan(bot, [SetField("greet", "treshold", 0.5)])
    with pytest.raises(UnknownNameError, match="greet"):
        plan(bot, [SetField("gret", "threshold", 0.5)])
    with pytest.raises(InputError, match="has no title"):
        plan(bot, [SetField("bye", "title", None)])
    with pytest.raises(InputError, match="not a JSON value"):
        plan(bot, [SetField("bye", "title", object())])


def test_invalid_value_is_a_problem_of_the_change(bot: Path) -> None:
    changes = plan(bot, [SetField("greet", "threshold", 7)])

    assert [problem.rule for problem in changes.errors] == ["threshold"]
