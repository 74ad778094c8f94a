"""When a misplaced line may be moved to the intent that it is nearer to."""

from __future__ import annotations

from dataclasses import replace

import pytest
from lint.subjects import Line, around, subject

from intentmatch.lint.moving import may_move, word_count
from intentmatch.lint.rules import misplaced_utterance
from intentmatch.lint.subject import Subject

A, B = [10.0, 0.0, 0.0], [0.0, 10.0, 0.0]
TEXT = "drop my order please"


def group(name: str, centre: list[float], language: str = "en", seed: int = 0) -> list[Line]:
    return [(f"{name} {language} {n}", language, at) for n, at in enumerate(around(centre, 5, 0.5, seed))]


def strayed(*, text: str = TEXT, more_a: list[Line] = (), more_b: list[Line] = (), at: list[float] = B) -> Subject:
    """A line of `a` lies among those of `b`; it is row 5."""
    return subject(
        {
            "a": [*group("a", A), (text, "en", [0.5, *at[1:]]), *more_a],
            "b": [*group("b", B, seed=1), *more_b],
        }
    ).per_line


def test_line_among_those_of_another_intent_may_move():
    assert may_move(strayed(), 5)


@pytest.mark.parametrize("text", ["tabii ki", "yes", "أيوه", "うん", "おはよう"])
def test_line_of_one_or_two_words_stays(text):
    assert not may_move(strayed(text=text), 5)


def test_line_whose_language_only_its_own_intent_has_stays():
    spanish = [(f"b es {n}", "es", at) for n, at in enumerate(around(B, 5, 0.5, 1))]
    found = subject({"a": [*group("a", A), (TEXT, "en", [0.5, 10.0, 0.0])], "b": spanish}).per_line

    assert found.left_out.lead[5] > 0.0
    assert not may_move(found, 5)


def test_line_with_a_neighbour_in_its_own_intent_stays():
    assert not may_move(strayed(more_a=[("cancel what i bought", "en", [0.5, 10.0, 0.3])]), 5)


def test_line_that_refuses_what_its_neighbours_ask_for_stays():
    """Beside "yes, send me your newsletter", "I don't want your newsletter" is not misplaced by mistake."""
    assert not may_move(strayed(text="I don't want the newsletter"), 5)


def test_line_stays_if_another_language_says_otherwise():
    near, far = [("a de", "de", [0.5, 10.0, 0.6])], [("b de", "de", [10.0, 10.0, 0.0])]

    assert not may_move(strayed(more_a=near, more_b=far), 5)
    assert may_move(strayed(more_a=far, more_b=near), 5)


def test_template_stays():
    found = strayed()
    intents = tuple(
        replace(one, utterances=tuple(replace(line, template=line.text) for line in one.utterances))
        for one in found.registry
    )

    assert not may_move(replace(found, registry=replace(found.registry, intents=intents)), 5)


def test_hint_names_a_move_last_and_only_where_it_may_be_done():
    (moved,), (stays,) = (
        [one.hint for one in misplaced_utterance(strayed(text=text)) if text in one.message]
        for text in (TEXT, "tabii ki")
    )

    assert moved == "give 'a' more lines like it, reword it, or move it to 'b'"
    assert stays == "give 'a' more lines like it, or reword it"


@pytest.mark.parametrize(
    ("text", "words"), [("tabii ki", 2), ("where is it?", 3), ("うん", 1), ("注文をキャンセルしたい", 4), ("...", 0)]
)
def test_words_are_counted_in_scripts_without_spaces_too(text, words):
    assert word_count(text) == words
