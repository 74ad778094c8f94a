"""Tests for Padatious: templates, value lists and languages from folders."""

from __future__ import annotations

import pytest
from contracts.format import Subject, bare, contract, read_files

from intentmatch import formats
from intentmatch.core.types import Intent, Registry, SlotValue, Utterance
from intentmatch.formats.padatious import FORMAT

FILES = {
    "skill/locale/en-us/weather.intent": "# asked\n(what is|how is) the weather [like] in {city}\n\nrain; or <3?\n",
    "skill/locale/en-us/city.entity": "Berlin\n(New York|Big Apple)\n",
    "skill/locale/de-de/weather.intent": "wie ist das Wetter in {{city}}\n",
}
SUBJECTS = [Subject(FORMAT, FILES)]
test_obeys_contract = contract(*SUBJECTS)


def test_line_becomes_template_in_language_of_its_folder(tmp_path):
    """Comments and empty lines are ignored."""
    found = read_files(tmp_path, FILES).registry

    assert [(line.text, line.language) for line in found["weather"].utterances] == [
        ("wie ist das Wetter in {city}", "de-DE"),
        ("(what is|how is) the weather [like] in {city}", "en-US"),
        ("rain; or <3?", "en-US"),
    ]
    assert [line.location.line for line in found["weather"].utterances] == [1, 2, 4]


def test_folder_below_locale_names_the_language(tmp_path, monkeypatch):
    """From deeper folders, and in whichever folder the import begins; not a folder that is named like a language."""
    found = read_files(tmp_path, {"locale/en-us/skills/it/hi.intent": "hi, you\n"}).registry
    monkeypatch.chdir(tmp_path / "locale" / "en-us" / "skills")

    assert [(line.text, line.language) for line in found["hi"].utterances] == [("hi, you", "en-US")]
    assert formats.read("it/hi.intent").registry.languages == ("en-US",)
    assert formats.read(".").registry.languages == ("en-US",)


@pytest.mark.parametrize("language", ["fr", "zh-Hant", "sr-Latn-RS", "fil-PH"])
def test_exported_language_comes_back(tmp_path, language):
    registry = Registry((Intent("hi", (Utterance("hello", language),)),))

    formats.write(registry, "padatious", tmp_path / "out")

    assert [line.language for line in formats.read(tmp_path / "out").registry.utterances] == [language]


def test_export_keeps_punctuation_as_it_is(tmp_path):
    formats.write(Registry((Intent("hi", (Utterance("hello, who are you?", "en"),)),)), "padatious", tmp_path)

    assert (tmp_path / "en" / "hi.intent").read_text(encoding="utf-8") == "hello, who are you?\n"


def test_entity_file_becomes_list_and_missing_file_any_text(tmp_path):
    found = read_files(tmp_path, {**FILES, "skill/locale/en-us/say.intent": "say {words}\n"}).registry

    assert {slot.name: (slot.kind, slot.values) for slot in found.slots} == {
        "city": ("list", (SlotValue("Berlin"), SlotValue("New York"), SlotValue("Big Apple"))),
        "words": ("any", ()),
    }


@pytest.mark.parametrize("folder", ["", "locale/", "my-skill/", "bot/"])
def test_other_folder_names_give_no_language(tmp_path, folder):
    found = read_files(tmp_path, {f"{folder}hi.intent": "hi\n"}).registry

    assert [line.language for line in found["hi"].utterances] == [None]


def test_line_with_unmatched_bracket_is_skipped(tmp_path):
    found = read_files(tmp_path, {"en/hi.intent": "hi (there\nhello\n"})

    assert [line.text for line in found.registry["hi"].utterances] == ["hello"]
    assert [(p.rule, p.location.line) for p in found.problems] == [("bad-template", 1)]


@pytest.mark.parametrize("text", ["a (b)", "# no", "two\nlines", "[x]", "{y}"])
def test_text_that_cannot_be_escaped_is_reported(tmp_path, text):
    problems = formats.write(Registry((Intent("a", (Utterance(text),)),)), "padatious", tmp_path)

    assert [problem.message for problem in problems] == [
        f"“{text}” will be read differently: this format has no way to escape it"
    ]


def test_file_names_are_safe_and_unique(tmp_path):
    names = ["../x", "A", "a", "a/b", "a:b"]
    registry = Registry(tuple(Intent(name, (Utterance(f"line {n}", "en"),)) for n, name in enumerate(names)))
    problems = formats.write(registry, "padatious", tmp_path / "out")
    written = sorted(file.relative_to(tmp_path).as_posix() for file in tmp_path.rglob("*.intent"))

    assert written == [f"out/en/{name}.intent" for name in ("A", "_x", "a_", "a_b", "a_b_")]
    assert len(problems) == 4
    assert sorted(line.text for line in bare(formats.read(tmp_path).registry).utterances) == [
        f"line {number}" for number in range(5)
    ]
