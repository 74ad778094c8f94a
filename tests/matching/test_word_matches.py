"""Which word of a message met which word of an utterance, for the author's eyes."""

from __future__ import annotations

import dataclasses
import json

import pytest

from intentmatch import Matcher, WordMatch
from intentmatch.core.types import Intent, Registry, Utterance
from intentmatch.learning.word_alignment import WordAlignment
from intentmatch.matching.word_matches import word_matches
from intentmatch.pieces.embedded import known_pieces

LINES = ("where is my parcel", "cancel my order", "my order is late", "我的订单在哪里")


@pytest.fixture(scope="module")
def alignment() -> WordAlignment:
    return WordAlignment.fit([known_pieces(line) for line in LINES], [0, 1, 2, 3])


@pytest.fixture(scope="module")
def shipped() -> Matcher:
    return Matcher.load("intents")


def met(alignment: WordAlignment, text: str, utterance: str) -> dict[str, str]:
    return {one.word: one.met for one in word_matches(alignment, text, utterance)}


def test_words_meet_their_nearest_words(alignment: WordAlignment) -> None:
    assert met(alignment, "Where is your package?", "where is my parcel") == {
        "where": "where",
        "is": "is",
        "your": "my",
        "package": "parcel",
    }


def test_similarity_falls_with_the_distance_of_meaning(alignment: WordAlignment) -> None:
    where, package, giraffe = word_matches(alignment, "where package giraffe", "where is my parcel")

    assert where.similarity == pytest.approx(1.0, abs=1e-4)
    assert 1.0 > package.similarity > 0.5 > giraffe.similarity >= 0.0


def test_weights_add_up_to_1_and_rare_words_weigh_more(alignment: WordAlignment) -> None:
    found = {one.word: one.weight for one in word_matches(alignment, "my parcel", "where is my parcel")}

    assert sum(found.values()) == pytest.approx(1.0, abs=1e-3)
    assert found["parcel"] > found["my"]


def test_word_of_several_pieces_is_one_word_without_marks_around_it(alignment: WordAlignment) -> None:
    """The apostrophe within a word stays."""
    words = [one.word for one in word_matches(alignment, "“Don't!” — zyxwvutsrq, 42?", "cancel my order")]

    assert words == ["don't", "zyxwvutsrq", "42"]


def test_pieces_of_a_script_without_spaces_are_words(alignment: WordAlignment) -> None:
    found = met(alignment, "我的包裹在哪里", "where is my parcel")

    assert len(found) > 1
    assert "".join(found) == "我的包裹在哪里"


def test_vowel_signs_belong_to_the_word(alignment: WordAlignment) -> None:
    assert "हिन्दी" in met(alignment, "हिन्दी", "cancel my order")


@pytest.mark.parametrize(
    ("text", "utterance"), [("ᚠᚢᚦ", "cancel my order"), ("cancel", "ᚠᚢᚦ"), ("?!", "cancel"), ("", "")]
)
def test_texts_without_known_words_match_nothing(alignment: WordAlignment, text: str, utterance: str) -> None:
    assert word_matches(alignment, text, utterance) == ()


def test_matcher_shows_the_words_of_the_first_candidate(shipped: Matcher) -> None:
    """As plain JSON values, and in the explanation."""
    result = shipped.match("cancel that order of mine")

    found = shipped.word_matches(result)

    near = [pytest.approx(1.0, abs=1e-3), pytest.approx(0.25, abs=0.2), pytest.approx(1.0, abs=0.3)]
    assert WordMatch("cancel", "cancel", *near) in found
    assert json.loads(json.dumps([dataclasses.asdict(one) for one in found]))[0]["word"] == "cancel"
    explained = shipped.explain(result)
    assert "Words that match: cancel ~ cancel 1.00" in explained
    assert explained.replace(" ~ ", "").count("\n") >= result.explain().count("\n") + 1
    assert "Words that match" not in result.explain()


def test_typing_mistake_is_shown_as_it_was_read(shipped: Matcher) -> None:
    result = shipped.match("cancle that order of mine")

    assert "cancel" in [one.word for one in shipped.word_matches(result)]


def test_explanation_lists_words_without_a_match(shipped: Matcher) -> None:
    explained = shipped.explain(shipped.match("the weather in Rome"))

    assert "Words without a match:" in explained
    assert "rome 0." in explained


def test_nothing_is_shown_without_candidates_or_words(shipped: Matcher) -> None:
    """A registry that is too small to calibrate is decided by scores, so that words do not count."""
    small = Matcher.load(Registry((Intent("a", (Utterance("hello"),)), Intent("b", (Utterance("good bye"),)))))

    assert shipped.word_matches(shipped.match("")) == ()
    result = small.match("hello there")
    assert small.word_matches(result) == ()
    assert small.explain(result) == result.explain()


def test_words_around_a_request_are_ignored(shipped: Matcher) -> None:
    result = shipped.match("hello where is my order 99999999")

    assert [one.word for one in shipped.word_matches(result) if one.is_ignored] == ["99999999"]
    assert next(stage.says for stage in result.trace.stages if stage.name == "words").endswith("; ignored: 99999999")
    assert "Ignored: 99999999." in shipped.explain(result).splitlines()
