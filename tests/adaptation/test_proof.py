"""Folds, what is measured in them, and what keeps a model."""

from __future__ import annotations

import zlib
from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np
import pytest
from fakes import WordHashEncoder

from intentmatch.adaptation.proof import (
    AccuracyProbe,
    BeforeAfter,
    Proof,
    ProofAnswer,
    ProofFold,
    ProofMeasures,
    folds_of,
    measure,
    proof_of,
    right_verdict,
)
from intentmatch.artefact.build import build
from intentmatch.core.errors import InputError
from intentmatch.core.settings import Settings
from intentmatch.core.types import Intent, Kind, Registry, Utterance, Vectors
from intentmatch.matching.pipeline import Engine
from intentmatch.matching.snapshot import Snapshot


@pytest.fixture
def settings(settings_for: Callable[..., Settings]) -> Settings:
    return settings_for("static")


@pytest.fixture
def folds(frames: Registry, settings: Settings) -> list[ProofFold]:
    return folds_of(frames, WordHashEncoder(), settings, 3, 0)


def test_folds_leave_out_utterances_of_each_intent_and_whole_intents(frames: Registry, folds: list[ProofFold]) -> None:
    owner_of = {line.text: intent.name for intent in frames for line in intent.utterances}
    asked: list[str] = []
    for fold in folds:
        trained = {line.text for line in fold.registry.utterances}
        here = {intent.name for intent in fold.registry}
        inside = [text for text, name in zip(fold.messages, fold.expected, strict=True) if name is not None]
        outside = [text for text, name in zip(fold.messages, fold.expected, strict=True) if name is None]
        assert not trained & set(fold.messages)
        assert {owner_of[text] for text in inside} == here
        assert {owner_of[text] for text in outside} == set(owner_of.values()) - here
        assert len(here) in (4, 5)
        asked += inside

    assert len(folds) == 3
    assert len(asked) == len(set(asked))
    assert {name for fold in folds for name in owner_of.values() if name not in fold.registry}


def test_seed_decides_the_folds(frames: Registry, folds: list[ProofFold], settings: Settings) -> None:
    assert [fold.messages for fold in folds_of(frames, WordHashEncoder(), settings, 3, 0)] == [
        fold.messages for fold in folds
    ]
    assert [fold.messages for fold in folds_of(frames, WordHashEncoder(), settings, 3, 1)] != [
        fold.messages for fold in folds
    ]


def test_registry_of_two_intents_leaves_out_none(frames: Registry, settings: Settings) -> None:
    found = folds_of(Registry(frames.intents[:2]), WordHashEncoder(), settings, 2, 0)

    assert all(len(fold.registry) == 2 and None not in fold.expected for fold in found)


def test_single_fold_is_refused(frames: Registry, settings: Settings) -> None:
    with pytest.raises(InputError, match="folds must be 2 or more"):
        folds_of(frames, WordHashEncoder(), settings, 1, 0)


def test_measured_are_first_candidates_and_probabilities_of_being_in_scope(
    folds: list[ProofFold], settings: Settings
) -> None:
    """Words are shared within an intent only, so that hashed words find every intent."""
    measured = measure(folds[0], WordHashEncoder(), settings, 0.25)
    known = [expected is not None for expected in folds[0].expected]
    right, scope = np.array([a.right for a in measured.answers]), np.array([a.scope for a in measured.answers])

    assert measured.languages == 0.25
    assert right[known].mean() > 0.9
    assert not right[~np.array(known)].any()
    assert scope[known].mean() > scope[~np.array(known)].mean()


