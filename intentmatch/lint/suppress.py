"""What an author does not want to hear: `# lint: ignore RULE` in the YAML, and the setting `lint`.

`# lint: ignore RULE, RULE` behind something speaks for its line and all that is indented below it; on a line of its
own, for what comes next. `# lint: ignore-file RULE` speaks for its file. Words behind ` -- ` are the author's reason.
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
    """One rule that one comment ignores."""

    location: Location
    rule: str
    first: int
    """Lines that it speaks for, from 1, both included."""
    last: int | None
    """None: to the end of the file."""

    def covers(self, found: Problem) -> bool:
        """Whether a problem is what it ignores."""
        place = found.location
        return (
            found.rule == self.rule
            and place.path == self.location.path
            and self.first <= place.line
            and (self.last is None or place.line <= self.last)
        )


def read(comments: Mapping[str, Sequence[Comment]]) -> tuple[list[Suppression], list[Problem]]:
    """The suppressions in the comments of each file, and what is wrong with some of them."""
    suppressions: list[Suppression] = []
    problems: list[Problem] = []
    for path, some in comments.items():
        for comment in some:
            matched = _LINT.fullmatch(comment.text)
            if matched is None:
                continue
            place = Location(path, comment.line, comment.column)
            verb, names = matched[1], re.split(r"\s+--(?:\s|$)", f" {matched[2]}")[0]
            rules = [name for name in re.split(r"[,\s]+", names) if name]
            if verb not in _VERBS:
                problems.append(problem(place, "bad-suppression", f"`lint: {verb}` is not known here", _HINT))
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
    """The problems that are not ignored, and one for each suppression that ignores none."""
    kept = [found for found in problems if not any(each.covers(found) for each in suppressions)]
    unused = [each for each in suppressions if not any(each.covers(found) for found in problems)]
    # A suppression may ignore that another is not used, or that it is not itself.
    complaints = [_unused(each) for each in unused if each.rule != "unused-suppression"]
    return kept + [found for found in complaints if not any(each.covers(found) for each in suppressions)]


def level(
    problems: Sequence[Problem], levels: Mapping[str, str], place: Location
) -> tuple[list[Problem], list[Problem]]:
    """The problems with the severities that the setting `lint` gives to their rules, and what is wrong with it.

    `place` is where the setting stands.
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
    """Why a rule cannot be ignored, if it cannot."""
    if rule in NOT_IGNORED:
        message = f"{rule!r} cannot be ignored: no registry loads with it"
        return [problem(place, "bad-suppression", message, "mend what it finds")]
    if rule in CATALOGUE:
        return []
    nearest = suggest(rule, CATALOGUE)
    hint = f"did you mean `{nearest}`?" if nearest else _HINT
    return [problem(place, "bad-suppression", f"there is no rule {rule!r}", hint)]


def _unused(each: Suppression) -> Problem:
    message = f"{each.rule!r} finds nothing here that could be ignored"
    return problem(each.location, "unused-suppression", message, "remove it from the comment")
