"""Tuning: trials, the choice among them, and the description of gains."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest
from answers import LINES, registry_of
from fakes import WordHashEncoder

from intentmatch import Registry
from intentmatch.core.settings import Settings
from intentmatch.core.types import Kind, Vectors
from intentmatch.evaluation import tune as tune_module
from intentmatch.evaluation.tune import Combination, Gain, Trial, Tuning, choose, compared, refusals_compared, tune
from intentmatch.learning.background import background_texts
from intentmatch.learning.cross_validation import RANKED, HeldOut

FILLER = ["please", "now", "today", "at once", "if you can", "for me", "again", "dear shop", "thanks"]


class Truncated(WordHashEncoder):
    """Keeps only the first eight dimensions."""

    def encode(self, texts: Sequence[str], *, kind: Kind = "utterance") -> Vectors:
        vectors = super().encode(texts, kind=kind)
        vectors[:, 8:] = 0
        return vectors / np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-9)


@pytest.fixture
def registry() -> Registry:
    """A registry that is large enough to calibrate."""
    return registry_of({name: [f"{text} {more}" for text in texts for more in FILLER] for name, texts in LINES.items()})


def trial(encoder: str, right: Sequence[float], *, scorer: str = "head", microseconds: float = 10.0) -> Trial:
    results = {(True, row): (value, 1.0) for row, value in enumerate(right)}
    overall = sum(right) / len(right)
    return Trial(Combination(encoder, scorer, "mean2"), overall, 0.5, overall, microseconds, True, results)


def with_refusals(of: Trial, refused: Sequence[float]) -> Trial:
    return replace(of, refusals={row: (value, 1.0) for row, value in enumerate(refused)})


def test_trial_that_refuses_more_is_chosen_among_equal_ones() -> None:
    """Although the other is simpler; not if it is worse overall."""
    right = [1.0, 0.0] * 50
    head = with_refusals(trial("e", right), [1.0] * 80 + [0.0] * 20)
    cosine = with_refusals(trial("e", [0.0, 1.0] * 50, scorer="cosine"), [1.0] * 60 + [0.0] * 40)
    worse = with_refusals(trial("e", [0.0] * 100, scorer="cosine"), [1.0] * 100)

    assert choose([head, cosine], head.choice) == choose([cosine, head], cosine.choice) == head
    assert choose([head, worse], head.choice) == head
    assert refusals_compared(head, cosine).points == pytest.approx(20.0)
    assert not refusals_compared(cosine, head).certain


def test_simpler_trial_is_chosen_if_refusals_are_as_good() -> None:
    head = with_refusals(trial("e", [1.0, 0.0] * 50), [1.0, 0.0] * 50)
    cosine = with_refusals(trial("e", [0.0, 1.0] * 50, scorer="cosine"), [0.0, 1.0] * 50)

    assert choose([head, cosine], head.choice) == cosine


def test_gain_names_the_refusals() -> None:
    head = with_refusals(trial("e", [1.0, 0.0] * 50), [1.0] * 80 + [0.0] * 20)
    cosine = with_refusals(trial("e", [0.0, 1.0] * 50, scorer="cosine"), [1.0] * 60 + [0.0] * 40)

    said = Tuning((head, cosine), head, head.choice, (), 0.1).gain_of("scorer")

    assert said == (
        "+0.0 ± 10.0 points against cosine, and +20.0 ± 4.5 points of the out-of-scope messages that are refused"
    )


def test_nine_of_ten_messages_in_scope_pass_the_threshold_of_the_refusals() -> None:
    evidence = np.concatenate([np.linspace(1.0, 2.0, 101), [0.5, 1.05, 1.15, 3.0]])
    known = np.arange(105) < 101
    held_out = HeldOut(
        evidence[:, None], np.zeros(105, int), np.where(known, 0, RANKED), known, np.arange(105), np.ones(105)
    )

    assert tune_module._refusals(held_out) == {101: (1.0, 1.0), 102: (1.0, 1.0), 103: (0.0, 1.0), 104: (0.0, 1.0)}


def test_every_choice_is_tried_and_each_encoder_encodes_once(registry: Registry) -> None:
    encoders = {"good": WordHashEncoder(), "bad": Truncated("bad", "truncated-1")}
    steps: list[tuple[str, int, int | None]] = []

    found = tune(registry, Settings(encoder="bad"), encoders, progress=lambda *step: steps.append(step))

    assert len({trial.choice for trial in found.trials}) == 8
    assert [t.overall for t in found.trials] == sorted((t.overall for t in found.trials), reverse=True)
    assert found.chosen.choice.encoder == "good"
    assert found.current == Combination("bad", "head", "mean2")
    assert len(steps) == 8
    for encoder in encoders.values():
        texts = {utterance.text for utterance in registry.utterances} | {intent.label for intent in registry}
        texts.update(background_texts())
        timed = len(encoder.encoded) - len(texts)
        assert timed <= 26


def test_trial_does_not_depend_on_the_encoder_in_use(registry: Registry) -> None:
    """Words weigh less beside the vectors of a transformer."""
    found = [tune(registry, Settings(encoder=name), {"static": WordHashEncoder()}) for name in ("static", "onnx:small")]

    one, other = ({trial.choice: trial.results for trial in each.trials} for each in found)
    assert one == other


def test_targets_are_compared_but_not_tuned(registry: Registry) -> None:
    found = tune(registry, Settings(target={"precision": 0.93}), {"static": WordHashEncoder()})

    assert [row.target for row in found.targets if row.current] == [{"precision": 0.93}]
    coverage = [row.coverage for row in found.targets[:3]]
    assert coverage == sorted(coverage, reverse=True)
    assert len(found.targets) == 6


def test_small_registry_is_compared_by_accuracy_and_not_calibrated() -> None:
    found = tune(registry_of(LINES), Settings(), {"static": WordHashEncoder()})

    assert found.best.overall == pytest.approx(found.best.accuracy)
    small = registry_of({"a": ["one", "two"], "b": ["three", "four"]})
    tiny = tune(small, Settings(), {"static": WordHashEncoder()})
    assert {row.note for row in tiny.targets} == {"too few utterances to calibrate"}
    assert {row.threshold for row in tiny.targets} == {None}
    assert tiny.chosen.choice == tiny.current


def test_single_utterance_keeps_the_current_choice() -> None:
    found = tune(registry_of({"a": ["one"]}), Settings(), {"static": WordHashEncoder()})

    assert found.chosen.choice.aggregation == "mean2"


def test_gain_is_computed_case_by_case() -> None:
    one, other = trial("a", [1, 1, 1, 0]), trial("b", [1, 0, 1, 0])

    gain = compared(one, other)
    assert gain.points == pytest.approx(25.0)
    assert gain.error == pytest.approx(25.0)
    assert not gain.certain
    assert compared(one, one) == Gain(0.0, 0.0)
    assert str(Gain(-0.01, 0.2)) == "+0.0 ± 0.2"


def test_faster_and_simpler_wins_within_one_standard_error() -> None:
    right = [1.0] * 50 + [0.0] * 50
    nearly = [1.0] * 49 + [0.0] * 51
    current = Combination("slow", "head", "mean2")
    slow, fast = trial("slow", right, microseconds=1000), trial("fast", nearly, microseconds=10)

    assert choose([slow, fast], current) is fast
    worse = trial("fast", [1.0] * 30 + [0.0] * 70, microseconds=10)
    assert choose([slow, worse], current) is slow
    simple = trial("slow", nearly, scorer="cosine", microseconds=1000)
    assert choose([slow, simple], current) is simple


def test_gain_of_each_setting_is_described(registry: Registry) -> None:
    alone = tune(registry, Settings(), {"static": WordHashEncoder()})
    assert alone.gain_of("encoder") == "the only value tried"
    assert " points against " in alone.gain_of("scorer")

    both = tune(registry, Settings(), {"static": WordHashEncoder(), "truncated": Truncated("truncated", "truncated-1")})
    assert both.gain_of("encoder").startswith("+")
    assert both.gain_of("encoder").endswith("points against truncated")
