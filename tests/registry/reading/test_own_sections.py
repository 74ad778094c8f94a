"""`languages:` in the YAML: read from one or several files, kept in every form of a registry."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from intentmatch import Matcher, Registry, RegistryError, save_artefact
from intentmatch.formats import render
from intentmatch.registry import examine, read_registry
from intentmatch.registry.reading.json_form import from_plain, to_plain

INTENTS = """language: en
intents:
  pay:
    slots: {sum: {type: money}}
    utterances: ["pay it", "send {sum}"]
"""
WORDS = "languages:\n  en:\n    currencies: {bob: GBP}\n    months: jan feb mar apr may jun jul aug sep oct nov dec\n"
OWN = {
    "en": {
        "currencies": {"bob": "GBP"},
        "months": "jan feb mar apr may jun jul aug sep oct nov dec",
        "replaces": ["months"],
    }
}


def registry_in(folder: Path, **files: str) -> Registry:
    for name, text in files.items():
        (folder / f"{name}.yaml").write_text(text, encoding="utf-8")
    return read_registry(folder)


def test_a_file_beside_the_intents_has_the_words_of_the_bot(tmp_path):
    registry = registry_in(tmp_path, intents=INTENTS, words=WORDS + "    replaces: months\n")

    assert registry.own_sections == OWN


def test_two_files_may_have_sections_of_one_language_but_no_section_twice(tmp_path):
    more = "languages:\n  en: {degrees: gradus}\n"

    registry = registry_in(tmp_path, intents=INTENTS, words=WORDS, more=more)
    assert set(registry.own_sections["en"]) == {"currencies", "months", "degrees"}

    with pytest.raises(RegistryError) as raised:
        registry_in(tmp_path, again=more)
    assert str(raised.value).splitlines() == [
        f"{tmp_path}/more.yaml:2:8: error [language-section] the section 'degrees' of 'en' is given twice",
        f"  hint: the first one is at {tmp_path}/again.yaml:2; keep one of the two",
    ]


def test_sections_of_a_language_have_a_limit_whatever_files_they_are_in(tmp_path):
    """Their patterns are compiled by the server of many bots, which keeps some of them."""
    words, more = (
        f"languages:\n  en: {{{section}: {' '.join(f'{section}{number}' for number in range(900))}}}\n"
        for section in ("stop_words", "or_words")
    )
    registry_in(tmp_path, intents=INTENTS, words=words)

    with pytest.raises(RegistryError) as raised:
        registry_in(tmp_path, zmore=more)
    assert str(raised.value).splitlines() == [
        f"{tmp_path}/zmore.yaml:2:8: error [language-section] the sections of 'en' have more than 20,000 characters",
        "  hint: values of a list belong below `slots:`, and formats into a `pattern` of a slot",
    ]


def test_written_codes_of_norwegian_are_one_language(tmp_path):
    registry = registry_in(tmp_path, intents=INTENTS, words="languages:\n  nb: {degrees: gradus}\n")

    assert list(registry.own_sections) == ["no"]


def test_every_form_of_a_registry_keeps_the_words(tmp_path):
    registry = registry_in(tmp_path, intents=INTENTS, words=WORDS + "    replaces: [months]\n")

    assert from_plain(json.loads(json.dumps(to_plain(registry)))).own_sections == OWN
    files, problems = render(registry, "intentmatch")
    assert problems == []
    (tmp_path / "written").mkdir()
    written = registry_in(tmp_path / "written", **{Path(name).stem: text for name, text in files.items()})
    assert written.own_sections == OWN


def test_another_format_says_that_it_leaves_the_words_out(tmp_path):
    registry = registry_in(tmp_path, intents=INTENTS, words=WORDS)

    _, problems = render(registry, "rasa")

    assert any("cannot express words of the language 'en' (currencies, months)" in str(one) for one in problems)


def test_a_stored_section_that_was_tampered_with_is_refused(tmp_path):
    plain = to_plain(registry_in(tmp_path, intents=INTENTS, words=WORDS))
    plain["own_sections"] = {"en": {"ordinals": {"suffix": "(a+)+$"}}}

    with pytest.raises(ValueError, match="a bot cannot set regular expressions"):
        from_plain(plain)


def test_a_matcher_reads_the_words_and_keeps_them_in_its_artefact(tmp_path):
    registry_in(tmp_path, intents=INTENTS, words=WORDS)
    matcher = Matcher.load(tmp_path)
    save_artefact(matcher.artefact, tmp_path / "bot.intentmatch")

    for one in (matcher, Matcher.load(tmp_path / "bot.intentmatch")):
        assert one.match("send 20 bob").entities[0].value == {"amount": 20, "currency": "GBP"}


def test_words_of_a_file_that_is_invalid_are_reported_where_they_stand(tmp_path):
    (tmp_path / "bot.yaml").write_text(INTENTS + "languages:\n  en:\n    days: {tmrw: one}\n", encoding="utf-8")

    _, problems = examine(tmp_path / "bot.yaml")

    assert [str(problem).splitlines() for problem in problems] == [
        [
            f"{tmp_path}/bot.yaml:8:18: error [language-section] days: expected a number, found 'one'",
            "  hint: see `intentmatch guide languages`",
        ]
    ]
