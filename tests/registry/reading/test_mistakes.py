"""Mistakes that authors make: each file of `mistakes/` has beside it exactly what `validate` prints about it."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from registry_files import in_file

from intentmatch.cli.commands import cli
from intentmatch.core.errors import Problem
from intentmatch.languages.country_codes import LANGUAGE_OF, language_named
from intentmatch.languages.tables import Table
from intentmatch.registry import examine
from intentmatch.text.normalize import language_code

MISTAKES = sorted((Path(__file__).parents[1] / "mistakes").glob("*.yaml"))
COUNTRIES = {
    "jp": "ja", "cn": "zh", "gr": "el", "cz": "cs", "dk": "da", "se": "sv", "kr": "ko", "ua": "uk", "sp": "es",
    "vn": "vi",
}  # fmt: skip


def validate(*words: str) -> Result:
    return CliRunner().invoke(cli, ["validate", *words], catch_exceptions=False)


def problems_of(folder: Path, text: str) -> list[Problem]:
    return examine(in_file(folder, text))[1]


@pytest.mark.parametrize("file", MISTAKES, ids=lambda file: file.stem)
def test_mistake_gives_one_problem_with_cause_place_and_advice(file: Path, monkeypatch):
    """The place is underlined in the source line; nothing else is reported."""
    monkeypatch.chdir(file.parent)

    done = validate(file.name, "--format", "full")

    *shown, count = done.stdout.split("\n\n")
    assert "\n\n".join(shown) + "\n" == file.with_suffix(".txt").read_text(encoding="utf-8")
    assert count.splitlines()[1] in ("1 error, 0 warnings", "0 errors, 1 warning")


def test_there_are_mistakes_of_all_kinds():
    assert len(MISTAKES) >= 80


@pytest.mark.parametrize("file", MISTAKES, ids=lambda file: file.stem)
def test_json_of_a_mistake_keeps_its_form(file: Path):
    done = validate(str(file), "--format", "json")

    line = file.with_suffix(".txt").read_text(encoding="utf-8").partition("\n")[0]
    _, number, column, rest = line.split(":", 3)
    assert f'"line": {number}, "column": {column}, "severity": "{rest.split()[0]}"' in done.stdout


@pytest.mark.parametrize(("country", "language"), COUNTRIES.items())
def test_country_code_names_its_language(tmp_path: Path, country, language):
    found = problems_of(tmp_path, f"intents: {{a: {{utterances: {{{country}: [hi]}}}}}}")

    assert [(p.rule, p.severity, p.hint) for p in found] == [("country-code", "warning", f"did you mean `{language}`?")]


def test_country_codes_are_well_formed_and_no_other_country_names_their_language_twice():
    assert all(language_code(code) == code for pair in LANGUAGE_OF.items() for code in pair)
    assert not set(LANGUAGE_OF) & set(LANGUAGE_OF.values())


def test_names_of_languages_are_no_codes_and_name_one():
    names = Table[str]("names")
    named = [(name, code) for code, known in names.items() for name in known.split()]

    assert all(language_code(code) == code for code in names)
    assert {name: language_named(name.title()) for name, _ in named} == dict(named)
    assert not {name for name, _ in named} & set(names)


def test_slot_that_resembles_one_of_the_file_gets_its_name(tmp_path: Path):
    text = "slots: {size: {values: [big]}}\nintents: {a: {slots: {siez: {required: true}}, utterances: ['{size} x']}}"

    found = problems_of(tmp_path, text)

    assert [(p.rule, p.hint) for p in found] == [("unknown-slot", "did you mean `size`?")]


def test_language_of_three_letters_that_is_a_key_stays_a_language(tmp_path: Path):
    """`not` is a key and could be a code."""
    found = problems_of(tmp_path, "intents: {a: {utterances: {en: [hi], not: [ho]}}}")

    assert "wrong-indentation" not in [p.rule for p in found]


@pytest.mark.parametrize("code", ["ja", "zh-Hant", "pt-BR", "en-GB", "uk", "br", "sl", "de-AT"])
def test_language_codes_are_not_mistaken_for_countries(tmp_path: Path, code):
    assert problems_of(tmp_path, f"intents: {{a: {{utterances: {{{code}: [hi]}}}}}}") == []


def test_all_syntax_errors_of_a_file_are_reported_at_once(tmp_path: Path):
    text = (
        "intents:\n  a:\n    utterances:\n      - {city} x\n\t  - x\n      - @home\n      hi there\n    title: a: b\n"
    )

    found = problems_of(tmp_path, text)

    assert [f"{p.location.line}:{p.location.column} {p.message}" for p in found] == [
        "4:9 a text that begins with `{` is a mapping in YAML",
        "5:1 a tab indents this line; YAML allows only spaces",
        "6:9 YAML reserves `@` at the start of a text",
        "7:7 the dash of this line is missing",
        "8:13 a colon and a space make a key of the text before them",
    ]


def test_misspelt_utterances_are_read_all_the_same(tmp_path: Path):
    """So that their own mistakes are found in the same run."""
    found = problems_of(tmp_path, "intents: {a: {utterences: [hi, hi]}, b: {exmaples: [x], utterances: [hi]}}")

    assert [p.rule for p in found] == [
        "unknown-key", "duplicate-utterance", "unknown-key", "conflicting-utterance",
    ]  # fmt: skip


def test_misspelt_key_beside_the_right_one_is_not_read(tmp_path: Path):
    registry, found = examine(in_file(tmp_path, "intents: {a: {utterances: [hi], utterences: [ho]}}"))

    assert [p.rule for p in found] == ["unknown-key"]
    assert [line.text for line in registry.utterances] == ["hi"]


def test_unknown_key_of_another_shape_is_not_read_as_the_similar_one(tmp_path: Path):
    """`note` resembles `not`, but a text is no list."""
    found = problems_of(tmp_path, "intents: {a: {note: for my colleagues, utterances: [hi]}}")

    assert [(p.rule, p.hint) for p in found] == [("unknown-key", "did you mean `not`?")]


@pytest.mark.parametrize(
    ("text", "hint"),
    [("test: [{text: hi, intent: a}]", "did you mean `tests`?"), ("includes: [x]", "did you mean `include`?")],
)
def test_list_under_a_misspelt_key_of_a_file_is_not_taken_for_an_intent(tmp_path: Path, text, hint):
    found = problems_of(tmp_path, f"intents: {{a: {{utterances: [hi]}}}}\n{text}\n")

    assert [p.hint for p in found if p.rule == "unknown-key"] == [hint]


def test_misspelt_answers_of_a_question_are_answers(tmp_path: Path):
    text = "intents: {a: {utterances: [hi]}}\nquestions: {urgent: {answer: {yes: [now], no: [later]}}}"

    assert [p.hint for p in problems_of(tmp_path, text) if p.rule == "unknown-key"] == ["did you mean `answers`?"]


def test_intents_at_the_top_level_are_read_all_the_same(tmp_path: Path):
    registry, found = examine(
        in_file(tmp_path, "a: {utterances: [hi]}\nb: {utterances: [hi]}\ntests: [{text: hi, intent: b}]")
    )

    assert [p.rule for p in found] == ["wrong-indentation", "conflicting-utterance"]
    assert [intent.name for intent in registry] == ["a", "b"]


def test_languages_beside_two_keys_are_two_problems(tmp_path: Path):
    text = "intents:\n  a:\n    response:\n    en: Hi\n    utterances:\n    en: [hi]\n    de: [hallo]\n"

    registry, found = examine(in_file(tmp_path, text))

    assert [p.hint for p in found] == [
        "`en` belongs two columns further right, below `response`",
        "`en` belongs two columns further right, below `utterances`",
    ]
    assert registry["a"].responses == {"en": "Hi"}
    assert registry.languages == ("de", "en")


def test_intent_named_like_a_key_is_an_intent(tmp_path: Path):
    registry, found = examine(
        in_file(tmp_path, "intents: {a: {utterances: [x]}, when: {utterances: [y]}, not: {utterances: [z]}}")
    )

    assert (found, [intent.name for intent in registry]) == ([], ["a", "when", "not"])


@pytest.mark.parametrize("name", ["static", "remote", "onnx:model", "sentence_transformer:bert", "static:some/model"])
def test_validate_accepts_known_encoders(tmp_path: Path, name):
    file = in_file(tmp_path, f"settings: {{encoder: '{name}'}}\nintents: {{a: {{utterances: [x]}}}}")

    assert validate(str(file)).exit_code == 0


def test_misspelt_encoder_gets_the_nearest_name(tmp_path: Path):
    done = validate(str(in_file(tmp_path, "settings: {encoder: statik}\nintents: {a: {utterances: [x]}}")))

    assert (done.exit_code, "hint: did you mean `static`?" in done.stdout) == (2, True)
