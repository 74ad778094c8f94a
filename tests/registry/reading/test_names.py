"""Names in templates: which slot or rule is meant where, over files, intents and languages."""

from __future__ import annotations

from pathlib import Path

import pytest

from intentmatch.core.types import Registry
from intentmatch.registry import examine

CITY = "slots: {city: {values: [Rome]}}\n"


def files(folder: Path, **texts: str) -> tuple[Registry, list[str]]:
    """The registry of some files, and `NAME:LINE:COLUMN rule` of each problem."""
    for name, text in texts.items():
        (folder / f"{name}.yaml").write_text(text, encoding="utf-8")
    found, problems = examine(folder)
    return found, [f"{Path(p.location.path).stem}:{p.location.line}:{p.location.column} {p.rule}" for p in problems]


def sentences(found: Registry, intent: str) -> list[str]:
    return [utterance.text for utterance in found[intent].utterances]


def test_a_slot_and_a_rule_hold_for_the_whole_folder(tmp_path: Path):
    """Wherever they are defined, they are known in every file."""
    found, problems = files(
        tmp_path,
        a="intents: {go: {utterances: ['go to {city} <day>']}}",
        b=f"rules: {{day: today}}\n{CITY}",
    )

    assert problems == []
    assert sentences(found, "go") == ["go to Rome today"]
    assert [slot.name for slot in found["go"].slots] == ["city"]
    assert found["go"].slots == found.slots


def test_an_intent_has_the_slots_that_it_uses_and_no_other(tmp_path: Path):
    """Those that it declares first, then those of its lines in their order, those inside of rules included."""
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


def test_where_two_files_define_a_name_each_holds_in_its_own(tmp_path: Path):
    """And a third that uses it cannot know which is meant."""
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


def test_a_rule_uses_what_its_own_file_means_by_a_name(tmp_path: Path):
    """Also where the line that it stands in is of a file with a rule of that name."""
    found, problems = files(
        tmp_path,
        a="rules: {day: today, when: at <day>}\nintents: {a: {utterances: [<when>, on <day>]}}",
        b="rules: {day: heute}\nintents: {b: {utterances: [am <day>, um <when>]}}",
    )

    assert problems == []
    assert sentences(found, "a") == ["at today", "on today"]
    assert sentences(found, "b") == ["am heute", "um at today"]


def test_an_intent_refines_a_slot_of_a_file(tmp_path: Path):
    """What it says is its own, the rest is the file's; a slot of its own kind is another one."""
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


def test_an_intent_spread_over_files_says_each_thing_about_a_slot_once(tmp_path: Path):
    """Two files may share the work; a thing said twice is a problem at the second place."""
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


def test_in_one_intent_a_name_is_one_slot(tmp_path: Path):
    """Two files with a slot of their own cannot both give it to one intent, unless they say the same of it."""
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


def test_a_rule_speaks_in_the_language_of_the_line(tmp_path: Path):
    """A region falls back to its language, and that to the template for none; inside of rules too."""
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


def test_a_rule_that_says_nothing_in_a_language_is_shown_where_it_is_used(tmp_path: Path):
    """Deep inside of another rule too."""
    found, problems = files(
        tmp_path,
        a="rules:\n  day: {en: today}\n  when: at <day>\nintents:\n  a: {utterances: {fr: [<day>, le <when>]}}",
    )

    assert problems == ["a:3:12 unknown-rule", "a:5:25 unknown-rule"]
    assert sentences(found, "a") == ["day", "le at day"]


@pytest.mark.parametrize("rules", ["a: <a>", "a: <b>\n  b: <a>", "a: x [<b>]\n  b: (<c>|y)\n  c: <b>"])
def test_circles_of_rules_are_named_once(tmp_path: Path, rules):
    """However many languages they go round in; and the lines that use them can be read."""
    text = "rules:\n  " + rules + "\nintents: {i: {utterances: {en: [so <a>], de: [also <a>]}}}"

    found, problems = files(tmp_path, a=text)

    assert [problem.split()[1] for problem in problems] == ["recursive-rule"]
    assert sentences(found, "i")[0].startswith("so ")


def test_positions_are_those_in_the_file(tmp_path: Path):
    """To the column where the text stands as it is, otherwise to its beginning."""
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

    assert problems == [f"a:{place} unknown-slot" for place in ("4:12", "5:20", "6:9", "7:9", "8:9", "10:9")]


def test_a_thousand_rules_are_looked_up_in_time(tmp_path: Path):
    """A chain of rules, each of which uses the next, and lines that use each of them."""
    rules = "\n".join(f"  r{n}: <r{n + 1}>" for n in range(1000))
    lines = "\n".join(f"    - line {n} <r{n}>" for n in range(1000))

    _, problems = files(tmp_path, a=f"rules:\n{rules}\n  r1000: end\nintents:\n  a:\n   utterances:\n{lines}")

    assert problems == []
