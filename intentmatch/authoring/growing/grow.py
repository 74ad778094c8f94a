"""Ask a chat model for lines, filter them, and try those that are left."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from intentmatch.authoring.effect import Effect
from intentmatch.authoring.growing.blind_question import confirmed
from intentmatch.authoring.growing.line_filter import LineFilter, Proposal
from intentmatch.authoring.growing.tasks import Task
from intentmatch.authoring.growing.trial import tried
from intentmatch.authoring.growing.writer import LineWriter
from intentmatch.core.errors import ModelUnavailableError
from intentmatch.matching.matcher import Matcher
from intentmatch.runtime import steps

LINES = 5
"""Default number of lines to ask for in each task."""
EFFECT_SECONDS = 60.0
"""Default time limit of each comparison of answers; what is not reached by then is not compared."""


@dataclass(frozen=True, slots=True)
class Grown:
    """What became of the lines of a chat model."""

    proposals: tuple[Proposal, ...]
    """Every line that the model wrote, kept or refused with a reason."""
    unanswered: tuple[tuple[Task, str], ...]
    """Tasks without an answer, with the reason."""
    effect: Effect | None
    """The effect of all kept lines together; None if no line is kept."""

    @property
    def kept(self) -> list[Proposal]:
        """The lines that are kept."""
        return [one for one in self.proposals if one.refused is None]

    @property
    def refused(self) -> list[Proposal]:
        """The lines that are left out."""
        return [one for one in self.proposals if one.refused is not None]


def grow(
    matcher: Matcher,
    path: Path,
    tasks: Sequence[Task],
    writer: LineWriter,
    *,
    lines: int = LINES,
    seconds: float = EFFECT_SECONDS,
) -> Grown:
    """Ask for at most `lines` lines for each task, and keep those that pass the filter and do no harm.

    The model is asked a second time about the lines that pass the filter: which intent they belong to, see `confirmed`.

    `path` is the folder or file of YAML that `matcher` was loaded from. Nothing is written. `seconds` limits each
    comparison of answers. A task that the model does not answer is left out; raises `ModelUnavailableError` if it
    answers none, and `RegistryError` if a file of the registry is not valid YAML.
    """
    line_filter = LineFilter(matcher)
    found: list[Proposal] = []
    unanswered: list[tuple[Task, str]] = []
    for number, task in enumerate(tasks):
        steps.report("asking the chat model", number, len(tasks))
        try:
            written = writer.write(task, lines)
        except ModelUnavailableError as error:
            unanswered.append((task, str(error)))
            continue
        filtered = line_filter.filtered(task, written)
        judged = confirmed(matcher, writer, filtered)
        pairs = zip(filtered, judged, strict=True)
        # A line that the model disowns must not refuse later ones as repetitions.
        line_filter.forget(was for was, now in pairs if was.refused is None and now.refused is not None)
        found += judged
    if tasks and len(unanswered) == len(tasks):
        raise ModelUnavailableError(unanswered[0][1])
    steps.report("comparing the answers")
    done = tried(matcher, path, found, writer.name, seconds=seconds)
    return Grown(done.proposals, tuple(unanswered), done.effect)


def to_dicts(proposals: Iterable[Proposal]) -> list[dict[str, Any]]:
    """Return proposals as plain JSON values."""
    return [
        {
            "intent": one.task.intent,
            "language": one.task.language,
            "kind": one.task.kind,
            "text": one.text,
            "confidence": one.confidence,
            "kept": one.refused is None,
            "reason": one.refused,
        }
        for one in proposals
    ]
