"""Suppressions: `# lint: ignore RULE` in the YAML, and the setting `lint`.

`# lint: ignore RULE, RULE` at the end of a line applies to that line and to everything indented below it; on a line of
its own, to the next line. `# lint: ignore-file RULE` applies to its file. Text after ` -- ` is the author's reason.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import cast

from intentmatch.core.errors import Location, Problem, Severity, suggest
from intentmatch.lint.catalogue import CATALOGUE, NOT_IGNORED, problem
from intentmatch.registry.reading.comments import Comment

_VERBS = ("ignore", "ignore-file")
_LINT = re.compile(r"lint:\s*(\S*)\s*(.*)")
_HINT = "write `# lint: ignore RULE`; `intentmatch lint --rules` lists them"


@dataclass(frozen=True, slots=True)
class Suppression:
    """One rule that a comment ignores, and the lines to which the comment applies."""

    location: Location
    rule: str
    first: int
    """First line, counted from 1."""
    last: int | None
    """Last line, included; None for the end of the file."""

    def covers(self, found: Problem) -> bool:
        """Whether the suppression ignores a problem."""
        place = found.location
        return (
            found.rule == self.rule
            and place.path == self.location.path
            and self.first <= place.line
            and (self.last is None or place.line <= self.last)
        )


def read(comments: Mapping[str, Sequence[Comment]]) -> tuple[list[Suppression], list[Problem]]:
    """Return the suppressions in the comments of each file, and the problems of invalid comments."""
    suppressions: list[Suppression] = []
    problems: list[Problem] = []
    for path, comments_of_file in comments.items():
        for comment in comments_of_file:
            matched = _LINT.fullmatch(comment.text)
            if matched is None:
                continue
            place = Location(path, comment.line, comment.column)
            # Names of rules hold single dashes, so a reason needs two dashes with spaces around them.
            verb, names = matched[1], re.split(r"\s+--(?:\s|$)", f" {matched[2]}")[0]
            rules = [name for name in re.split(r"[,\s]+", names) if name]
            if verb not in _VERBS:
                problems.append(problem(place, "bad-suppression", f"`lint: {verb}` is unknown", _HINT))
            elif not rules:
                problems.append(problem(place, "bad-suppression", f"`lint: {verb}` names no rule", _HINT))
            lines = (1, None) if verb == "ignore-file" else (comment.first, comment.last)
            for rule in rules if verb in _VERBS else ():
                wrong = _wrong(place, rule)
                problems += wrong
                if not wrong:
                    suppressions.append(Suppression(place, rule, *lines))
    return suppressions, problems


def apply(problems: Sequence[Problem], suppressions: Sequence[Suppression]) -> list[Problem]:
    """Return the problems that are not ignored, and a problem for each suppression that ignores nothing."""
    kept = [problem for problem in problems if not any(each.covers(problem) for each in suppressions)]
    unused = [each for each in suppressions if not any(each.covers(problem) for problem in problems)]
    # A suppression of `unused-suppression` also applies to the suppressions on its lines.
    reports = [_unused(each) for each in unused if each.rule != "unused-suppression"]
    return kept + [report for report in reports if not any(each.covers(report) for each in suppressions)]


def level(
    problems: Sequence[Problem], levels: Mapping[str, str], place: Location
) -> tuple[list[Problem], list[Problem]]:
    """Apply the setting `lint`: return the problems with their new severities, and the problems of the setting.

    `levels` maps rules to severities or "off"; `place` is the place of the setting.
    """
    wrong = [found for rule in sorted(levels) for found in _wrong(place, rule)]
    chosen = {rule: severity for rule, severity in levels.items() if rule not in NOT_IGNORED}
    left = [
        replace(found, severity=cast("Severity", chosen.get(found.rule, found.severity)))
        for found in problems
        if chosen.get(found.rule) != "off"
    ]
    return left, wrong


def _wrong(place: Location, rule: str) -> list[Problem]:
    """Return a problem if a rule cannot be ignored, or does not exist."""
    if rule in NOT_IGNORED:
        message = f"{rule!r} cannot be ignored: a registry with this error does not load"
        return [problem(place, "bad-suppression", message, "correct the error that it reports")]
    if rule in CATALOGUE:
        return []
    nearest = suggest(rule, CATALOGUE)
    hint = f"did you mean `{nearest}`?" if nearest else _HINT
    return [problem(place, "bad-suppression", f"there is no rule {rule!r}", hint)]


def _unused(each: Suppression) -> Problem:
    message = f"{each.rule!r} finds nothing here to ignore"
    return problem(each.location, "unused-suppression", message, "remove it from the comment")
