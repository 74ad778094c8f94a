"""Names in templates: scope of slots and rules over files, intents and languages."""

from __future__ import annotations

from pathlib import Path

import pytest

from intentmatch.core.types import Registry
from intentmatch.registry import examine

CITY = "slots: {city: {values: [Rome]}}\n"


def files(folder: Path, **texts: str) -> tuple[Registry, list[str]]:
    """Write and read files; return the registry, and `NAME:LINE:COLUMN rule` of each problem."""
    for name, text in texts.items():
        (folder / f"{name}.yaml").write_text(text, encoding="utf-8")
    found, problems = examine(folder)
    return found, [f"{Path(p.location.path).stem}:{p.location.line}:{p.location.column} {p.rule}" for p in problems]


def sentences(found: Registry, intent: str) -> list[str]:
    return [utterance.text for utterance in found[intent].utterances]


def test_slots_and_rules_are_known_in_the_whole_folder(tmp_path: Path):
    found, problems = files(
        tmp_path,
        a="intents: {go: {utterances: ['go to {city} <day>']}}",
        b=f"rules: {{day: today}}\n{CITY}",
    )

    assert problems == []
    assert sentences(found, "go") == ["go to Rome today"]
    assert [slot.name for slot in found["go"].slots] == ["city"]
    assert found["go"].slots == found.slots


def test_intent_has_declared_slots_then_used_ones_in_line_order(tmp_path: Path):
    """Slots inside rules are included."""
    found, problems = files(
        tmp_path,
        a="rules: {where: 'in {city}', there: <where>}\n"
        "slots: {city: {values: [Rome]}, day: {type: date}, other: {type: any}}\n"
        "intents:\n"
        "  a: {utterances: ['book {day} <there>'], slots: {size: {values: [big]}}}\n"
        "  b: {utterances: ['{other} {day=today}']}\n"
        "  c: {utterances: [nothing], not: ['not {other}']}",
    )

    assert problems == []
    assert [[slot.name for slot in intent.slots] for intent in found] == [
        ["size", "day", "city"],
        ["other", "day"],
        ["other"],
    ]
    assert [slot.name for slot in found.slots] == ["city", "day", "other"]


def test_name_defined_in_two_files_is_local_to_each(tmp_path: Path):
    """A third file that uses it is ambiguous."""
    found, problems = files(
        tmp_path,
        a=f"rules: {{day: today}}\n{CITY}intents: {{a: {{utterances: ['to {{city}} <day>']}}}}",
        b="rules: {day: heute}\nslots: {city: {values: [Rom]}}\nintents: {b: {utterances: ['nach {city} <day>']}}",
        c="intents: {c: {utterances: ['zu {city} <day>']}}",
    )

    assert problems == ["c:1:32 ambiguous-slot", "c:1:39 ambiguous-rule"]
    assert sentences(found, "a") == ["to Rome today"]
    assert sentences(found, "b") == ["nach Rom heute"]
    assert len(found.slots) == len(found.rules) == 2


def test_names_in_a_rule_are_resolved_in_its_own_file(tmp_path: Path):
    found, problems = files(
        tmp_path,
        a="rules: {day: today, when: at <day>}\nintents: {a: {utterances: [<when>, on <day>]}}",
        b="rules: {day: heute}\nintents: {b: {utterances: [am <day>, um <when>]}}",
    )

    assert problems == []
    assert sentences(found, "a") == ["at today", "on today"]
    assert sentences(found, "b") == ["am heute", "um at today"]


def test_intent_refines_a_file_slot(tmp_path: Path):
    """An intent's declaration with a type of its own is a separate slot."""
    found, problems = files(
        tmp_path,
        a="slots: {city: {values: [Rome], ask: {en: Which?}}, day: {type: date, required: true}}\n"
        "intents:\n"
        "  a: {utterances: ['to {city} {day}'], slots: {city: {required: true, examples: [Ostia]}}}\n"
        "  b: {utterances: ['from {city} {day}'], slots: {city: {values: [Oslo]}, day: {required: false}}}",
    )

    assert problems == []
    first, second = (intent.slots[0] for intent in found)
    assert (first.required, first.questions, [v.value for v in first.values]) == (True, {"en": "Which?"}, ["Rome"])
    assert (second.required, second.questions, [v.value for v in second.values]) == (False, {}, ["Oslo"])
    assert not found["b"].slots[1].required
    assert sentences(found, "a") == ["to Ostia day"]
    assert sentences(found, "b") == ["from Oslo day"]


def test_slot_property_declared_twice_is_reported_at_the_second_place(tmp_path: Path):
    found, problems = files(
        tmp_path,
        a=f"{CITY}intents: {{a: {{utterances: ['to {{city}}'], slots: {{city: {{required: true}}}}}}}}",
        b="intents: {a: {slots: {city: {ask: {de: Wohin?}}}}}",
        c="intents: {a: {slots: {city: {required: false, ask: {de: Wohin?}}}}}",
    )

    assert problems == ["c:1:23 slot-redefined"]
    assert found["a"].slots[0].required
    assert found["a"].slots[0].questions == {"de": "Wohin?"}
    assert "`required`, `ask`" in examine(tmp_path)[1][0].message


