"""Labelled messages as cases of the calibration."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from fakes import WordHashEncoder

from intentmatch.artefact.build import build, labelled_messages
from intentmatch.core.setting_values import FROM_TESTS
from intentmatch.core.settings import USUAL_SHARE, Settings
from intentmatch.core.shared_lines import SharedLines
from intentmatch.core.types import Case, Intent, Registry, Utterance
from intentmatch.learning.cross_validation import RANKED, HeldOut
from intentmatch.learning.labelled_cases import joined, labelled_cases, usable_cases
from intentmatch.learning.labelled_share import FEWEST
from intentmatch.matching.options import MatchOptions
from intentmatch.matching.pipeline import Engine
from intentmatch.pieces.embedded import known_pieces
from intentmatch.text.normalize import clean

WORDS = ["order", "parcel", "invoice", "refund", "card", "door", "light", "music"]
STARTS = ["cancel", "show", "find", "where is", "change", "send"]
LEARNING = Settings(out_of_scope_share=FROM_TESTS)
INSIDE = [Case(f"please {start} my {word}", word) for word in WORDS for start in STARTS[:4]]
OUTSIDE = [Case(f"{word} of the moon", None) for word in ("weather", "colour", "size", "age")]


def registry(*tests: Case) -> Registry:
    """Eight intents of six utterances that share words."""
    intents = (Intent(word, tuple(Utterance(f"{start} the {word}", "en") for start in STARTS)) for word in WORDS)
    return Registry(tuple(intents), tests=tests)


def test_lines_of_the_registry_and_other_languages_are_left_out():
    """A line is answered exactly, whatever its evidence."""
    kept = [Case("my order", "order"), Case("my order", "order", "en"), Case("rain?", None)]
    left_out = [Case("Cancel the ORDER", "order"), Case("mein paket", "parcel", "de")]

    assert usable_cases(registry(*left_out, *kept)) == kept


@pytest.mark.parametrize("settings", [LEARNING, replace(LEARNING, scorer="cosine")], ids=["head", "cosine"])
def test_evidence_is_that_of_matching(settings: Settings):
    encoder = WordHashEncoder()
    bot = registry(*INSIDE, *OUTSIDE)
    artefact = build(bot, encoder, settings)
    labelled = labelled_messages(bot, settings, encoder)

    found = labelled_cases(bot, artefact.vectors, settings.aggregation, artefact.trained_head, labelled)

    engine = Engine(artefact, encoder)
    for number, case in enumerate(labelled.cases):
        vector = encoder.encode([clean(case.text)], kind="query")[0]
        expected = engine._scoring.candidates(vector, known_pieces(clean(case.text)))[:RANKED]
        assert found.evidence[number] == pytest.approx(expected[0].evidence, abs=1e-5)
        assert [WORDS[intent] for intent in found.first[number : number + 1]] == [expected[0].intent]
        names = [candidate.intent for candidate in expected]
        assert found.place[number] == (names.index(case.expected) if case.expected in names else RANKED)


@pytest.mark.parametrize("settings", [LEARNING, replace(LEARNING, scorer="cosine")], ids=["head", "cosine"])
def test_messages_are_said_in_the_context_of_the_expected_intent(settings: Settings):
    """Follow-ups that share lines answer while their tag is active."""
    yes = tuple(Utterance(line, "en") for line in ("yes", "yes please", "go ahead", "certainly"))
    more = (
        Intent("yes_order", yes, when=("ordering",)),
        Intent("yes_close", yes, when=("closing",)),
        Intent("agree", (Utterance("yes", "en"), Utterance("that is right", "en"))),
    )
    said = ("oh yes please", "yes certainly", "go right ahead", "yes that is right")
    tests = [Case(text, name) for text in said for name in ("yes_order", "yes_close", "agree")]
    bot = registry(*INSIDE, *OUTSIDE, *tests)
    bot = replace(bot, intents=(*bot.intents, *more))
    encoder = WordHashEncoder()
    artefact = build(bot, encoder, settings)
    labelled = labelled_messages(bot, settings, encoder)

    found = labelled_cases(bot, artefact.vectors, settings.aggregation, artefact.trained_head, labelled)

    engine, shared = Engine(artefact, encoder), SharedLines(bot)
    names = [intent.name for intent in bot]
    for number, case in enumerate(labelled.cases):
        options = engine.resolve(MatchOptions(context=shared.context_of(case)))
        vector = encoder.encode([clean(case.text)], kind="query")[0]
        first = engine._scoring.candidates(
            vector, known_pieces(clean(case.text)), allowed=options.allowed, hidden=options.hidden
        )[0]
        assert found.evidence[number] == pytest.approx(first.evidence, abs=1e-5)
        assert names[found.first[number]] == first.intent
    wrong = {"yes_order": "yes_close", "yes_close": "yes_order", "agree": "yes_order"}
    for case, first in zip(labelled.cases, found.first, strict=True):
        assert names[first] != wrong.get(str(case.expected))


def test_labelled_messages_weigh_the_more_the_more_there_are():
    encoder = WordHashEncoder()
    bot = registry()
    vectors = build(bot, encoder, Settings(scorer="cosine")).vectors
    for cases in (INSIDE[:3], INSIDE):
        labelled = labelled_messages(replace(bot, tests=tuple(cases)), LEARNING, encoder, fewest=1)

        found = labelled_cases(bot, vectors, "mean2", None, labelled)

        assert found.weights.tolist() == pytest.approx([len(cases) / 3] * len(cases))
        assert set(found.rows.tolist()) == {-1}
        assert found.known.all()


def cases(inside: int, outside: int, weight: float = 1.0) -> HeldOut:
    count = inside + outside
    number = np.arange(count)
    return HeldOut(
        np.zeros((count, RANKED)), number, np.zeros(count, int), number < inside, number, np.full(count, weight)
    )


def test_out_of_scope_cases_of_both_weigh_the_same_in_proportion():
    both = joined(cases(10, 20), cases(30, 6, weight=5.0))

    inside, outside = both.weights[both.known], both.weights[~both.known]
    assert (inside.sum(), outside[:20].sum()) == (10 + 150, 20)
    assert outside[20:].sum() == pytest.approx(2 * 150)


@pytest.mark.parametrize(("inside", "outside"), [(4, 0), (0, 4), (0, 0)])
def test_labelled_cases_of_one_kind_keep_their_weights(inside: int, outside: int):
    both = joined(cases(10, 20), cases(inside, outside, weight=5.0))

    assert both.weights[30:].tolist() == [5.0] * (inside + outside)
    assert joined(cases(0, 0), cases(inside, outside)).weights.tolist() == [1.0] * (inside + outside)


def test_message_with_several_intents_is_right_with_either():
    encoder = WordHashEncoder()
    bot = registry(*[Case("cancel my order and my parcel", ("parcel", "order"))] * FEWEST)
    labelled = labelled_messages(bot, LEARNING, encoder)

    found = labelled_cases(bot, build(bot, encoder, Settings(scorer="cosine")).vectors, "mean2", None, labelled)

    assert (found.place == 0).all()
    assert found.known.all()


@pytest.mark.parametrize(
    ("settings", "tests"), [(Settings(), INSIDE), (LEARNING, INSIDE[: FEWEST - 1]), (LEARNING, [])]
)
def test_nothing_is_learned_unasked_or_from_few_messages(settings: Settings, tests: list[Case]):
    encoder = WordHashEncoder()
    bot = registry(*tests)

    assert labelled_messages(bot, settings, encoder) is None
    assert build(bot, encoder, settings).out_of_scope_share == USUAL_SHARE
    assert build(bot, encoder, settings).calibration == build(registry(), encoder, Settings()).calibration


def test_only_lines_of_the_registry_give_a_share_and_no_cases():
    encoder = WordHashEncoder()
    bot = registry(*(Case(f"{start} the {word}", word) for word in WORDS for start in STARTS))

    artefact = build(bot, encoder, LEARNING)

    assert labelled_messages(bot, LEARNING, encoder).vectors.shape == (0, encoder.dim)
    assert 0.0 < artefact.out_of_scope_share < USUAL_SHARE
    assert artefact.calibration.cases == build(bot, encoder, Settings()).calibration.cases


def test_share_and_curve_follow_the_labelled_messages():
    """The in-scope probability of the same evidence falls with more out-of-scope messages."""
    encoder = WordHashEncoder()

    few, many = (build(registry(*INSIDE, *OUTSIDE * times), encoder, LEARNING) for times in (1, 12))

    assert few.out_of_scope_share == few.calibration.labelled.estimate < many.out_of_scope_share
    assert few.calibration.curve is not None
    typical = np.median([few.calibration.evidence(0.5), many.calibration.evidence(0.5)])
    assert few.calibration.in_scope(typical) > many.calibration.in_scope(typical)


def test_curve_follows_the_labelled_messages_at_the_same_share():
    encoder = WordHashEncoder()
    bot = registry(*INSIDE, *OUTSIDE)

    learned = build(bot, encoder, LEARNING)
    told = build(bot, encoder, Settings(out_of_scope_share=learned.out_of_scope_share))

    assert learned.calibration.curve != pytest.approx(told.calibration.curve, abs=0.01)
    assert learned.calibration.cases == told.calibration.cases + len(INSIDE) + len(OUTSIDE)


def test_build_with_labelled_messages_is_deterministic():
    bot = registry(*INSIDE, *OUTSIDE)

    one, other = (build(bot, WordHashEncoder(), LEARNING) for _ in range(2))

    assert one.calibration == other.calibration
    assert one.fingerprint == other.fingerprint


def test_fingerprints_follow_the_tests_that_are_learned_from():
    encoder = WordHashEncoder()
    one, other = registry(*INSIDE), registry(*INSIDE, *OUTSIDE)
    declared = [replace(bot, settings={"out_of_scope_share": FROM_TESTS}) for bot in (one, other)]

    assert build(one, encoder, LEARNING).fingerprint != build(other, encoder, LEARNING).fingerprint
    assert build(one, encoder).fingerprint == build(other, encoder).fingerprint
    assert one.fingerprint == other.fingerprint
    assert declared[0].fingerprint != declared[1].fingerprint
