"""What speaks for each intent, before anything is decided."""

from __future__ import annotations

import numpy as np
import pytest
from fakes import WordHashEncoder

from intentmatch import Intent, Registry, Settings, Utterance
from intentmatch.build import build
from intentmatch.calibration import policy_of
from intentmatch.lexical import Hit
from intentmatch.scoring import RANKED, Scoring

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


def scores(scoring: Scoring, text: str):  # type: ignore[no-untyped-def]
    return scoring.scores(WordHashEncoder().encode([text])[0], text)


def test_the_nearest_intent_leads(scoring: Scoring) -> None:
    """With the utterance that speaks for it; there are a few candidates at least, however far away."""
    found = scoring.candidates(scores(scoring, "where is the parcel"), {}, None)

    assert found[0].intent == "parcel"
    assert found[0].utterance in BOT["parcel"].utterances
    assert len(found) == RANKED
    assert [c.rank for c in found] == sorted((c.rank for c in found), reverse=True)


def test_a_negative_pushes_its_intent_away(scoring: Scoring) -> None:
    """To nothing where the message is the negative; the others stay where they are."""
    pushed = scores(scoring, "a refund of feelings")

    assert pushed.scores[NAMES.index("refund")] == pytest.approx(0.0, abs=1e-6)
    assert scores(scoring, "my refund please").scores[NAMES.index("refund")] > 0.5


def test_a_score_is_raised_and_never_lowered(scoring: Scoring) -> None:
    """And as much evidence with it; what was raised has the utterance that it was raised for."""
    dense = scores(scoring, "where is the parcel")
    before = dense.scores.copy(), dense.evidence.copy()

    dense.raise_to(NAMES.index("job"), 0.9)
    dense.raise_to(NAMES.index("parcel"), -1.0)

    moved = dense.scores - before[0]
    assert np.flatnonzero(moved).tolist() == [NAMES.index("job")]
    assert dense.evidence - before[1] == pytest.approx(moved, abs=1e-6)
    row = 2 * NAMES.index("job") + 1
    found = scoring.candidates(dense, {NAMES.index("job"): Hit(row, 0.9)}, None)
    assert found[0].utterance == BOT["job"].utterances[1]


def test_only_those_that_may_answer_are_candidates(scoring: Scoring) -> None:
    """In the order of all."""
    allowed = frozenset({NAMES.index("job"), NAMES.index("card")})

    found = scoring.candidates(scores(scoring, "where is the card"), {}, allowed)

    assert [c.intent for c in found] == ["card", "job"]
