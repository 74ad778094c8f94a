"""Expansion: lines to sentences, each with its template and the places of its slots, and never silently fewer."""

from __future__ import annotations

import time
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from intentmatch.core.types import Intent, Mark, Registry, Slot, SlotValue, Utterance
from intentmatch.registry import examine, read_registry
from intentmatch.registry.templates.expansion import MOST_SENTENCES, expand


def line(template: str, language: str | None = None) -> Utterance:
    return Utterance(template, language, None, template)


def registry(*templates: str, slots: tuple[Slot, ...] = (), language: str | None = None) -> Registry:
    return Registry((Intent("a", tuple(line(text, language) for text in templates), slots=slots),))


def city(*values: str) -> Slot:
    return Slot("city", "list", tuple(map(SlotValue, values)))


def texts(found: Registry) -> list[str]:
    return [utterance.text for utterance in found.utterances]


@pytest.fixture
def shop(tmp_path: Path) -> Path:
    file = tmp_path / "shop.yaml"
    file.write_text(
        "slots: {city: {values: [Rome, Oslo]}}\n"
        "intents:\n"
        "  go:\n"
        "    utterances: ['(go|fly) to {city}', 'I am in {city=Rome}', '{city} \\{now\\}', 'hello :)', 'is \\<b>']\n"
        "    not: ['[do] not go']\n",
        encoding="utf-8",
    )
    return file


def test_a_line_becomes_its_sentences(shop: Path):
    """Each knows its line, its template and where the values stand; a line without marks is itself."""
    go = read_registry(shop)["go"]

    assert [(u.text, u.template, u.marks) for u in go.utterances[:5]] == [
        ("go to Rome", "(go|fly) to {city}", (Mark("city", 6, 10),)),
        ("fly to Oslo", "(go|fly) to {city}", (Mark("city", 7, 11),)),
        ("fly to Rome", "(go|fly) to {city}", (Mark("city", 7, 11),)),
        ("go to Oslo", "(go|fly) to {city}", (Mark("city", 6, 10),)),
        ("I am in Rome", "I am in {city=Rome}", (Mark("city", 8, 12),)),
    ]
    assert {u.location.line for u in go.utterances} == {4}
    assert go.utterances[-2:] == (
        Utterance("hello :)", None, go.utterances[-2].location),
        Utterance("is <b>", None, go.utterances[-1].location, "is \\<b>"),
    )
    assert [negative.text for negative in go.negatives] == ["do not go", "not go"]


def test_unexpanded_there_is_one_utterance_a_line(shop: Path):
    """A template is its own text; what is one sentence is that, with its marks."""
    go = read_registry(shop, expand=False)["go"]

    assert [(u.text, u.template, u.marks) for u in go.utterances] == [
        ("(go|fly) to {city}", "(go|fly) to {city}", ()),
        ("I am in Rome", "I am in {city=Rome}", (Mark("city", 8, 12),)),
        ("{city} \\{now\\}", "{city} \\{now\\}", ()),
        ("hello :)", None, ()),
        ("is <b>", "is \\<b>", ()),
    ]
    assert [negative.text for negative in go.negatives] == ["[do] not go"]


def test_reading_is_expanding_what_was_read_unexpanded(shop: Path):
    """One is the other, expanded; and the problems are the same."""
    raw, problems = examine(shop, expand=False)
    found, same = examine(shop)

    assert expand(raw)[0] == found
    assert problems == same


def test_expanding_twice_is_expanding_once(shop: Path):
    """Sentences are no templates."""
    found = read_registry(shop)

    assert expand(found)[0] == found


def test_a_registry_from_code_means_what_it_says():
    """A text is a template only where it says so."""
    found = Registry((Intent("a", (Utterance("(a|b)"), Utterance("{x}", template="{x=1}"))),))

    assert expand(found) == (found, [])


def test_too_many_sentences_are_sampled_and_said_so():
    """The note has both numbers; the same text in two ways counts twice and is there once."""
    many = " ".join(f"({a}|{a}x)" for a in "abcdefgh")

    found, problems = expand(registry(many, "(a|a) b"))

    assert len(texts(found)) == MOST_SENTENCES + 1
    assert [(p.severity, p.rule) for p in problems] == [("info", "sampled-template")]
    assert "256 sentences, of which 64 are used" in problems[0].message


def test_values_take_turns_over_the_lines():
    """A few a line, and all of a short list between the lines of an intent."""
    cities = [f"city{n}" for n in range(10)]

    found, _ = expand(registry("to {city}", "from {city}", "via {city}", slots=(city(*cities),)))

    said = [text.split() for text in texts(found)]
    assert [sum(words[0] == way for words in said) for way in ("to", "from", "via")] == [4, 4, 4]
    assert {words[1] for words in said} == set(cities)


def test_values_do_not_multiply():
    """Two places of a slot have other values in one sentence, and no more sentences come of it."""
    found, _ = expand(registry("from {city} to {city}", slots=(city("A", "B", "C"),)))

    assert texts(found) == ["from A to B", "from C to A", "from B to C"]


def test_intents_take_turns_by_themselves():
    """An edit of one intent changes no sentence of another."""
    slots = (city(*"abcdefg"),)
    one = Intent("one", (line("to {city}"),), slots=slots)
    two = Intent("two", (line("from {city}"),), slots=slots)

    assert expand(Registry((one, two)))[0]["two"] == expand(Registry((two,)))[0]["two"]


def test_what_is_not_there_stands_for_its_name():
    """Slots and rules; it is for the reader to complain."""
    found, problems = expand(registry("to {someCity} <on_day>"))

    assert texts(found) == ["to some city on day"]
    assert problems == []


@given(st.lists(st.text("ab()[]{}|<>\\= "), max_size=5))
def test_any_lines_can_be_expanded(lines: list[str]):
    """Nothing raises, every line has a sentence, and expanding again changes nothing."""
    found, _ = expand(registry(*lines))

    assert {u.template for u in found.utterances} == set(lines)
    assert all(u.text[m.start : m.end] for u in found.utterances for m in u.marks)


def test_two_thousand_templates_are_read_in_time(tmp_path: Path):
    """With groups, rules and slots in each."""
    lines = "\n".join(f"        - (book|get) [me] a word{n} <thing> for {{city}}" for n in range(2000))
    names = "rules: {thing: table|room}\nslots: {city: {values: [Rome, Oslo]}}"
    text = f"{names}\nintents:\n  a:\n    utterances:\n{lines}\n"
    (tmp_path / "a.yaml").write_text(text, encoding="utf-8")

    began = time.process_time()
    found, problems = examine(tmp_path)
    seconds = time.process_time() - began

    assert problems == []
    assert len(found.utterances) == 16_000
    assert seconds < 4.0


def test_long_rules_in_many_lines_are_refused_within_seconds(tmp_path: Path):
    """Before they fill the memory; the line at which it is too much is shown, and the rest is left as it is."""
    rule = " ".join(f"(word{n}|other{n})" for n in range(600))
    lines = "\n".join(f"    - <r> {n}" for n in range(2000))
    file = tmp_path / "a.yaml"
    file.write_text(f"rules:\n  r: {rule}\nintents:\n  a:\n   utterances:\n{lines}\n", encoding="utf-8")

    began = time.process_time()
    found, problems = examine(file)

    assert time.process_time() - began < 10.0
    assert [p.rule for p in problems if p.severity == "error"] == ["oversized-template"]
    assert len(found["a"].utterances) < 8000