def test_intent_with_two_different_slots_of_one_name_is_reported(tmp_path: Path):
    other = "slots: {city: {values: [Rom]}}\nintents: {a: {utterances: {de: ['nach {city}']}}}"
    texts = {"a": f"{CITY}intents: {{a: {{utterances: {{en: ['to {{city}}']}}}}}}", "b": other}

    _, problems = files(tmp_path, **texts)
    assert problems == ["b:2:39 slot-redefined"]

    _, problems = files(tmp_path, **(texts | {"b": other.replace("Rom]", "Rome]")}))
    assert problems == []

    own = other.replace("a: {utt", "a: {slots: {city: {values: [Roma]}}, utt")
    found, problems = files(tmp_path, **(texts | {"b": own}))
    assert problems == ["a:1:9 unused-slot", "b:1:9 unused-slot"]
    assert sentences(found, "a") == ["to Roma", "nach Roma"]


def test_rule_template_follows_the_language_of_the_line(tmp_path: Path):
    """A region falls back to its language, then to the template without a language; also in nested rules."""
    found, problems = files(
        tmp_path,
        a="rules:\n"
        "  day: {en: today, en-GB: 'to-day', de: heute}\n"
        "  when: <day>\n"
        "intents:\n"
        "  a: {utterances: {en-GB: [on <day>], en-US: [at <when>], de: [um <when>]}}",
    )

    assert problems == []
    assert sentences(found, "a") == ["on to-day", "at today", "um heute"]


def test_rule_without_the_line_language_is_reported_at_its_use(tmp_path: Path):
    found, problems = files(
        tmp_path,
        a="rules:\n  day: {en: today}\n  when: at <day>\nintents:\n  a: {utterances: {fr: [<day>, le <when>]}}",
    )

    assert problems == ["a:3:12 unknown-rule", "a:5:25 unknown-rule"]
    assert sentences(found, "a") == ["day", "le at day"]


@pytest.mark.parametrize("rules", ["a: <a>", "a: <b>\n  b: <a>", "a: x [<b>]\n  b: (<c>|y)\n  c: <b>"])
def test_recursive_rules_are_reported_once(tmp_path: Path, rules):
    text = "rules:\n  " + rules + "\nintents: {i: {utterances: {en: [so <a>], de: [also <a>]}}}"

    found, problems = files(tmp_path, a=text)

    assert [problem.split()[1] for problem in problems] == ["recursive-rule"]
    assert sentences(found, "i")[0].startswith("so ")


def test_reference_positions_are_exact_for_verbatim_text(tmp_path: Path):
    """For folded or escaped text, the position is its start."""
    _, problems = files(
        tmp_path,
        a="intents:\n"
        "  a:\n"
        "    utterances:\n"
        "      - 日本 {x}\n"
        "      - 'in quotes {x}'\n"
        "      - 'it''s {x}'\n"
        '      - "\\u0041 {x}"\n'
        "      - folded over\n"
        "        lines {x}\n"
        "      - &anchor here {x}\n",
    )

    found = [problem for problem in problems if problem.endswith("unknown-slot")]
    assert found == [f"a:{place} unknown-slot" for place in ("4:12", "5:20", "6:9", "7:9", "8:9", "10:9")]


def test_thousand_chained_rules_are_resolved_quickly(tmp_path: Path):
    rules = "\n".join(f"  r{n}: <r{n + 1}>" for n in range(1000))
    lines = "\n".join(f"    - line {n} <r{n}>" for n in range(1000))

    _, problems = files(tmp_path, a=f"rules:\n{rules}\n  r1000: end\nintents:\n  a:\n   utterances:\n{lines}")

    assert problems == []


PIZZA = "slots: {size: {values: [large]}}, utterances: ['a {size} pizza']"


@pytest.mark.parametrize(
    ("response", "column"),
    [
        ("A {szie} pizza", 36),
        ("A { size } pizza", 36),
        ("A {Size} pizza", 36),
        ("{size} and {siize}", 45),
    ],
)
def test_response_with_a_misspelt_slot_is_reported_with_its_place(tmp_path: Path, response: str, column: int):
    (tmp_path / "a.yaml").write_text(f"intents:\n  order: {{response: {{en: [Well, '{response}']}}, {PIZZA}}}")

    found = examine(tmp_path)[1]

    assert [(p.rule, p.severity, p.location.line, p.location.column) for p in found] == [
        ("unknown-placeholder", "warning", 2, column)
    ]
    assert found[0].hint == "did you mean {size}?"


def test_response_with_a_slot_of_another_intent_is_reported(tmp_path: Path):
    text = "slots: {city: {values: [Rome]}}\nintents:\n  go: {utterances: ['to {city}']}\n"
    (tmp_path / "a.yaml").write_text(f"{text}  stay: {{response: 'In {{city}}', utterances: [stay]}}\n")

    found = examine(tmp_path)[1]

    assert [(p.rule, p.location.line, p.location.column) for p in found] == [("unknown-placeholder", 4, 24)]
    assert "use {city} in an utterance of the intent" in found[0].hint


@pytest.mark.parametrize("response", ["{user}", '{"a": 1}', "{}", "{{size}} {size}", "function() { return }", "{a"])
def test_braces_that_resemble_no_slot_are_left_to_the_program(tmp_path: Path, response: str):
    (tmp_path / "a.yaml").write_text(f"intents:\n  order: {{response: '{response}', {PIZZA}}}")

    assert examine(tmp_path)[1] == []


def test_response_in_another_file_than_the_slot_is_no_mistake(tmp_path: Path):
    _, problems = files(tmp_path, a="intents: {order: {response: 'A {size}'}}", b=f"intents: {{order: {{{PIZZA}}}}}")

    assert problems == []
