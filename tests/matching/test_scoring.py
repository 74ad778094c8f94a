"""Candidates with their scores and evidence, before the decision."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from fakes import WordHashEncoder

from intentmatch import Intent, Registry, Settings, Utterance
from intentmatch.artefact.build import build
from intentmatch.core.result import Candidate
from intentmatch.learning.fusion import head_term
from intentmatch.learning.token_features import NO_WORDS
from intentmatch.learning.word_alignment import LEADING, WORD_WEIGHT
from intentmatch.matching.scoring import RANKED, Scoring
from intentmatch.matching.shortlist import Scored, SearchResult
from intentmatch.matching.thresholds import policy_of
from intentmatch.pieces.embedded import known_pieces
from intentmatch.reading.spelling import SpellingHit

NAMES = ("order", "refund", "parcel", "card", "address", "hours", "job")
BOT = Registry(
    tuple(
        Intent(
            name,
            (Utterance(f"about the {name}"), Utterance(f"my {name} please")),
            negatives=(Utterance("a refund of feelings"),) if name == "refund" else (),
        )
        for name in NAMES
    )
)


@pytest.fixture(scope="module")
def scoring() -> Scoring:
    settings = Settings(threshold={"default": 0.99})
    artefact = build(BOT, WordHashEncoder(), settings)
    return Scoring(artefact, policy_of(BOT, settings, artefact.calibration))


def candidates(scoring: Scoring, text: str, *about: object) -> list[Candidate]:
    return scoring.candidates(WordHashEncoder().encode([text])[0], known_pieces(text), *about)  # type: ignore[arg-type]


def test_nearest_intent_comes_first(scoring: Scoring) -> None:
    """With its nearest utterance; at least `RANKED` candidates are returned."""
    found = candidates(scoring, "where is the parcel")

    assert found[0].intent == "parcel"
    assert found[0].utterance in BOT["parcel"].utterances
    assert len(found) == RANKED
    assert [c.rank for c in found] == sorted((c.rank for c in found), reverse=True)


def test_negative_lowers_its_intent_to_zero(scoring: Scoring) -> None:
    """Other intents keep their scores."""
    with_it, without = candidates(scoring, "a refund of feelings"), candidates(scoring, "my refund please")

    assert {one.intent: one.score for one in with_it}.get("refund", 0.0) == pytest.approx(0.0, abs=1e-6)
    assert without[0].intent == "refund"
    assert without[0].score > 0.5


def test_spelling_hit_raises_but_never_lowers_a_score(scoring: Scoring) -> None:
    """The evidence rises by as much; the candidate has the utterance of the hit."""
    text, job, parcel = "where is the parcel", NAMES.index("job"), NAMES.index("parcel")
    before = candidates(scoring, text)

    found = candidates(scoring, text, {job: SpellingHit(2 * job + 1, 0.9), parcel: SpellingHit(2 * parcel, -1.0)})

    assert (found[0].intent, found[0].score, found[0].evidence) == ("job", 0.9, pytest.approx(0.9))
    assert found[0].utterance == BOT["job"].utterances[1]
    assert found[1] == before[0]


def test_given_search_result_is_used(scoring: Scoring) -> None:
    """Unless a hit is not in it, or only some intents are allowed."""
    job = NAMES.index("job")
    given = SearchResult([Scored(job, 0.25, 0.25, 2 * job)], 0.0)

    assert [(c.intent, c.score) for c in candidates(scoring, "where", {}, None, given)] == [("job", 0.25)]
    assert len(candidates(scoring, "where", {job - 1: SpellingHit(0, 0.1)}, None, given)) == RANKED
    assert candidates(scoring, "where", {}, frozenset({0}), given)[0].intent == "order"


def test_only_allowed_intents_are_candidates(scoring: Scoring) -> None:
    allowed = frozenset({NAMES.index("job"), NAMES.index("card")})

    found = candidates(scoring, "where is the card", {}, allowed)

    assert [c.intent for c in found] == ["card", "job"]


MANY = (
    *("order", "refund", "parcel", "card", "address", "hours", "job", "invoice", "password", "account", "delivery"),
    *("voucher", "return", "warranty", "battery", "screen", "keyboard", "printer", "garden", "kitchen", "table"),
    *("chair", "window", "door", "roof", "bicycle", "train", "ticket", "hotel", "flight", "breakfast", "dinner"),
    *("doctor", "dentist", "school"),
)
SHOP = Registry(
    tuple(
        Intent(
            name,
            (
                Utterance(f"about the {name}"),
                Utterance(f"my {name} please"),
                Utterance(f"I have a question on {name}"),
            ),
            negatives=(Utterance("the order of the garter"),) if name == "order" else (),
        )
        for name in MANY
    )
)


@pytest.fixture(scope="module")
def trained() -> Scoring:
    """With a head and a shortlist, so that words count."""
    artefact = build(SHOP, WordHashEncoder(), Settings())
    assert artefact.trained_head is not None
    return Scoring(artefact, policy_of(SHOP, Settings(), artefact.calibration))


def test_word_similarity_adds_to_the_evidence_of_leading_intents(trained: Scoring) -> None:
    """Of the nearest utterance; each candidate has it."""
    text = "is the parcel lost"
    found = trained._search(WordHashEncoder().encode([text])[0], known_pieces(text), (), None)
    before = {one.intent: one for one in found.scored}

    after = {one.intent: one for one in trained._with_words(found.scored, known_pieces(text), ())}

    aligned = [one for one in after.values() if one.words is not None]
    assert len(aligned) == LEADING
    assert min(before[one.intent].evidence for one in aligned) >= max(
        (one.evidence for one in after.values() if one.words is None), default=-9.0
    )
    for one in aligned:
        assert trained._words is not None
        assert one.words == pytest.approx(trained._words.similarities(known_pieces(text), [one.row])[0], abs=1e-6)
        assert one.evidence == pytest.approx(before[one.intent].evidence + WORD_WEIGHT * (one.words or 0.0))
    assert {c.intent for c in candidates(trained, text) if c.words is not None} == {MANY[one.intent] for one in aligned}


def test_batched_search_gives_the_same_word_similarity(trained: Scoring) -> None:
    texts = [f"where is the {name} now" for name in MANY]
    vectors = WordHashEncoder().encode(texts)
    results = [
        result
        for _ in range(4)
        for result in trained.search_many(np.vstack([vectors] * 4), [*map(known_pieces, texts)] * 4)
    ][: len(texts)]

    assert all(results)
    for vector, text, result in zip(vectors, texts, results, strict=True):
        alone, batched = (
            trained.candidates(vector, known_pieces(text)),
            trained.candidates(vector, known_pieces(text), found=result),
        )
        assert [(c.intent, c.words) for c in batched] == [
            (c.intent, c.words and pytest.approx(c.words, abs=1e-6)) for c in alone
        ]
        assert [c.evidence for c in batched] == pytest.approx([c.evidence for c in alone], abs=1e-5)


def test_spelling_hit_raises_word_similarity_too(trained: Scoring) -> None:
    """Even of an intent that does not lead; a lower hit changes nothing."""
    text, job = "where is the parcel", MANY.index("job")
    searched = trained._search(WordHashEncoder().encode([text])[0], known_pieces(text), {job}, None).scored
    before = {one.intent: one for one in trained._with_words(searched, known_pieces(text), {job})}[job]
    assert before.words is not None

    found = {c.intent: c for c in candidates(trained, text, {job: SpellingHit(3 * job + 1, 0.95)})}
    lower = candidates(trained, text, {job: SpellingHit(3 * job + 1, -1.0)})

    assert (found["job"].score, found["job"].words) == (0.95, 0.95)
    more = 0.95 - before.score + WORD_WEIGHT * (0.95 - before.words)
    gained = trained._background.evidence(WordHashEncoder().encode([text])[0])
    assert found["job"].rank == pytest.approx(before.evidence + more + gained)
    assert [c.rank for c in lower] == pytest.approx([c.rank for c in candidates(trained, text)], abs=1e-6)


def test_negative_takes_the_evidence_from_words_too(trained: Scoring) -> None:
    order = next(
        c for c in candidates(trained, "the order of the garter", {0: SpellingHit(0, -1.0)}) if c.intent == "order"
    )

    assert order.words is not None
    assert order.words > 0.3
    assert order.score == pytest.approx(0.0, abs=1e-6)
    assert order.rank < candidates(trained, "where is my order")[0].rank - WORD_WEIGHT * order.words


def test_words_count_among_the_allowed_intents(trained: Scoring) -> None:
    allowed = frozenset({MANY.index("job"), MANY.index("card")})

    found = candidates(trained, "where is the card", {}, allowed)

    assert [c.intent for c in found] == ["card", "job"]
    assert all(c.words is not None for c in found)


def test_without_a_head_words_do_not_count(scoring: Scoring) -> None:
    """The setting `scorer: cosine` promises similarity alone."""
    assert all(c.words is None for c in candidates(scoring, "where is the parcel"))


def test_scoring_of_translations_has_its_own_calibration_and_no_words() -> None:
    """Scores stay the same, and so does the scoring that it was made from."""
    lines = [
        f"{start} the {name} {end}" for name in NAMES for start in ("where is", "send", "lose") for end in ("", "now")
    ]
    bot = Registry(
        tuple(Intent(name, tuple(Utterance(line) for line in lines if f" {name} " in line)) for name in NAMES)
    )
    artefact = build(bot, WordHashEncoder(), Settings())
    usual = Scoring(artefact, policy_of(bot, artefact.settings, artefact.calibration))
    other = replace(artefact.calibration, curve=(0.0, 0.0))
    translated = usual.for_translations(other, policy_of(bot, artefact.settings, other))
    text = "where is my refund"

    before, found = candidates(usual, text), candidates(translated, text)

    assert artefact.trained_head is not None
    assert sum(c.confidence for c in found) <= 0.5 + 1e-6 < sum(c.confidence for c in before)
    assert {c.intent: c.score for c in found}["refund"] == {c.intent: c.score for c in before}["refund"]
    assert found[0].evidence != before[0].evidence
    assert candidates(usual, text) == before
    head = artefact.trained_head.head.for_vectors(artefact.vectors.shape[1])
    vector = WordHashEncoder().encode([text])[0]
    logits = head.logits(vector, NO_WORDS)
    best = {c.intent: c for c in found}["refund"]
    expected = best.score + head_term(logits)[NAMES.index("refund")] + artefact.trained_head.background.evidence(vector)
    assert best.evidence == pytest.approx(float(expected), abs=1e-5)
    results = usual.search_many(vector[None], [known_pieces(text)])
    assert translated.candidates(vector, known_pieces(text), found=results[0]) == found
