"""Lines under the wrong language, and languages that are missing."""

from __future__ import annotations

import random
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from subjects import subject

from intentmatch.core.types import Intent, Registry, Utterance
from intentmatch.lint.languages import coverage, missing_language, other_language
from intentmatch.lint.subject import Subject, ordered
from intentmatch.registry import read_registry

SHIPPED = Path(__file__).parents[2] / "intents"

TEXTS = {
    "en": ["where is my order", "when will my parcel arrive", "cancel the order please", "I want my parcel",
           "where can I find the parcel", "please send the order"],
    "de": ["wo ist meine Bestellung", "wann kommt mein Paket an", "bitte die Bestellung stornieren", "mein Paket bitte",
           "wann kommt die Bestellung", "kommt mein Paket"],
    "ru": ["где мой заказ", "когда придёт посылка", "отмените заказ пожалуйста", "верните мои деньги"],
}  # fmt: skip


def written(**more: tuple[str, str]):
    """One intent with all texts, and one for each further (text, declared language)."""
    texts = [(text, code, [1.0, 0.0]) for code, some in TEXTS.items() for text in some]
    return subject({"a": texts, **{name: [(*line, [0.0, 1.0])] for name, line in more.items()}})


def without_vectors(registry: Registry) -> Subject:
    return Subject(registry, np.zeros((len(registry.utterances), 2), dtype=np.float32), "mean2")


@pytest.mark.parametrize(
    ("text", "declared", "expected"),
    [
        ("where is my parcel please", "de", "en"),
        ("wann kommt die Bestellung bitte", "en", "de"),
        ("отмените мой заказ", "en", "ru"),
        ("cancel my order", "ru", "en"),
        ("where is my parcel please", "en", None),
        ("order", "de", None),
        ("OK", "de", None),
        ("12345", "de", None),
        ("wo ist mein order", "de", None),
        ("?!", "de", None),
        ("你好", "de", None),
    ],
)
def test_a_line_under_the_wrong_language_is_found_at_its_place(text, declared, expected):
    """Words and characters, or the script, must all speak for the other language; a borrowed word does not."""
    problems = list(other_language(written(b=(text, declared))))

    assert [(p.location.line, p.location.column, p.rule) for p in problems] == (
        [] if expected is None else [(201, 7, "other-language")]
    )
    assert all(f"reads like {expected}, and stands under {declared}" in p.message for p in problems)


def test_regions_of_one_language_are_not_told_apart():
    """`en-GB` is no other language than `en`; nor is anything said of lines that declare none."""
    british = [(text, "en-GB", [1.0]) for text in TEXTS["en"]]
    english = [(text, "en", [1.0]) for text in TEXTS["en"]]
    silent = [(text, None, [1.0]) for text in TEXTS["de"]]

    assert list(other_language(subject({"a": british, "b": english, "c": silent}))) == []


def test_one_language_is_never_another():
    """With a single language there is nothing to take a line for."""
    assert list(other_language(subject({"a": [("где мой заказ", "en", [1.0]), ("hello", "en", [1.0])]}))) == []


def test_the_shipped_lines_are_in_the_languages_they_say():
    """No false alarm among three thousand lines in fifteen languages."""
    assert list(other_language(without_vectors(ordered(read_registry(SHIPPED))))) == []


def test_most_changed_languages_are_found_in_the_shipped_lines():
    """Of lines whose language is changed at random, three in five are found, and no other line is reported."""
    registry = ordered(read_registry(SHIPPED))
    chosen = random.Random(0)
    changed: list[Utterance] = []

    def perhaps(line: Utterance) -> Utterance:
        if chosen.random() >= 0.02:
            return line
        changed.append(replace(line, language=chosen.choice([c for c in registry.languages if c != line.language])))
        return changed[-1]

    intents = tuple(Intent(i.name, tuple(map(perhaps, i.utterances)), location=i.location) for i in registry)
    found = {problem.location for problem in other_language(without_vectors(Registry(intents)))}

    assert found <= {line.location for line in changed}
    assert len(found) >= 0.6 * len(changed)


def test_a_language_that_most_intents_have_is_missed_in_the_rest():
    """All languages that an intent lacks stand in one problem, at the intent."""
    both = [("hello", "en", [1.0]), ("hallo", "de", [1.0]), ("salut", "fr", [1.0])]
    about = subject({"a": both, "b": both, "c": both[:1], "d": [("ciao", "it", [1.0]), *both]})

    (problem,) = missing_language(about)

    assert (problem.location.line, problem.location.column) == (300, 3)
    assert "'c' has no utterances in de, fr;" in problem.message


def test_a_language_of_half_the_intents_is_not_missed():
    """Nor does an intent lack any that has lines without a language, or no lines at all."""
    english, german = ("hello", "en", [1.0]), ("hallo", "de", [1.0])

    assert list(missing_language(subject({"a": [english, german], "b": [english]}))) == []
    assert list(missing_language(subject({"a": [english], "b": [english], "c": [("hi", None, [1.0])]}))) == []
    assert list(missing_language(without_vectors(Registry((Intent("a", ()),))))) == []


def test_coverage_counts_each_intent_in_each_language():
    """In the order of the author's intents; lines without a language have a column of their own."""
    registry = Registry(
        (
            Intent("b", (Utterance("hi", "en"), Utterance("ho", "en"), Utterance("hallo", "de"))),
            Intent("a", (Utterance("?"),)),
        )
    )

    assert list(coverage(registry).items()) == [("b", {"de": 1, "en": 2, "": 0}), ("a", {"de": 0, "en": 0, "": 1})]
    assert coverage(Registry(())) == {}
