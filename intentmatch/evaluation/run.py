"""Evaluate a matcher by cross-validation, on test cases, or both."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

import intentmatch
from intentmatch.core.shared_lines import SharedLines
from intentmatch.core.types import Case
from intentmatch.evaluation.cross_fit import cross_fitted
from intentmatch.evaluation.curve import case_of, learning_curve
from intentmatch.evaluation.folds import Folds, intent_folds, split, without, without_intents
from intentmatch.evaluation.outcomes import Negative, Outcome
from intentmatch.evaluation.reports.report import HELD_OUT, TESTS, Report, ReportPart
from intentmatch.evaluation.robustness import Tried, Variant, collect, unanswerable, variants
from intentmatch.evaluation.runner import Runner, StepProgress
from intentmatch.evaluation.traits import evaluate_traits
from intentmatch.learning.fold_plan import representative
from intentmatch.matching.snapshot import BaseMatcher
from intentmatch.runtime import steps


def evaluate(
    matcher: BaseMatcher,
    *,
    tests: Sequence[Case] | None = None,
    folds: Folds = 5,
    seed: int = 0,
    curve: bool = False,
    robustness: bool = True,
    progress: StepProgress | None = None,
) -> Report:
    """Evaluate on `tests`, or, without them, by cross-validation and on the registry's own tests.

    No message is evaluated by a matcher that was trained or calibrated on it. With `out_of_scope_share: tests`, tests
    are evaluated by matchers that learned from other tests, and held-out utterances with the learned share.
    `robustness` also tries variations of the held-out utterances or of `tests`, and messages that no intent should
    answer. `curve` adds a learning curve. `progress` is called with the name of the step, the messages done and the
    messages in total.

    Raises `InputError` for fewer than two folds.

    `robustness` was added in 0.3.0.
    """
    parts: list[ReportPart] = []
    tried: list[Tried] = []
    questions = evaluate_traits(matcher) if tests is None else ()
    if tests is None:
        part, tried = _cross_validated(matcher, folds, seed, progress, robustness=robustness)
        parts.append(part)
        tests = matcher.registry.tests
        # The variants of held-out lines are tried in the folds, where the lines themselves are missing.
        varied = []
    else:
        varied = variants(tests, matcher.registry, seed) if robustness else []
    if tests:
        parts.append(on_cases(matcher, tests, progress=progress))
    if robustness:
        # The last part is that of the tests, which were varied.
        originals = parts[-1].outcomes if varied else ()
        tried += _tried(matcher, [*varied, *unanswerable(matcher.registry, seed)], originals, progress)
    points = learning_curve(matcher, folds=folds, seed=seed, progress=progress) if curve else ()
    return Report(tuple(parts), points, _facts(matcher, folds, seed), collect(tried) if robustness else (), questions)


def held_out(
    matcher: BaseMatcher, *, folds: Folds = 5, seed: int = 0, progress: StepProgress | None = None
) -> ReportPart:
    """Evaluate each utterance by cross-validation, once in scope and once out of scope.

    In the first round the registry is built without the utterance and its near-duplicates. In the second round it is
    built without the whole intent, so the utterance is an out-of-scope message. Negative utterances are held out in the
    folds too. The sentences of a template are held out together, and a sample of them is evaluated.

    Raises `InputError` for fewer than two folds.
    """
    return _cross_validated(matcher, folds, seed, progress, robustness=False)[0]


def _cross_validated(
    matcher: BaseMatcher, folds: Folds, seed: int, progress: StepProgress | None, *, robustness: bool
) -> tuple[ReportPart, list[Tried]]:
    """Return the part of `held_out`; with `robustness` also variants of its messages, tried in the same folds."""
    registry, artefact = matcher.registry, matcher.artefact
    steps.report("finding near-duplicates")
    parts = split(registry, artefact.wide_vectors, artefact.negative_vectors, folds, seed)
    out_of_scope_rounds = intent_folds(registry, folds, seed)
    rows = np.flatnonzero(representative(registry.lines)).tolist()
    asked = {row: case_of(registry, row) for fold in parts.folds for row in fold.asked}
    varied = _by_row(list(asked), variants(list(asked.values()), registry, seed) if robustness else [])
    in_scope = len(rows) - len(parts.not_asked)
    # An intent without `when` that has the same line answers it in the absence of the other.
    without_answer = sorted({*rows} - SharedLines(registry).answered_elsewhere)
    out_of_scope = len(without_answer) if out_of_scope_rounds else 0
    total = in_scope + len(registry.negatives) + out_of_scope + sum(map(len, varied.values()))
    # Each intent is left out in one round.
    utterances, rounds = len(registry.utterances), len(parts.folds) + len(out_of_scope_rounds)
    left_out = sum(len(fold.utterances) for fold in parts.folds) + (utterances if out_of_scope_rounds else 0)
    to_build = rounds * utterances - left_out
    runner = Runner(matcher, "held-out utterances", total, progress, to_build=to_build)
    outcomes: list[Outcome] = []
    negatives: list[Negative] = []
    tried: list[Tried] = []
    for fold in parts.folds:
        inside = [asked[row] for row in fold.asked]
        negative_rows = sorted(fold.negatives)
        negative_cases = [_negative_case(matcher, row) for row in negative_rows]
        owners = [registry.intents[registry.negative_owners[row]].name for row in negative_rows]
        own = [(number, variant) for number, row in enumerate(fold.asked) for variant in varied.get(row, ())]
        found = runner.run(
            without(registry, fold),
            [*inside, *negative_cases],
            untimed=[variant.case for _, variant in own],
            meant=[*(str(case.expected) for case in inside), *owners],
        )
        outcomes += found[: len(inside)]
        negatives += map(Negative, owners, found[len(inside) : len(inside) + len(negative_cases)])
        of_variants = found[len(inside) + len(negative_cases) :]
        tried += (
            (variant, variant.trial(outcome, found[number]))
            for (number, variant), outcome in zip(own, of_variants, strict=True)
        )
    for names in out_of_scope_rounds:
        cases = [case for row in without_answer if (case := case_of(registry, row)).expected in names]
        outside = [replace(case, expected=None) for case in cases]
        meant = [str(case.expected) for case in cases]
        outcomes += runner.run(without_intents(registry, names), outside, meant=meant)
    part = ReportPart(
        HELD_OUT,
        tuple(outcomes),
        tuple(negatives),
        len(parts.not_asked),
        runner.latency,
        matcher.artefact.out_of_scope_share,
    )
    return part, tried


def on_cases(matcher: BaseMatcher, cases: Sequence[Case], *, progress: StepProgress | None = None) -> ReportPart:
    """Evaluate the matcher on test cases; a case that it learned from is answered as `cross_fitted` says."""
    runner = Runner(matcher, "test cases", len(cases), progress)
    outcomes: dict[int, Outcome] = {}
    learned = 0
    for positions, answers in cross_fitted(matcher, cases):
        found = runner.run_all([cases[position] for position in positions], matcher=answers)
        outcomes.update(zip(positions, found, strict=True))
        learned += 0 if answers is matcher else len(positions)
    in_order = tuple(outcomes[position] for position in range(len(cases)))
    return ReportPart(TESTS, in_order, latency=runner.latency, cross_fitted=learned)


def _by_row(rows: Sequence[int], varied: Sequence[Variant]) -> dict[int, list[Variant]]:
    """Group variants by the row of their original; `rows` are the rows of the messages that were varied."""
    found: dict[int, list[Variant]] = {}
    for variant in varied:
        if variant.position is not None:
            found.setdefault(rows[variant.position], []).append(variant)
    return found


def _tried(
    matcher: BaseMatcher, found: Sequence[Variant], originals: Sequence[Outcome], progress: StepProgress | None
) -> list[Tried]:
    """Try variants on the matcher itself; `originals` are the outcomes of the messages that were varied."""
    runner = Runner(matcher, "robustness", len(found), progress)
    outcomes = runner.run_all([], untimed=[variant.case for variant in found])
    return [
        (variant, variant.trial(outcome, None if variant.position is None else originals[variant.position]))
        for variant, outcome in zip(found, outcomes, strict=True)
    ]


def _negative_case(matcher: BaseMatcher, row: int) -> Case:
    negative = matcher.registry.negatives[row]
    return Case(negative.text, None, negative.language, negative.location)


def _facts(matcher: BaseMatcher, folds: Folds, seed: int) -> dict[str, object]:
    artefact = matcher.artefact
    promise = artefact.calibration.promise
    return {
        "intentmatch": intentmatch.__version__,
        "fingerprint": artefact.fingerprint,
        "registry": artefact.registry.fingerprint,
        "encoder": artefact.encoder_name,
        "reranker": matcher.reranker.name if matcher.reranker else "none",
        "intents": len(artefact.registry),
        "utterances": artefact.registry.utterance_count,
        "languages": list(artefact.registry.languages),
        "out_of_scope_share": round(artefact.out_of_scope_share, 4),
        "out_of_scope_share_from": matcher.settings.origin("out_of_scope_share"),
        "threshold": round(matcher.policy.default.value, 4),
        **({} if promise is None else {"promise": str(promise)}),
        "folds": folds,
        "seed": seed,
    }