class Memorising(WordHashEncoder):
    """Is certain about the lines that it was trained on, and less so about others. All texts are somewhat alike."""

    dim = 64

    def __init__(self, registry: Registry, trained: Registry) -> None:
        super().__init__()
        self._owner = {line.text: number for number, intent in enumerate(registry) for line in intent.utterances}
        self._trained = {line.text for line in trained.utterances}

    def encode(self, texts: Sequence[str], *, kind: Kind = "utterance") -> Vectors:
        found = np.zeros((len(texts), self.dim), dtype=np.float32)
        for row, text in enumerate(texts):
            noise = np.random.default_rng(zlib.crc32(text.encode())).normal(size=self.dim)
            found[row] = noise / np.linalg.norm(noise) * (0.7 if text in self._trained else 2.2)
            found[row, -1] += 1.5
            if text in self._owner:
                found[row, self._owner[text]] += 1.0
        return found / np.linalg.norm(found, axis=1, keepdims=True)


def test_trained_encoder_is_calibrated_on_messages_that_it_has_not_seen(settings_for: Callable[..., Settings]) -> None:
    settings = settings_for("static", scorer="cosine")
    names = "abcdef"
    lines = {name: tuple(Utterance(f"{name} {number}", "en") for number in range(24)) for name in names}
    registry = Registry(tuple(Intent(name, lines[name]) for name in names))
    fold = folds_of(registry, WordHashEncoder(), settings, 2, 0)[0]
    encoder = Memorising(registry, fold.registry)
    known = np.array([expected is not None for expected in fold.expected])

    matcher = Snapshot(Engine(build(fold.registry, encoder, settings), encoder, None))
    fooled = [*map(right_verdict, matcher.match_many(fold.messages), fold.expected)]
    found = measure(fold, encoder, settings, None)

    honest = np.array([answer.verdict for answer in found.answers])
    assert honest[known].mean() > np.array(fooled)[known].mean() + 0.2
    assert found.cases is not None
    assert found.cases.known.tolist() == known.tolist()
    assert found.cases.right.tolist() == [answer.right for answer in found.answers]


def measured(*answers: tuple[bool, float, bool], languages: float | None = None) -> ProofMeasures:
    return ProofMeasures(tuple(ProofAnswer(*answer) for answer in answers), languages)


FOLD = ProofFold(Registry(()), ("m", "n", "o"), ("a", "b", None))
GOOD = measured((True, 0.9, True), (True, 0.8, True), (False, 0.1, True), languages=0.8)


def test_proof_compares_first_candidates_auroc_and_languages() -> None:
    before = measured((True, 0.9, False), (False, 0.2, False), (False, 0.5, True), languages=0.6)

    proof = proof_of([FOLD, FOLD], [before, before], [GOOD, GOOD])

    assert [row.name for row in proof.rows] == [
        "first candidate",
        "AUROC",
        "overall accuracy",
        "languages the registry lacks",
    ]
    assert [(row.before, row.after) for row in proof.rows] == [
        (0.5, 1.0),
        (0.5, 1.0),
        (pytest.approx(0.1), pytest.approx(1.0)),
        (pytest.approx(0.6), pytest.approx(0.8)),
    ]
    assert proof.rows[0].error == pytest.approx(2**0.5 / 4)
    assert (proof.messages, proof.out_of_scope, proof.folds) == (4, 2, 2)
    assert proof.kept


@pytest.mark.parametrize(
    "after",
    [
        measured((True, 0.9, True), (False, 0.8, True), (False, 0.1, True), languages=0.8),
        measured((True, 0.9, True), (True, 0.1, True), (False, 0.2, True), languages=0.8),
        measured((True, 0.9, True), (True, 0.8, False), (False, 0.1, True), languages=0.8),
        measured((True, 0.9, True), (True, 0.8, True), (False, 0.1, True), languages=0.7),
    ],
    ids=["first candidate", "AUROC", "verdicts", "languages"],
)
def test_model_that_lost_one_of_them_is_not_kept(after: ProofMeasures) -> None:
    proof = proof_of([FOLD], [GOOD], [after])

    assert not proof.kept
    assert sum(row.lost for row in proof.rows) == 1


def test_equal_model_is_not_kept() -> None:
    assert not proof_of([FOLD], [GOOD], [GOOD]).kept


