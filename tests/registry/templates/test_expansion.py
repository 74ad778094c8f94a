"""Expansion of lines into sentences with their templates and marks; sampling is reported."""

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


def test_line_expands_to_sentences_with_template_and_marks(shop: Path):
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


def test_unexpanded_registry_has_one_utterance_per_line(shop: Path):
    go = read_registry(shop, expand=False)["go"]

    assert [(u.text, u.template, u.marks) for u in go.utterances] == [
        ("(go|fly) to {city}", "(go|fly) to {city}", ()),
        ("I am in Rome", "I am in {city=Rome}", (Mark("city", 8, 12),)),
        ("{city} \\{now\\}", "{city} \\{now\\}", ()),
        ("hello :)", None, ()),
        ("is <b>", "is \\<b>", ()),
    ]
    assert [negative.text for negative in go.negatives] == ["[do] not go"]


def test_read_registry_equals_expanding_the_unexpanded_one(shop: Path):
    raw, problems = examine(shop, expand=False)
    found, same = examine(shop)

    assert expand(raw)[0] == found
    assert problems == same


def test_expansion_is_idempotent(shop: Path):
    found = read_registry(shop)

    assert expand(found)[0] == found


def test_text_from_code_is_a_template_only_if_marked_as_one():
    found = Registry((Intent("a", (Utterance("(a|b)"), Utterance("{x}", template="{x=1}"))),))

    assert expand(found) == (found, [])


def test_large_template_is_sampled_and_reported():
    many = " ".join(f"({a}|{a}x)" for a in "abcdefgh")

    found, problems = expand(registry(many, "(a|a) b"))

    assert len(texts(found)) == MOST_SENTENCES + 1
    assert [(p.severity, p.rule) for p in problems] == [("info", "sampled-template")]
    assert "256 sentences, of which 64 are used" in problems[0].message


def test_values_rotate_over_the_lines_of_an_intent():
    cities = [f"city{n}" for n in range(10)]

    found, _ = expand(registry("to {city}", "from {city}", "via {city}", slots=(city(*cities),)))

    split = [text.split() for text in texts(found)]
    assert [sum(words[0] == way for words in split) for way in ("to", "from", "via")] == [4, 4, 4]
    assert {words[1] for words in split} == set(cities)


def test_two_uses_of_a_slot_get_different_values_without_more_sentences():
    found, _ = expand(registry("from {city} to {city}", slots=(city("A", "B", "C"),)))

    assert texts(found) == ["from A to B", "from C to A", "from B to C"]


def test_value_rotation_is_independent_for_each_intent():
    slots = (city(*"abcdefg"),)
    one = Intent("one", (line("to {city}"),), slots=slots)
    two = Intent("two", (line("from {city}"),), slots=slots)

    assert expand(Registry((one, two)))[0]["two"] == expand(Registry((two,)))[0]["two"]


def test_unknown_slots_and_rules_are_replaced_by_their_names():
    found, problems = expand(registry("to {someCity} <on_day>"))

    assert texts(found) == ["to some city on day"]
    assert problems == []


@given(st.lists(st.text("ab()[]{}|<>\\= "), max_size=5))
def test_any_lines_expand_to_at_least_one_sentence_each(lines: list[str]):
    found, _ = expand(registry(*lines))

    assert {u.template for u in found.utterances} == set(lines)
    assert all(u.text[m.start : m.end] for u in found.utterances for m in u.marks)


def test_two_thousand_templates_expand_quickly(tmp_path: Path):
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


def test_exploding_rules_are_refused_quickly(tmp_path: Path):
    """The problem is at the line that exceeds the limit; later lines remain unexpanded."""
    one, other = "word" * 10, "other" * 8  # the limit is in characters, the time is that of the words
    rule = " ".join(f"({one}{n}|{other}{n})" for n in range(200))
    lines = "\n".join(f"    - <r> {n}" for n in range(2000))
    file = tmp_path / "a.yaml"
    file.write_text(f"rules:\n  r: {rule}\nintents:\n  a:\n   utterances:\n{lines}\n", encoding="utf-8")

    began = time.process_time()
    found, problems = examine(file)

    assert time.process_time() - began < 10.0
    assert [p.rule for p in problems if p.severity == "error"] == ["oversized-template"]
    assert len(found["a"].utterances) < 8000
