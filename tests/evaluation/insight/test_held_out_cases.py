"""Held-out cases and the verdicts on them."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from fakes import WordHashEncoder

from intentmatch import Matcher
from intentmatch.evaluation.insight import held_out_cases as held_out_cases_module
from intentmatch.evaluation.insight.held_out_cases import ASKED, REFUSED, HeldOutCases, held_out_cases
from intentmatch.learning.calibration import Calibration
from intentmatch.learning.cross_validation import HeldOut


def test_each_line_is_a_case_with_and_without_its_intent(cases: HeldOutCases):
    known = cases.held_out.known

    assert sorted(cases.held_out.rows[known]) == sorted(cases.held_out.rows[~known])
    assert len(set(cases.held_out.rows[known])) == len(cases.registry.utterances)
    assert (cases.own[~known] == -1).all()
    owners = np.asarray(cases.registry.owners)
    assert (cases.own[known] == owners[cases.held_out.rows[known]]).all()


def test_verdicts_follow_the_threshold(cases: HeldOutCases):
    calibration = cases.artefact.calibration
    assert calibration.cut is not None
    verdicts = cases.verdicts(calibration)
    none = cases.verdicts(replace(calibration, cut=replace(calibration.cut, value=1.1), by_language={}, by_intent={}))

    assert {REFUSED} < set(verdicts.tolist())
    assert (none == REFUSED).all()
    refused = cases.in_scope(calibration)[verdicts == REFUSED]
    given = cases.in_scope(calibration)[(verdicts != REFUSED)]
    assert refused.max() <= given.max()


def test_threshold_of_an_intent_counts_for_its_cases(cases: HeldOutCases):
    calibration = cases.artefact.calibration
    assert calibration.cut is not None
    never = replace(calibration.cut, value=1.1)
    name = cases.names[int(cases.held_out.first[0])]

    verdicts = cases.verdicts(replace(calibration, by_intent={name: never}))

    assert (verdicts[cases.held_out.first == cases.names.index(name)] == REFUSED).all()
    assert (verdicts != REFUSED).any()


def test_right_is_the_own_intent_or_a_refusal(cases: HeldOutCases):
    verdicts = cases.verdicts(cases.artefact.calibration)
    right, known = cases.right(verdicts), cases.held_out.known

    assert (right[known] == (verdicts[known] == cases.own[known])).all()
    assert (right[~known] == (verdicts[~known] == REFUSED)).all()


def test_description_names_line_and_answers(cases: HeldOutCases):
    case = int(np.flatnonzero(~cases.held_out.known)[0])

    found = cases.describe(case, ASKED)

    assert found["text"] == cases.registry.utterances[int(cases.held_out.rows[case])].text
    assert found["expected"] == "out_of_scope"
    assert found["answer"] == "ambiguous"
    assert found["location"][0] == "bot.yaml"
    assert found["intent"] in cases.names


def test_without_a_curve_everything_is_matched(cases: HeldOutCases):
    assert (cases.verdicts(Calibration()) == cases.held_out.first).all()
    with pytest.raises(ValueError, match="too small"):
        cases.in_scope(Calibration())


def test_labelled_messages_are_cases_without_a_line(matcher: Matcher):
    from intentmatch.core.types import Case

    tests = tuple(Case(f"{verb} the thing {n}", "book" if n % 2 else None) for n in range(40) for verb in ("reserve",))
    registry = replace(matcher.registry, tests=tests, settings={"out_of_scope_share": "tests"})
    taught = Matcher.load(registry, encoder=WordHashEncoder(), cache="off")

    found = held_out_cases(taught.artefact, taught.encoder)

    assert (~found.of_lines).sum() == 40
    labelled = int(np.flatnonzero(~found.of_lines)[0])
    assert found.line(labelled) is None
    assert found.describe(labelled, REFUSED)["text"] == ""
    assert len(found.verdicts(taught.artefact.calibration)) == len(found.held_out.rows)


def test_cases_of_the_training_in_the_cache_are_those_of_another_cross_validation(
    cases: HeldOutCases, matcher: Matcher, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    cached = Matcher.load(matcher.registry, encoder=matcher.encoder, cache=str(tmp_path))
    monkeypatch.setattr(held_out_cases_module, "cross_validate_registry", None)

    found = held_out_cases(cached.artefact, cached.encoder).held_out

    for name in HeldOut.__slots__:
        np.testing.assert_array_equal(getattr(found, name), getattr(cases.held_out, name))