def test_higher_auroc_alone_is_no_reason_to_keep_a_model() -> None:
    """Not one more message is answered right."""
    better = measured((True, 0.95, True), (True, 0.9, True), (False, 0.0, True), languages=0.8)
    worse = measured((True, 0.95, True), (True, 0.1, True), (False, 0.2, True), languages=0.8)

    proof = proof_of([FOLD], [worse], [better])

    assert [row.name for row in proof.rows if row.gained] == ["AUROC"]
    assert not proof.kept


@pytest.mark.parametrize(("error", "chance"), [(0.01, True), (0.004, False)])
def test_gain_within_its_standard_error_may_be_chance(error: float, chance: bool) -> None:
    proof = Proof((BeforeAfter("first candidate", 0.9, 0.905, error),), 100, 0, 2, ("first candidate",))

    assert proof.kept
    assert proof.perhaps_chance is chance


def test_number_that_was_not_measured_is_not_compared() -> None:
    inside = FOLD._replace(messages=("m", "n"), expected=("a", "b"))
    some = measured((True, 0.9, True), (True, 0.8, False))

    proof = proof_of([inside], [some], [some])

    assert [row.name for row in proof.rows] == ["first candidate", "overall accuracy"]
    assert proof.rows[1].after == 0.5


@pytest.mark.parametrize(("share", "overall"), [(0.1, 0.45), (0.5, 0.25), (0.0, 0.5)])
def test_overall_accuracy_has_the_expected_share_of_out_of_scope_messages(share: float, overall: float) -> None:
    """Half of the messages in scope are answered rightly, and no other one is refused."""
    some = measured((True, 0.9, True), (True, 0.8, False), (False, 0.85, False))

    assert proof_of([FOLD], [some], [some], share).rows[2].after == pytest.approx(overall)


def test_verdicts_are_judged_at_the_threshold_in_use(
    folds: list[ProofFold], settings: Settings, settings_for: Callable[..., Settings]
) -> None:
    known = [expected is not None for expected in folds[0].expected]
    calibrated = measure(folds[0], WordHashEncoder(), settings, None).answers
    refusing = measure(folds[0], WordHashEncoder(), settings_for("static", threshold=0.9999), None).answers

    assert sum(answer.verdict for answer in calibrated) > len(known) / 2
    assert [answer.verdict for answer in refusing] == [not inside for inside in known]


@pytest.mark.parametrize(("after", "lost"), [(0.9004, False), (0.899, True), (0.91, False)])
def test_loss_smaller_than_the_report_shows_is_none(after: float, lost: bool) -> None:
    assert BeforeAfter("AUROC", 0.9005, after).lost == lost


def test_probe_tells_the_held_out_accuracy_at_some_steps(folds: list[ProofFold]) -> None:
    probe = AccuracyProbe(folds[0], 20, 0)
    encode = WordHashEncoder().encode
    told = [probe(encode, step) for step in range(1, 21)]

    assert [step for step, text in enumerate(told, 1) if text] == [5, 10, 15, 20]
    assert told[4].startswith(", held-out accuracy ")
    assert int(told[4].rpartition(" ")[2].rstrip("%")) > 80


def test_probe_without_messages_says_nothing() -> None:
    one = Registry((Intent("a", (Utterance("m"),)),))

    assert AccuracyProbe(ProofFold(one, ("n",), (None,)), 1, 0)(WordHashEncoder().encode, 1) == ""


def test_context_tags_are_active_while_measuring(frames: Registry, settings: Settings) -> None:
    """An intent that needs a tag must be findable."""
    tagged = Registry(tuple(replace(intent, when=("paid",)) for intent in frames))
    fold = folds_of(tagged, WordHashEncoder(), settings, 3, 0)[0]

    assert sum(answer.right for answer in measure(fold, WordHashEncoder(), settings, None).answers) > 10
