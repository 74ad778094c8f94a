"""Shared lines in formats: those with `when` keep them, the others give each line to one intent and say so."""

from __future__ import annotations

from pathlib import Path

import pytest

from intentmatch import formats
from intentmatch.core.errors import Location
from intentmatch.core.types import Case, Intent, Registry, Slot, Utterance
from intentmatch.formats.kit.one_owner import with_one_owner
from intentmatch.registry import check
from intentmatch.registry.templates.expansion import expand


def intent(name: str, *lines: str, when: str = "", line: int = 1) -> Intent:
    located = (Utterance(text, "en", Location("bot.yaml", line + below)) for below, text in enumerate(lines, 1))
    return Intent(name, tuple(located), when=tuple(when.split()), location=Location("bot.yaml", line))


BOT = Registry(
    (
        intent("order_yes", "yes", "order it", when="ordering", line=10),
        intent("close_yes", "Yes!", "close it", "quite so", when="closing", line=20),
        intent("agree", "quite so", "I agree", line=30),
        intent("hello", "hello there", "good morning", line=40),
    )
)
WRITABLE = sorted(name for name, found in formats.formats().items() if found.write)
WITH_WHEN = sorted(name for name in WRITABLE if "when" in formats.formats()[name].says)


def lines_of(registry: Registry) -> dict[str, list[str]]:
    return {intent.name: [line.text for line in intent.utterances] for intent in registry}


def test_line_stays_with_the_intent_without_when_then_with_the_first() -> None:
    kept, left_out = with_one_owner(BOT)

    assert lines_of(kept) == {
        "order_yes": ["yes", "order it"],
        "close_yes": ["close it"],
        "agree": ["quite so", "I agree"],
        "hello": ["hello there", "good morning"],
    }
    assert {(name, line.text): owner for (name, line), owner in left_out.items()} == {
        ("close_yes", "Yes!"): "order_yes",
        ("close_yes", "quite so"): "agree",
    }


def test_registry_without_shared_lines_is_unchanged() -> None:
    """So is one whose lines conflict: nothing tells the intents apart before and after."""
    for registry in (Registry(BOT.intents[:1]), Registry((intent("a", "x"), intent("b", "x"))), Registry(())):
        assert with_one_owner(registry) == (registry, {})


def test_intent_without_a_line_of_its_own_is_left_out_with_its_tests() -> None:
    registry = Registry(
        (intent("a", "yes", when="s"), intent("b", "yes", when="t"), intent("c", "hi")),
        tests=(Case("yep", "b"), Case("hey", "c"), Case("yes", ("a", "b")), Case("?", None)),
    )

    kept, _ = with_one_owner(registry)

    assert [one.name for one in kept] == ["a", "c"]
    assert [case.text for case in kept.tests] == ["hey", "?"]
    _, problems = formats.render(registry, "rasa")
    says = [problem.message.removeprefix("this format cannot express ") for problem in problems]
    assert "“yes” of 'b': 'a' has the same line" in says
    assert "'b': other intents have all of its lines" in says


def test_template_with_a_shared_sentence_is_left_out_with_its_slots() -> None:
    slot = Slot("time", "time", examples=(Utterance("noon"),))
    first = Intent("a", (Utterance("yes"), Utterance("sure")), when=("s",))
    second = Intent(
        "b",
        (Utterance("yes [at {time}]", template="yes [at {time}]"), Utterance("fine")),
        when=("t",),
        slots=(slot,),
    )
    registry = Registry((first, second))
    assert check(expand(registry)[0]) == []

    kept, _ = with_one_owner(registry)

    assert lines_of(kept) == {"a": ["yes", "sure"], "b": ["fine"]}
    assert kept["b"].slots == ()


def test_formats_with_when_are_known() -> None:
    assert WITH_WHEN == ["botpress", "dialogflow-cx", "dialogflow-es", "hassil", "intentmatch"]


@pytest.mark.parametrize("name", WRITABLE)
def test_shared_lines_are_kept_or_reported(name: str, tmp_path: Path) -> None:
    problems = formats.write(BOT, name, tmp_path / "bot")

    lost = [problem.message for problem in problems if "has the same line" in problem.message]
    if name in WITH_WHEN:
        assert lost == []
    else:
        assert lost == [
            "this format cannot express “Yes!” of 'close_yes': 'order_yes' has the same line",
            "this format cannot express “quite so” of 'close_yes': 'agree' has the same line",
        ]
        assert [str(p.location) for p in problems if p.message in lost] == ["bot.yaml:21:1", "bot.yaml:23:1"]


@pytest.mark.parametrize("name", [n for n in WRITABLE if formats.formats()[n].read])
def test_what_is_written_is_read_without_conflicts(name: str, tmp_path: Path) -> None:
    formats.write(BOT, name, tmp_path / "bot")

    registry = formats.read(tmp_path / "bot", name).registry

    assert check(expand(registry)[0]) == []
    if name in WITH_WHEN:
        words = {name: {line.casefold().rstrip("!") for line in lines} for name, lines in lines_of(registry).items()}
        assert words["order_yes"] >= {"yes", "order it"}
        assert words["close_yes"] >= {"yes", "close it", "quite so"}
        assert words["agree"] >= {"quite so", "i agree"}
        assert [one.when for one in registry if one.name == "close_yes"] == [("closing",)]
