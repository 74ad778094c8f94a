"""Tests for building a registry with `Draft`: names, labels, languages and problems."""

from __future__ import annotations

import pytest

from intentmatch.core.errors import Location
from intentmatch.core.types import Mark, Registry, Slot, SlotValue, Utterance
from intentmatch.formats.kit.draft import Draft, Label, few

HERE, THERE = Location("f", 1), Location("f", 2)


def rules(draft: Draft) -> list[str]:
    return [problem.rule for problem in draft.problems]


def test_empty_draft_gives_empty_registry() -> None:
    draft = Draft()

    assert draft.registry() == Registry(())
    assert draft.problems == ()


def test_intents_keep_order_of_first_appearance() -> None:
    draft = Draft()
    draft.intent(" b ", HERE).say("hello", HERE, "EN")
    draft.intent("a", HERE).say("bye", HERE)
    draft.intent("b", THERE).say("hello", THERE, "en")
    found = draft.registry()

    assert [intent.name for intent in found] == ["b", "a"]
    assert found["b"].location == HERE
    assert found["b"].utterances == (Utterance("hello", "en", HERE), Utterance("hello", "en", THERE))


def test_default_language_applies_to_text_without_one() -> None:
    draft = Draft("de")
    intent = draft.intent("a", HERE)
    for language in (None, "", "pt_br", "klingonese"):
        intent.say("x", HERE, language)

    assert [u.language for u in intent.utterances] == ["de", "de", "pt-BR", None]
    assert rules(draft) == ["language-code"]


@pytest.mark.parametrize("text", ["{city}", "(a|b)", "<x>", "[please] go", "a\\(b", "{city=Rome}"])
def test_say_escapes_template_signs(text: str) -> None:
    utterance = Draft().utterance(text, HERE)

    assert utterance.text == text
    assert utterance.template is not None
    assert Draft().utterance(":) and <3", HERE).template is None


def test_labels_become_marks() -> None:
    """Marks are in order, without surrounding spaces."""
    draft = Draft()
    line = draft.utterance("  from Rome to  Oslo ", HERE, None, [Label("to", 14, 21), Label("from", 6, 12, "Roma")])

    assert line.text == "from Rome to  Oslo"
    assert line.marks == (Mark("from", 5, 9), Mark("to", 14, 18))
    assert line.template == "from {from=Rome} to  {to=Oslo}"
    assert [slot.values for slot in draft.registry().slots] == [
        (SlotValue("Roma", (Utterance("Rome"),)),),
        (SlotValue("Oslo"),),
    ]


@pytest.mark.parametrize(
    "label", [Label("x", 3, 2), Label("x", -1, 2), Label("x", 0, 99), Label("x", 2, 2), Label("x", 1, 2)]
)
def test_label_outside_of_text_is_skipped(label: Label) -> None:
    draft = Draft()

    assert draft.utterance("a b", HERE, None, [label]) == Utterance("a b", None, HERE)
    assert rules(draft) == ["bad-label"]


def test_overlapping_labels_keep_the_outer_one() -> None:
    draft = Draft()
    line = draft.utterance(
        "red big apple", HERE, None, [Label("size", 4, 7), Label("thing", 4, 13), Label("all", 8, 13)]
    )

    assert line.marks == (Mark("thing", 4, 13),)
    assert rules(draft) == ["not-expressed"] * 2


def test_slot_names_are_made_valid_and_unique() -> None:
    draft = Draft()
    names = [
        draft.slot(name, HERE).name for name in ("city", "my city", "my-city", "my.city", "my/city", "@4", "", "城市")
    ]

    assert names == ["city", "my_city", "my-city", "my.city", "my_city_", "_4", "slot", "城市"]
    assert draft.slot("my city", THERE).name == "my_city"
    assert rules(draft) == ["renamed-slot"] * 4


def test_slot_kind_follows_from_its_content() -> None:
    """A list if it has values or labels, a pattern if it has patterns, otherwise any."""
    draft = Draft()
    draft.slot("city", HERE).add("Rome", ["Roma", "Rome"], "it")
    draft.slot("code", HERE).patterns.append("[0-9]+")
    draft.slot("when", HERE).kind = "date"
    draft.slot("open", HERE)
    draft.intent("a", HERE).say("in ROME or rome or Oslo", HERE, None, [Label("seen", 3, 7), Label("seen", 11, 15)])
    city, code, when, open_, seen = draft.registry().slots

    assert city == Slot("city", "list", (SlotValue("Rome", (Utterance("Roma", "it"),)),), location=HERE)
    assert (code.kind, code.patterns) == ("pattern", ("[0-9]+",))
    assert (when.kind, open_.kind) == ("date", "any")
    assert (seen.kind, seen.values) == ("list", (SlotValue("ROME"),))
    assert rules(draft) == ["learned-slot"]


