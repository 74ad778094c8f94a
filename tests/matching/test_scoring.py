"""What speaks for each intent, before anything is decided."""

from __future__ import annotations

import pytest
from fakes import WordHashEncoder

from intentmatch import Intent, Registry, Settings, Utterance
from intentmatch.artefact.build import build
from intentmatch.core.result import Candidate
from intentmatch.matching.scoring import RANKED, Scoring
from intentmatch.matching.shortlist import Scored, SearchResult
from intentmatch.matching.spelling import SpellingHit
from intentmatch.matching.thresholds import policy_of

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
    return scoring.candidates(WordHashEncoder().encode([text])[0], text, *about)  # type: ignore[arg-type]


def test_the_nearest_intent_leads(scoring: Scoring) -> None:
    """With the utterance that speaks for it; there are a few candidates at least, however far away."""
    found = candidates(scoring, "where is the parcel")

    assert found[0].intent == "parcel"
    assert found[0].utterance in BOT["parcel"].utterances
    assert len(found) == RANKED
    assert [c.rank for c in found] == sorted((c.rank for c in found), reverse=True)


def test_a_negative_pushes_its_intent_away(scoring: Scoring) -> None:
    """To nothing where the message is the negative; the others stay where they are."""
    with_it, without = candidates(scoring, "a refund of feelings"), candidates(scoring, "my refund please")

    assert {one.intent: one.score for one in with_it}.get("refund", 0.0) == pytest.approx(0.0, abs=1e-6)
    assert without[0].intent == "refund"
    assert without[0].score > 0.5


def test_a_score_is_raised_and_never_lowered(scoring: Scoring) -> None:
    """And as much evidence with it; what was raised has the utterance that it was raised for."""
    text, job, parcel = "where is the parcel", NAMES.index("job"), NAMES.index("parcel")
    before = candidates(scoring, text)

    found = candidates(scoring, text, {job: SpellingHit(2 * job + 1, 0.9), parcel: SpellingHit(2 * parcel, -1.0)})

    assert (found[0].intent, found[0].score, found[0].evidence) == ("job", 0.9, pytest.approx(0.9))
    assert found[0].utterance == BOT["job"].utterances[1]
    assert found[1] == before[0]


def test_what_was_looked_at_before_spares_a_look(scoring: Scoring) -> None:
    """But not where somebody is needed who was not looked at, or not everybody may answer."""
    job = NAMES.index("job")
    told = SearchResult([Scored(job, 0.25, 0.25, 2 * job)], 0.0)

    assert [(c.intent, c.score) for c in candidates(scoring, "where", {}, None, told)] == [("job", 0.25)]
    assert len(candidates(scoring, "where", {job - 1: SpellingHit(0, 0.1)}, None, told)) == RANKED
    assert candidates(scoring, "where", {}, frozenset({0}), told)[0].intent == "order"


def test_only_those_that_may_answer_are_candidates(scoring: Scoring) -> None:
    """In the order of all."""
    allowed = frozenset({NAMES.index("job"), NAMES.index("card")})

    found = candidates(scoring, "where is the card", {}, allowed)

    assert [c.intent for c in found] == ["card", "job"]
