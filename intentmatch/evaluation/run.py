"""Evaluations: of a registry by itself, of a set of cases, or of both."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

import intentmatch
from intentmatch.core.types import Case
from intentmatch.evaluation.curve import case_of, learning_curve
from intentmatch.evaluation.folds import Folds, left_out, split, without, without_intents
from intentmatch.evaluation.outcomes import Negative, Outcome
from intentmatch.evaluation.reports.report import HELD_OUT, TESTS, Part, Report
from intentmatch.evaluation.runner import Asker, Tell
from intentmatch.learning.cross_validation import representative
from intentmatch.matching.matcher import Matcher


def evaluate(
    matcher: Matcher,
    *,
    tests: Sequence[Case] | None = None,
    folds: Folds = 5,
    seed: int = 0,
    curve: bool = False,
    tell: Tell | None = None,
) -> Report:
    """Ask `tests` alone, or without them the held-out utterances and the registry's own tests.

    Nothing is trained or tuned on what is asked. Raises `InputError` for fewer than two folds.
    """
    parts = []
    if tests is None:
        parts.append(held_out(matcher, folds=folds, seed=seed, tell=tell))
        tests = matcher.registry.tests
    if tests:
        parts.append(on_cases(matcher, tests, tell=tell))
    points = learning_curve(matcher, folds=folds, seed=seed, tell=tell) if curve else ()
    return Report(tuple(parts), points, _facts(matcher, folds, seed))


def held_out(matcher: Matcher, *, folds: Folds = 5, seed: int = 0, tell: Tell | None = None) -> Part:
    """Each utterance asked twice, of registries built without it: once with its intent there, once with that left out.

    The second time it is a message out of scope. Negative utterances are held out in the folds too. Of the sentences of
    a template, which are all held out together, a few are asked.
    """
    registry, artefact = matcher.registry, matcher.artefact
    parts = split(registry, artefact.wide_vectors, artefact.negative_vectors, folds, seed)
    strangers = left_out(registry, folds, seed)
    worth = np.flatnonzero(representative(registry.lines)).tolist()
    total = len(worth) - len(parts.not_asked) + len(registry.negatives) + (len(worth) if strangers else 0)
    asker = Asker(matcher, "held-out utterances", total, tell)
    outcomes: list[Outcome] = []
    negatives: list[Negative] = []
    for fold in parts.folds:
        inside = [case_of(registry, row) for row in fold.asked]
        against = sorted(fold.negatives)
        found = asker.ask(without(registry, fold), [*inside, *(_negative_case(matcher, row) for row in against)])
        outcomes += found[: len(inside)]
        owners = (registry.intents[registry.negative_owners[row]].name for row in against)
        negatives += map(Negative, owners, found[len(inside) :])
    for names in strangers:
        cases = (case_of(registry, row) for row in worth)
        outside = [replace(case, expected=None) for case in cases if case.expected in names]
        outcomes += asker.ask(without_intents(registry, names), outside)
    return Part(HELD_OUT, tuple(outcomes), tuple(negatives), len(parts.not_asked), asker.latency)


def on_cases(matcher: Matcher, cases: Sequence[Case], *, tell: Tell | None = None) -> Part:
    """The cases asked of the matcher as it is."""
    asker = Asker(matcher, "test cases", len(cases), tell)
    outcomes = asker.ask_all(cases)
    return Part(TESTS, tuple(outcomes), latency=asker.latency)


def _negative_case(matcher: Matcher, row: int) -> Case:
    negative = matcher.registry.negatives[row]
    return Case(negative.text, None, negative.language, negative.location)


def _facts(matcher: Matcher, folds: Folds, seed: int) -> dict[str, object]:
    artefact = matcher.artefact
    return {
        "intentmatch": intentmatch.__version__,
        "fingerprint": artefact.fingerprint,
        "registry": artefact.registry.fingerprint,
        "encoder": artefact.encoder_name,
        "reranker": matcher.reranker.name if matcher.reranker else "none",
        "intents": len(artefact.registry),
        "utterances": len(artefact.registry.utterances),
        "languages": list(artefact.registry.languages),
        "threshold": round(matcher.policy.default.value, 4),
        "folds": folds,
        "seed": seed,
    }
