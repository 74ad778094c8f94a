"""The reader: values and positions of valid files, and problems of invalid files."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from registry_files import in_file, places
from rule_ids import rules_in

from intentmatch import registry
from intentmatch.core.errors import RegistryError
from intentmatch.core.types import Case, Intent, Registry, Rule, Slot, Utterance
from intentmatch.registry import check, examine, read_registry
from intentmatch.registry.templates.syntax import escape

DATA = Path(__file__).parents[1] / "data"
VALID = sorted((DATA / "valid").glob("*.yaml"))
INVALID = sorted((DATA / "invalid").glob("*.yaml"))


# Rules that one text file cannot break; each has a test of its own in this folder.
MULTI_FILE_RULES = {"question-redefined", "setting-redefined", "slot-redefined", "ambiguous-slot", "ambiguous-rule"}
TESTED_BY_NAME = {"unreadable", "empty-file", "no-files", "encoding", *MULTI_FILE_RULES}


def place(thing: Utterance | Intent | Slot | Rule | Case) -> str:
    return f"{thing.location.line}:{thing.location.column}"


def lines_as_plain(utterances: tuple[Utterance, ...]) -> list:
    return [
        [u.language, u.text, place(u), *([u.template, *([m.slot, m.start, m.end] for m in u.marks)] * bool(u.template))]
        for u in utterances
    ]


def slots_as_plain(slots: tuple[Slot, ...]) -> dict:
    return {
        slot.name: {
            "kind": slot.kind,
            "values": {value.value: lines_as_plain(value.synonyms) for value in slot.values},
            "patterns": slot.patterns,
            "examples": lines_as_plain(slot.examples),
            "required": slot.required,
            "questions": dict(slot.questions),
            "location": place(slot),
        }
        for slot in slots
    }


def nonempty(**values: object) -> dict:
    return {key: value for key, value in values.items() if value}


def as_plain(found: Registry) -> dict:
    """Return the registry in the form of the JSON twins."""
    return {
        "settings": dict(found.settings),
        "intents": {
            intent.name: {
                "title": intent.title,
                "description": intent.description,
                "utterances": lines_as_plain(intent.utterances),
                "negatives": lines_as_plain(intent.negatives),
                "threshold": intent.threshold,
                "responses": dict(intent.responses),
                "metadata": dict(intent.metadata),
                "location": place(intent),
                **nonempty(
                    slots=slots_as_plain(intent.slots),
                    when=intent.when,
                    titles=dict(intent.titles),
                    confirm=intent.confirm,
                    more_responses=dict(intent.more_responses),
                ),
            }
            for intent in found
        },
        **nonempty(
            tests=[[c.text, c.expected, c.language, place(c)] for c in found.tests],
            slots=slots_as_plain(found.slots),
            rules=[[rule.name, dict(rule.templates), place(rule)] for rule in found.rules],
        ),
    }


@pytest.mark.parametrize("file", VALID, ids=lambda file: file.stem)
def test_valid_file_equals_its_json_twin(file: Path):
    expected = json.loads(file.with_suffix(".json").read_text(encoding="utf-8"))

    found, problems = examine(file)

    assert problems == []
    assert json.loads(json.dumps(as_plain(found))) == expected
    assert list(found.settings) == list(found.setting_locations)


@pytest.mark.parametrize("file", INVALID, ids=lambda file: file.stem)
def test_invalid_file_gives_exactly_the_expected_problems(file: Path):
    first_line = file.read_text(encoding="utf-8").partition("\n")[0]
    expected = first_line.removeprefix("# expect: ").split("; ")

    _, problems = examine(file)

    assert sorted(places(problems)) == sorted(expected)


@pytest.mark.parametrize("file", INVALID, ids=lambda file: file.stem)
def test_read_registry_raises_only_for_errors(file: Path):
    """The exception holds all problems."""
    _, problems = examine(file)

    if all(problem.severity != "error" for problem in problems):
        assert len(read_registry(file)) > 0
    else:
        with pytest.raises(RegistryError) as caught:
            read_registry(file)
        assert list(caught.value.problems) == problems


def test_every_rule_id_has_a_test_case():
    """In the invalid files, or in a test of its own."""
    in_source = {rule for rule, _ in rules_in(Path(registry.__file__).parent)}
    in_data = {p.rule for file in INVALID for p in examine(file)[1]}

    assert in_source == in_data | TESTED_BY_NAME
    assert not in_data & TESTED_BY_NAME


@pytest.mark.parametrize(
    ("text", "line", "hint"),
    [
        ("langauge: en", "1:1: error [unknown-key] unknown key 'langauge' in a file", "did you mean `language`?"),
        (
            "xyz: x",
            "1:1: error [unknown-key] unknown key 'xyz' in a file",
            "known keys: version, language, include, settings, languages, rules, slots, intents, questions, tests",
        ),
        (
            "settings: {zzz: 1}",
            "1:12: error [setting] unknown setting 'zzz': known are aggregation, allow, band,",
            None,
        ),
        (
            "settings: {treshold: 1}",
            "1:12: error [setting] unknown setting 'treshold': did you mean 'threshold'?",
            None,
        ),
        (
            "settings: {threshold: 120%}",
            "1:12: error [setting] setting 'threshold' cannot be '120%': it must be a number from 0 to 1 (on the "
            "score) or a percentage from 0% to 100% (on the confidence)",
            None,
        ),
        (
            "settings:\n  threshold:\n    de: x%",
            "2:3: error [setting] setting 'threshold' cannot be",
            None,
        ),
        (
            "intents:\n  a:\n    utterances: [hi]\n    threshold: 120%",
            "4:16: error [threshold] invalid threshold '120%': it must be a number from 0 to 1 (on the score) or a "
            "percentage from 0% to 100% (on the confidence)",
            None,
        ),
        (
            "intents:\n  a:\n    utterances: [hi]\n    threshold: x%",
            "4:16: error [threshold] invalid threshold 'x%'",
            None,
        ),
        ("settings: {margin: 2}", "1:12: error [setting] setting 'margin' cannot be '2': it must be a number", None),
        (
            "settings:\n  spelling: {en: {g r: great}}",
            "2:3: error [setting] setting 'spelling' cannot be {'en': {'g r': 'great'}}: 'g r' is not one word",
            None,
        ),
        (
            "settings:\n  spelling: {en: {gr8: [great]}}",
            "2:3: error [setting] setting 'spelling' cannot be {'en': {'gr8': ''}}: 'gr8' must stand for words, not ''",
            None,
        ),
        ("settings: {fallback: [[x]]}", "1:12: error [setting] setting 'fallback' cannot be ['']: it must be", None),
        ("settings: {top_k: [3]}", "1:19: error [wrong-type] `top_k` must be text", "write the text after the colon"),
        (
            "version: 9",
            "1:10: error [version] unsupported grammar version '9'",
            "write `version: 1`, or upgrade intentmatch",
        ),
        ("language: pt_br", "1:11: error [language-code] 'pt_br' is not a language code", "write pt-BR"),
        (
            "language: x",
            "1:11: error [language-code] 'x' is not a language code",
            "use a BCP-47 code such as en, pt-BR or zh-Hant",
        ),
        (
            "intents: {}\nintents: {}",
            "2:1: error [duplicate-key] duplicate key 'intents' in a file",
            "the first one is on line 1; merge the two or rename one",
        ),
        (
            "intents: {a: {utterances: [hi], not: x}}",
            "1:38: error [wrong-type] `not` must be a list",
            "start each line with `- `",
        ),
        (
            "intents: {a: {utterances: [hi, [x]]}}",
            "1:32: error [wrong-type] an utterance must be text",
            'put the whole line in double quotes: ": ", and [ or { at its start, have a meaning in YAML',
        ),
        (
            "intents: {a: {utterances: [hi, Hi!]}}",
            "1:32: warning [duplicate-utterance] “Hi!” is already at bot.yaml:1",
            "remove one of the two",
        ),
        (
            "intents: {a: {}}",
            "1:11: error [no-utterances] intent 'a' has no utterances",
            "list example messages below `utterances:`",
        ),
    ],
)
def test_problem_shows_place_rule_message_and_hint(tmp_path: Path, monkeypatch, text, line, hint):
    monkeypatch.chdir(in_file(tmp_path, text).parent)

    _, problems = examine("bot.yaml")

    shown = str(problems[0]).splitlines()
    assert shown[0].startswith(f"bot.yaml:{line}")
    assert shown[1:] == ([] if hint is None else [f"  hint: {hint}"])


def test_registry_from_code_is_checked_without_locations():
    found = check(
        Registry((Intent("a", (Utterance("hi"),)), Intent("b", (Utterance("Hi!"), Utterance("?"))), Intent("c", ())))
    )

    assert [(str(problem.location), problem.rule) for problem in found] == [
        ("registry:1:1", "conflicting-utterance"),
        ("registry:1:1", "empty-utterance"),
        ("registry:1:1", "no-utterances"),
    ]


PIECES = st.lists(
    st.one_of(
        st.sampled_from(["intents:", "settings:", "language:", "version:", "utterances:", "not:", "en:", "a:", "b:"]),
        st.sampled_from(
            ["threshold:", "metadata:", "response:", "title:", "hi", "de", "1", "0.5", "1e9", "é", "注", "😀"]
        ),
        st.sampled_from([*"[]{},-?:&*!|>'\"#%@`=~", "&a", "*a", "&b", "*b", "!!int", "---", "...", "<<", "null", ": "]),
        st.sampled_from(["\n", "\n  ", "\n    ", "\n      - ", "\r\n", " ", "\t"]),
        st.sampled_from(["\0", "\x85", "\u2028", "\ufeff", "\ufffe"]),
    ),
    max_size=60,
).map("".join)


def check_only_problems(file: Path) -> None:
    found, problems = examine(file)

    assert problems == sorted(problems)
    assert all(problem.location.line >= 1 and problem.location.column >= 1 for problem in problems)
    if any(problem.severity == "error" for problem in problems):
        with pytest.raises(RegistryError):
            read_registry(file)
    else:
        assert len(found) > 0
        assert read_registry(file) == found


@given(text=st.text() | PIECES)
@example(text="ääää\0")
@example(text="intents: {a: {utterances: [hi], metadata: {x: &x {y: *x}}}}")
def test_any_text_gives_a_registry_or_problems(tmp_path_factory, text):
    check_only_problems(in_file(tmp_path_factory.getbasetemp(), text, "fuzz-text.yaml"))


@given(raw=st.binary() | PIECES.map(lambda text: text.encode("utf-16")))
@example(raw=b"\xef\xbb\xbf\xef\xbb\xbf")
def test_any_bytes_give_a_registry_or_problems(tmp_path_factory, raw):
    check_only_problems(in_file(tmp_path_factory.getbasetemp(), raw, "fuzz-bytes.yaml"))


@given(texts=st.lists(st.text(st.characters(codec="utf-8")), min_size=1, max_size=5))
def test_quoted_text_is_read_back_exactly(tmp_path_factory, texts):
    def quoted(text: str) -> str:
        return '"' + "".join(f"\\U{ord(character):08X}" for character in text) + '"'

    lines = [quoted(escape(text)) for text in texts]
    text = f"intents: {{a: {{utterances: [{', '.join(lines)}], not: [{lines[0]}], title: {quoted(texts[0])}}}}}"

    found, _ = examine(in_file(tmp_path_factory.getbasetemp(), text, "fuzz-quoted.yaml"))

    assert [u.text for u in found["a"].utterances] == texts
    assert [u.text for u in found["a"].negatives] == texts[:1]
    assert found["a"].title == texts[0]
