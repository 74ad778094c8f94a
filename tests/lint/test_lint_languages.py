"""Rules about languages: lines under the wrong language, and missing languages."""

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
    texts = [(text, code, [1.0, 0.0]) for code, group in TEXTS.items() for text in group]
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
def test_line_under_the_wrong_language_is_reported_at_its_place(text, declared, expected):
    """Words and characters, or the script, must favour the other language; a borrowed word is not enough."""
    problems = list(other_language(written(b=(text, declared))))

    assert [(p.location.line, p.location.column, p.rule) for p in problems] == (
        [] if expected is None else [(201, 7, "other-language")]
    )
    assert all(f"reads like {expected}, but is declared as {declared}" in p.message for p in problems)


def test_regions_and_undeclared_languages_are_not_reported():
    """`en-GB` is not another language than `en`."""
    british = [(text, "en-GB", [1.0]) for text in TEXTS["en"]]
    english = [(text, "en", [1.0]) for text in TEXTS["en"]]
    silent = [(text, None, [1.0]) for text in TEXTS["de"]]

    assert list(other_language(subject({"a": british, "b": english, "c": silent}))) == []


def test_registry_with_one_language_has_no_wrong_language():
    assert list(other_language(subject({"a": [("где мой заказ", "en", [1.0]), ("hello", "en", [1.0])]}))) == []


def test_shipped_lines_give_no_false_alarm():
    """About 3,000 lines in 15 languages."""
    assert list(other_language(without_vectors(ordered(read_registry(SHIPPED))))) == []


def test_60_percent_of_randomly_changed_languages_are_found():
    """No other line is reported."""
    registry = ordered(read_registry(SHIPPED))
    chance = random.Random(0)
    changed: list[Utterance] = []

    def maybe_changed(line: Utterance) -> Utterance:
        if chance.random() >= 0.02:
            return line
        changed.append(replace(line, language=chance.choice([c for c in registry.languages if c != line.language])))
        return changed[-1]

    intents = tuple(Intent(i.name, tuple(map(maybe_changed, i.utterances)), location=i.location) for i in registry)
    found = {problem.location for problem in other_language(without_vectors(Registry(intents)))}

    assert found <= {line.location for line in changed}
    assert len(found) >= 0.6 * len(changed)


def test_missing_languages_of_an_intent_are_one_problem():
    """The place is that of the intent."""
    both = [("hello", "en", [1.0]), ("hallo", "de", [1.0]), ("salut", "fr", [1.0])]
    about = subject({"a": both, "b": both, "c": both[:1], "d": [("ciao", "it", [1.0]), *both]})

    (problem,) = missing_language(about)

    assert (problem.location.line, problem.location.column) == (300, 3)
    assert "'c' has no utterances in de, fr;" in problem.message


def test_language_of_half_the_intents_is_not_missing():
    """Intents with undeclared lines, or without lines, miss no language."""
    english, german = ("hello", "en", [1.0]), ("hallo", "de", [1.0])

    assert list(missing_language(subject({"a": [english, german], "b": [english]}))) == []
    assert list(missing_language(subject({"a": [english], "b": [english], "c": [("hi", None, [1.0])]}))) == []
    assert list(missing_language(without_vectors(Registry((Intent("a", ()),))))) == []


def test_coverage_counts_lines_per_intent_and_language():
    """The intents are in the author's order; undeclared lines count under ""."""
    registry = Registry(
        (
            Intent("b", (Utterance("hi", "en"), Utterance("ho", "en"), Utterance("hallo", "de"))),
            Intent("a", (Utterance("?"),)),
        )
    )

    assert list(coverage(registry).items()) == [("b", {"de": 1, "en": 2, "": 0}), ("a", {"de": 0, "en": 0, "": 1})]
    assert coverage(Registry(())) == {}
