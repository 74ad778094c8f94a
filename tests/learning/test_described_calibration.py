"""Confidences of a registry that has only descriptions."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml

from intentmatch import Intent, Matcher, Registry
from intentmatch.registry.descriptions import described

DESCRIPTIONS = yaml.safe_load((Path(__file__).parents[1] / "benchmarks" / "descriptions.yaml").read_text())["banking77"]


def bot(count: int, **settings: object) -> Matcher:
    """A bot of the first descriptions of BANKING77."""
    intents = (Intent(name, (), description=text) for name, text in [*DESCRIPTIONS.items()][:count])
    return Matcher.load(described(Registry(tuple(intents))), cache="off", **settings)


@pytest.fixture(scope="module")
def bank() -> Matcher:
    return bot(40)


def test_descriptions_alone_have_confidences(bank: Matcher) -> None:
    calibration = bank.artefact.calibration
    assert bank.artefact.trained_head is not None
    assert calibration.cut is not None
    assert "measured with other bots" in calibration.cut.note
    assert bank.policy.default.origin == "learned from other bots"
    right, strange = bank.match("why is my cash withdrawal still pending"), bank.match("how tall is the Eiffel tower")
    assert right.confidence is not None
    assert strange.in_scope is not None
    assert right.in_scope is not None
    assert right.in_scope > strange.in_scope
    assert strange.verdict == "out_of_scope"
    assert sum(one.confidence or 0.0 for one in right.candidates) <= 1.0


def test_expected_share_of_strangers_lowers_confidences_and_nothing_is_refused_without_any(bank: Matcher) -> None:
    message = "why is my cash withdrawal still pending"
    found = [bot(40, out_of_scope_share=share).match(message).in_scope or 0.0 for share in (0.5, 0.0)]
    assert found[0] < (bank.match(message).in_scope or 0.0) < found[1]
    assert bot(40, out_of_scope_share=0.0).match("how tall is the Eiffel tower").verdict != "out_of_scope"


def test_few_descriptions_are_decided_by_their_scores() -> None:
    assert bot(5).artefact.calibration.curve is None


def test_promised_precision_is_not_taken_from_other_registries() -> None:
    target = {"precision": 0.9, "confidence": 0.9}
    assert bot(40, target=target).artefact.calibration.curve is None
