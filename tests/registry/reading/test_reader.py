"""The reader: values and positions of valid files, and problems of invalid files."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import yaml
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
PROBLEMS = yaml.safe_load(Path(__file__).with_name("problems.yaml").read_text(encoding="utf-8"))


# Rules that one text file cannot break; each has a test of its own in this folder.
MULTI_FILE_RULES = {"question-redefined", "setting-redefined", "slot-redefined", "ambiguous-slot", "ambiguous-rule"}
TESTED_BY_NAME = {"unreadable", "empty-file", "no-files", "encoding", "missing-extra", *MULTI_FILE_RULES}


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
    ("text", "line", "hint"), [(case["text"], case["problem"], case.get("hint")) for case in PROBLEMS]
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
