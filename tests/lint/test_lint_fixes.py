"""Fixes remove only what changes no answer."""

from __future__ import annotations

from pathlib import Path

import pytest

from intentmatch.lint import CATALOGUE, FIXABLE, fixes
from intentmatch.registry import examine
from intentmatch.registry.editing.plan import plan


def fixed(folder: Path, **texts: str) -> dict[str, str]:
    """Return the new texts of the files that are fixed."""
    for name, text in texts.items():
        (folder / f"{name}.yaml").write_text(text, encoding="utf-8")
    registry, problems = examine(folder)
    return {change.path.stem: change.new for change in plan(folder, fixes(problems, registry)).files}


def test_later_duplicates_of_an_intent_go(tmp_path: Path):
    """In all files; the same line in another language is no duplicate."""
    found = fixed(
        tmp_path,
        a="intents:\n  a:\n    utterances:\n      en: [ok, fine, OK!]\n      de: [ok, gut]\n",
        b="intents:\n  a: {utterances: {en: [fine?, great]}}\n  b: {utterances: {en: [other, Other]}}\n",
    )

    assert found == {
        "a": "intents:\n  a:\n    utterances:\n      en: [ok, fine]\n      de: [ok, gut]\n",
        "b": "intents:\n  a: {utterances: {en: [great]}}\n  b: {utterances: {en: [other]}}\n",
    }


def test_second_meaning_of_a_word_goes(tmp_path: Path):
    """The first one is used anyway."""
    text = "slots:\n  c: {values: {Munich: [Monaco], Rome: [Roma, Monaco]}}\nintents: {a: {utterances: ['to {c}']}}\n"

    assert fixed(tmp_path, a=text)["a"] == text.replace("[Roma, Monaco]", "[Roma]")


def test_template_stays_but_its_plain_twin_goes(tmp_path: Path):
    text = (
        "intents:\n  a: {utterances: ['(hi|hey) there', hi there]}\n  b: {utterances: [good day, 'good (day|bye)']}\n"
    )

    assert fixed(tmp_path, a=text)["a"] == text.replace(", hi there]", "]")


@pytest.mark.parametrize(
    "text",
    [
        "intents: {a: {utterances: [one, two]}, b: {utterances: [Two]}}",
        "intents: {a: {utterances: [one], not: [One]}}",
        "intents: {a: {utterances: [one, '?']}}",
        "intents:\n  a:\n    utterances:\n      - one\n      - One  # said by Anna\n",
    ],
    ids=["conflict", "contradiction", "empty", "comment"],
)
def test_what_needs_a_decision_stays(tmp_path: Path, text):
    assert fixed(tmp_path, a=text) == {}


def test_no_fixable_problem_gives_no_edit(tmp_path: Path):
    registry, problems = examine(tmp_path)

    assert fixes(problems, registry) == []


def test_sentences_stay_the_same(tmp_path: Path):
    text = "intents:\n  a:\n    utterances: [one, 'two (x|y)', One!, two x, three, THREE, 'two [x]']\n"
    (tmp_path / "a.yaml").write_text(text, encoding="utf-8")
    before, problems = examine(tmp_path)

    changes = plan(tmp_path, fixes(problems, before))

    assert set(changes.registry.folded) == set(before.folded)
    assert len(changes.registry.utterances) < len(before.utterances)


def test_fixable_rules_exist():
    assert set(CATALOGUE) >= FIXABLE