def test_slots_of_one_type_share_its_values() -> None:
    """An unused type becomes a slot."""
    draft = Draft()
    place = draft.type("place", HERE)
    for name in ("from", "to"):
        draft.slot(name, HERE).like = place
    draft.intent("go", HERE).say("Rome to Oslo", HERE, None, [Label("from", 0, 4), Label("to", 8, 12)])
    draft.type("colour", HERE).add("red")
    found = draft.registry()

    assert [(slot.name, [value.value for value in slot.values]) for slot in found.slots] == [
        ("from", ["Rome", "Oslo"]),
        ("to", ["Rome", "Oslo"]),
        ("colour", ["red"]),
    ]
    assert [slot.name for slot in found["go"].slots] == ["from", "to"]


def test_merge_joins_values_in_place_of_the_first() -> None:
    draft = Draft()
    slot = draft.slot("city", HERE)
    slot.add("NYC", ["the city"])
    slot.add("Rome")
    slot.add("New York")

    assert slot.merge("New York", ["NYC", "big apple"])
    assert not slot.merge("Oslo", ["Christiania"])
    assert {value: [u.text for u in synonyms] for value, synonyms in slot.values.items()} == {
        "New York": ["NYC", "the city", "big apple"],
        "Rome": [],
    }


def test_intent_settings_of_a_slot_stay_with_the_intent() -> None:
    draft = Draft()
    for name in ("a", "b", "c", "d"):
        draft.slot(name, HERE).kind = "number"
    draft.rule("both", "{c} and {a}", HERE)
    intent = draft.intent("x", HERE)
    intent.template("[say] <both> and <nothing>", HERE)
    intent.deny("{d}", HERE)
    own = intent.slot("b", HERE)
    own.required, own.questions[""] = True, "How many?"
    found = draft.registry()

    assert [slot.name for slot in found["x"].slots] == ["b", "c", "a"]
    assert found["x"].slots[0].required
    assert found["x"].slots[0].question(None) == "How many?"
    assert not any(slot.required for slot in found.slots)


def test_further_responses_in_a_language_are_variants() -> None:
    draft = Draft()
    intent = draft.intent("a", HERE)
    for text, language in (("Hi", "en"), ("Hello", "en"), ("Hallo", "de"), ("Hi", "en")):
        intent.respond(text, HERE, language)

    assert draft.registry()["a"].all_responses == {"en": ("Hi", "Hello"), "de": ("Hallo",)}
    assert rules(draft) == []


def test_second_message_in_a_language_is_no_variant_and_reported() -> None:
    draft = Draft()
    intent = draft.intent("a", HERE)
    for texts, language in ((["Hi", "Hello"], "en"), (["How are you?"], "en"), (["Hallo"], "de"), ([], "en")):
        intent.respond_once(texts, HERE, language)

    assert draft.registry()["a"].all_responses == {"en": ("Hi", "Hello"), "de": ("Hallo",)}
    assert rules(draft) == ["not-expressed"]


def test_equal_problems_are_merged_with_a_count() -> None:
    draft = Draft()
    for line in (3, 2, 5):
        draft.warn(Location("f", line), "odd", "this is odd", "mend it")
    draft.error(HERE, "odd", "this is odd")

    assert [str(problem) for problem in draft.problems] == [
        "f:1:1: error [odd] this is odd",
        "f:3:1: warning [odd] this is odd (and 2 more like it)\n  hint: mend it",
    ]


def test_fallbacks_and_unnamed_intents_are_reported() -> None:
    draft = Draft()
    draft.intent("None", HERE, fallback=True)
    draft.intent("None", THERE, fallback=True)
    draft.intent(" ", HERE)

    assert sorted(rules(draft)) == ["fallback-intent", "no-name"]


def test_first_of_two_rules_with_one_name_is_kept() -> None:
    draft = Draft()
    for template, language in (("a|b", "en"), ("c", "de"), ("x", "en")):
        draft.rule("r", template, HERE, language)

    assert draft.registry().rules[0].templates == {"en": "a|b", "de": "c"}
    assert rules(draft) == ["duplicate-key"]


def test_few_limits_the_number_of_names() -> None:
    assert few("abc") == "a, b, c"
    assert few("abcdefgh") == "a, b, c, d, e and 3 more"
