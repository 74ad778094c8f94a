"""The report of an evaluation: all outcomes, from which every metric is computed, with JSON reading and writing."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, Literal

from intentmatch.core.errors import InputError
from intentmatch.evaluation import metrics, robustness
from intentmatch.evaluation.curve import Hint, Point, hints
from intentmatch.evaluation.outcomes import Negative, Outcome
from intentmatch.evaluation.robustness import RobustnessPart
from intentmatch.evaluation.runner import Latency
from intentmatch.evaluation.traits import TraitRow

SCHEMA = 1

PartName = Literal["held_out", "tests"]
HELD_OUT: PartName = "held_out"
TESTS: PartName = "tests"
TITLES: Mapping[PartName, str] = {"held_out": "held-out utterances", "tests": "test cases"}


@dataclass(frozen=True)
class ReportPart:
    """Outcomes of one set of cases."""

    name: PartName
    outcomes: tuple[Outcome, ...]
    negatives: tuple[Negative, ...] = ()
    """Held-out negative utterances; the metrics do not include them."""
    not_asked: int = 0
    """Utterances that were not held out, because their intent would have no utterances left."""
    latency: Latency | None = None
    out_of_scope_share: float | None = None
    """Share of all messages that are expected to be out of scope, by which held-out cases are weighed; None: as many as
    there are, as among test cases and in reports of release 0.2."""
    cross_fitted: int = 0
    """Test cases that share and confidence curve are learned from; each was answered without learning from it."""

    @cached_property
    def numbers(self) -> metrics.Numbers:
        """Headline metrics."""
        return metrics.measure(self.outcomes, self.calibrated_on, self.out_of_scope_share)

    @cached_property
    def calibrated_on(self) -> tuple[Outcome, ...]:
        """Cases on which the calibration error is measured.

        For held-out utterances these are the in-scope cases only: half of the cases are out of scope, far more than
        a bot receives, and confidence is calibrated for the traffic of a bot.
        """
        return tuple(o for o in self.outcomes if o.in_scope) if self.name == HELD_OUT else self.outcomes

    def to_dict(self) -> dict[str, Any]:
        """Return plain JSON values."""
        outcomes = self.outcomes
        return {
            "name": self.name,
            "numbers": self.numbers._asdict(),
            "out_of_scope_share": self.out_of_scope_share,
            "cross_fitted": self.cross_fitted,
            "not_asked": self.not_asked,
            "latency": self.latency and asdict(self.latency),
            "intents": [row._asdict() for row in metrics.intent_rows(outcomes)],
            "languages": [row._asdict() for row in metrics.language_rows(outcomes)],
            "reliability": [b._asdict() for b in metrics.bins(self.calibrated_on)],
            "coverage": [step._asdict() for step in metrics.coverage_curve(outcomes)],
            "confusion": [
                {"expected": expected, "said": answer, "cases": count}
                for (expected, answer), count in metrics.confusion_counts(outcomes).items()
            ],
            "negatives": [{"owner": n.owner, "taken": n.taken, **n.outcome.to_dict()} for n in self.negatives],
            "cases": [outcome.to_dict() for outcome in outcomes],
        }

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> ReportPart:
        """Read the values that `to_dict` returned."""
        # The file may be of any program: an unknown name would fail later, and far from here.
        if values["name"] not in TITLES:
            raise ValueError(f"unknown part {values['name']!r}")
        return cls(
            name=values["name"],
            outcomes=tuple(map(Outcome.from_dict, values["cases"])),
            negatives=tuple(Negative(n["owner"], Outcome.from_dict(n)) for n in values["negatives"]),
            not_asked=int(values["not_asked"]),
            latency=values["latency"] and Latency(**values["latency"]),
            out_of_scope_share=values.get("out_of_scope_share"),
            cross_fitted=int(values.get("cross_fitted", 0)),
        )


@dataclass(frozen=True)
class Report:
    """One or two parts, an optional learning curve, facts about the evaluated registry, and its robustness."""

    parts: tuple[ReportPart, ...]
    curve: tuple[Point, ...] = ()
    facts: Mapping[str, Any] = field(default_factory=dict)
    robustness: tuple[RobustnessPart, ...] = ()
    """Parts of the robustness, in the order of `robustness.TITLES`; empty if it was not measured."""
    questions: tuple[TraitRow, ...] = ()
    """Metrics of the registry's questions; empty if there are none, or if only test cases were evaluated."""

    @property
    def headline(self) -> ReportPart:
        """The part that the pass/fail checks use: the test cases if there are any, else the held-out utterances."""
        return self.parts[-1]

    def part(self, name: PartName) -> ReportPart | None:
        """Return the part of this name, or None."""
        return next((part for part in self.parts if part.name == name), None)

    @cached_property
    def hints(self) -> list[Hint]:
        """Advice for single intents from the learning curve."""
        return hints(self.curve)

    def to_dict(self) -> dict[str, Any]:
        """Return plain JSON values."""
        return {
            "schema": SCHEMA,
            "facts": dict(self.facts),
            "parts": [part.to_dict() for part in self.parts],
            "learning_curve": [asdict(point) for point in self.curve],
            "hints": [hint._asdict() for hint in self.hints],
            "robustness": {
                "share": robustness.overall(self.robustness),
                "parts": [part.to_dict() for part in self.robustness],
            },
            "questions": [row._asdict() for row in self.questions],
        }

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> Report:
        """Read the values that `to_dict` returned. Raises `ValueError`, `KeyError` or `TypeError` if invalid."""
        if values["schema"] != SCHEMA:
            raise ValueError(f"its schema is {values['schema']}, but this release reads schema {SCHEMA}")
        return cls(
            tuple(map(ReportPart.from_dict, values["parts"])),
            tuple(Point(**point) for point in values["learning_curve"]),
            values["facts"],
            # Reports of earlier releases with this schema lack it.
            tuple(map(RobustnessPart.from_dict, values.get("robustness", {}).get("parts", ()))),
            tuple(TraitRow(**row) for row in values.get("questions", ())),
        )


def to_json(report: Report) -> str:
    """Serialize a report as one line of JSON, which `read_report` reads."""
    return json.dumps(report.to_dict(), ensure_ascii=False) + "\n"


def read_report(path: str | os.PathLike[str]) -> Report:
    """Read a report written by `intentmatch eval --json`. Raises `InputError` if the file is not such a report."""
    try:
        report = Report.from_dict(json.loads(Path(path).read_text(encoding="utf-8")))
    except OSError as error:
        raise InputError(f"{path} cannot be read: {error.strerror or error}") from error
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise InputError(f"{path} is not a report of `intentmatch eval --json`: {error}") from error
    if not report.parts:
        raise InputError(f"{path} is an empty report: it has no parts")
    return report


def assumed(report: Report) -> str | None:
    """Say which share of all messages is assumed to be out of scope, and from where; None if a report has no share."""
    share = report.facts.get("out_of_scope_share")
    if not isinstance(share, float):
        return None
    origin = report.facts.get("out_of_scope_share_from", "default")
    return f"{share:.0%} of all messages are assumed to be out of scope (out_of_scope_share: {origin})"
