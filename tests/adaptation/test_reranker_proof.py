"""What counts as better in the doubtful band."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import pytest
from fakes import WordHashEncoder

from intentmatch.adaptation.proof import ProofFold, folds_of
from intentmatch.adaptation.reranker_proof import Doubtful, doubtful_messages, proof_of
from intentmatch.core.settings import Settings
from intentmatch.core.types import Registry

FOLD = ProofFold(Registry(()), ("m", "n", "o"), ("a", "b", None))
GAINED = Doubtful(in_scope=True, right_before=False, right_after=True, first_before=True, first_after=True)
LOST = Doubtful(in_scope=True, right_before=True, right_after=False, first_before=True, first_after=True)
SAME = Doubtful(in_scope=False, right_before=True, right_after=True, first_before=False, first_after=False)
FIRST_LOST = Doubtful(in_scope=True, right_before=False, right_after=False, first_before=True, first_after=False)


@pytest.mark.parametrize(
    ("found", "kept"),
    [
        ([GAINED, SAME], True),
        ([GAINED, GAINED, LOST], True),
        ([GAINED, LOST], False),
        ([SAME], False),
        ([GAINED, GAINED, FIRST_LOST], False),
        ([], False),
    ],
)
def test_reranker_is_kept_if_more_answers_are_right_and_no_first_candidate_is_lost(
    found: list[Doubtful], kept: bool
) -> None:
    assert proof_of([FOLD], found).kept == kept


def test_proof_counts_the_messages_in_doubt() -> None:
    proof = proof_of([FOLD], [GAINED, SAME, LOST, GAINED])

    assert [(row.name, row.before, row.after) for row in proof.rows] == [
        ("right answers to 4 doubtful messages", 0.5, 0.75),
        ("first candidate of 3 of them", 1.0, 1.0),
    ]
    assert proof.rows[0].error == pytest.approx(3**0.5 / 4)
    assert (proof.messages, proof.out_of_scope) == (2, 1)


class Known:
    """A reranker that recognises utterances with the last word of the message."""

    name = "known"

    def __init__(self) -> None:
        self.asked: set[str] = set()

    def score(self, message: str, utterances: Sequence[str]) -> np.ndarray:
        self.asked.add(message)
        return np.array([set(message.split()) <= set(text.split()) for text in utterances], dtype=np.float32)


def test_messages_are_those_that_the_reranker_was_asked_about(
    few_frames: Registry, settings_for: Callable[..., Settings]
) -> None:
    settings = settings_for("static", scorer="cosine")
    fold = folds_of(few_frames, WordHashEncoder(), settings, 2, 0)[0]
    reranker = Known()

    found = doubtful_messages(fold, WordHashEncoder(), reranker, settings)

    assert len(found) == len(reranker.asked & set(fold.messages)) > 0
    assert any(one.in_scope for one in found)
