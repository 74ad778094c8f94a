"""The findings of `lint` as a list of things to do: most valuable first, each with both lines and, often, a mend."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from intentmatch.core.errors import InputError, Location, Problem
from intentmatch.core.types import Utterance
from intentmatch.evaluation.insight.left_out_scores import LeftOutScores
from intentmatch.lint import CATALOGUE, FIXABLE, LintReport
from intentmatch.lint.moving import may_move
from intentmatch.lint.subject import Subject
from intentmatch.registry.editing.edits import AddUtterance, Edit, MoveUtterance, RemoveUtterance
from intentmatch.registry.editing.removal import RemoveItems

# A mend is weighed in milliseconds, but a registry may have thousands of near-duplicates.
_MOST_WEIGHED = 300
_SEVERITIES = ("error", "warning", "info")


@dataclass(frozen=True, slots=True)
class Shown:
    """A line that a finding is about."""

    intent: str
    line: Utterance

    def to_dict(self) -> dict[str, Any]:
        """Return plain JSON values."""
        place = self.line.location
        return {
            "intent": self.intent,
            "text": self.line.text,
            "language": self.line.language,
            "location": None if place is None else [place.path, place.line, place.column],
        }


@dataclass(frozen=True, slots=True)
class Mend:
    """Edits that end a finding."""

    title: str
    """What the edits do, such as "Move it to refund"."""
    edits: tuple[Edit, ...]
    gain: int | None = None
    """How many more other lines then find their intent when they are left out; None if it was not weighed."""


@dataclass(frozen=True, slots=True)
class Issue:
    """A finding of `lint`."""

    problem: Problem
    file: str
    """Name of its file, from the folder of the registry."""
    lines: tuple[Shown, ...] = ()
    """The lines that it is about, the one at its place first."""
    intents: tuple[str, ...] = ()
    """The intents that it is about."""
    misread: int = 0
    """The lines in question that another intent takes when they are left out: one, or those of the intents."""
    mend: Mend | None = None

    @property
    def id(self) -> str:
        """A name that stays the same while the files do."""
        place = self.problem.location
        return f"{self.problem.rule}:{self.file}:{place.line}:{place.column}"

    @property
    def why(self) -> str:
        """What the rule finds, in words."""
        return CATALOGUE[self.problem.rule].says

    @property
    def value(self) -> int:
        """Lines to be won: by the mend, or by what the author finds."""
        return max(self.misread, (self.mend and self.mend.gain) or 0)

    def to_dict(self) -> dict[str, Any]:
        """Return plain JSON values."""
        place, mend = self.problem.location, self.mend
        return {
            "id": self.id,
            "rule": self.problem.rule,
            "severity": self.problem.severity,
            "message": self.problem.message,
            "hint": self.problem.hint,
            "why": self.why,
            "file": self.file,
            "location": [place.path, place.line, place.column],
            "lines": [line.to_dict() for line in self.lines],
            "intents": list(self.intents),
            "value": self.value,
            "misread": self.misread,
            "mend": None if mend is None else {"title": mend.title, "gain": mend.gain},
        }


def issues(report: LintReport, base: Path) -> list[Issue]:
    """Return the findings of a report, the most valuable first; `base` is the folder that names of files start from.

    Errors come first, since a registry with one does not load. Then counts how many lines more would find their intent
    when they are left out: after the mend, or at most, where a decision of the author is needed.
    """
    found = [Issue(problem, _name(problem.location.path, base)) for problem in report.problems]
    if report.subject is not None:
        maker = _Maker(report.subject)
        found = maker.weighed(map(maker.described, found))
    fixable = [_fixed(issue) if issue.mend is None else issue for issue in found]

    def rank(issue: Issue) -> tuple[bool, int, bool, int, Problem]:
        severity = issue.problem.severity
        return (
            severity != "error",
            -issue.value,
            issue.mend is None,
            _SEVERITIES.index(severity),
            issue.problem,
        )

    return sorted(fixable, key=rank)


def mends(found: Sequence[Issue], ids: Collection[str]) -> list[Edit]:
    """Return the edits that end the issues with these ids.

    Only what `lint --fix` fixes may be mended together, because it changes no answer; each other mend is a decision of
    its own. Raises `InputError` for several of these, and for an id without a mend.
    """
    by_id: Mapping[str, Issue] = {issue.id: issue for issue in found}
    edits: list[Edit] = []
    places: set[Location] = set()
    for name in dict.fromkeys(ids):
        issue = by_id.get(name)
        if issue is None or issue.mend is None:
            raise InputError(f"there is no mend for {name!r}: the files may have changed since it was found")
        if len(set(ids)) > 1 and issue.problem.rule not in FIXABLE:
            raise InputError(f"{name!r} must be mended alone: its mend can change answers, so look at each one")
        for edit in issue.mend.edits:
            if isinstance(edit, RemoveItems):
                places.update(edit.places)
            elif edit not in edits:
                edits.append(edit)
    # Places are those of the files as they are, so these edits come first.
    return [*([RemoveItems(frozenset(places))] if places else []), *edits]


def _fixed(issue: Issue) -> Issue:
    """Add the mend of `lint --fix` to an issue that has one."""
    if issue.problem.rule not in FIXABLE or any(line.line.template is not None for line in issue.lines):
        return issue
    edit = RemoveItems(frozenset({issue.problem.location}))
    return replace(issue, mend=Mend("Remove the second one", (edit,), 0))


def _name(path: str, base: Path) -> str:
    return os.path.relpath(path, base).replace(os.sep, "/")


class _Maker:
    """Finds the lines that findings are about, and mends for them."""

    def __init__(self, subject: Subject) -> None:
        self._subject, self._per_line = subject, subject.per_line
        self._scores = LeftOutScores(self._per_line)
        # Reversed, so that of several lines at one place the first counts.
        self._row_at = {self._per_line.place(row): row for row in reversed(range(len(self._per_line.lines)))}
        self._number = subject.registry.positions
        self._intent_at = {intent.location: intent.name for intent in subject.registry}

    def described(self, issue: Issue) -> Issue:
        """Return a finding with its lines and a mend that is not weighed yet."""
        problem = issue.problem
        row = self._row_at.get(problem.location)
        if problem.rule == "overlapping-intents":
            # A problem has one place, and its message the names of both intents.
            quoted = problem.message.split("'")[1:4:2]
            return self._of_intents(issue, tuple(name for name in quoted if name in self._number))
        if row is None:
            name = self._intent_at.get(problem.location)
            return self._of_intents(issue, (name,) if name is not None else ())
        own = self._shown(row)
        other = self._other(problem.rule, row)
        lines = (own,) if other is None else (own, self._shown(other))
        intents = tuple(dict.fromkeys(line.intent for line in lines))
        misread = int(problem.rule == "misplaced-utterance")
        return replace(issue, lines=lines, intents=intents, misread=misread, mend=self._mend(problem, row, other))

    def weighed(self, found: Iterable[Issue]) -> list[Issue]:
        """Return the issues with the gains of their mends."""
        left, result = _MOST_WEIGHED, []
        for issue in found:
            edits = () if issue.mend is None else issue.mend.edits
            target = self._target(edits[0]) if len(edits) == 1 else None
            if issue.mend is None or target is None or not left:
                result.append(issue)
                continue
            left -= 1
            result.append(replace(issue, mend=replace(issue.mend, gain=self._scores.gain(*target))))
        return result

    def _target(self, edit: Edit) -> tuple[int, int | None] | None:
        """Return the row that an edit moves or removes, and the number of the intent that gets it."""
        if isinstance(edit, MoveUtterance):
            row = self._row_of(edit.text, edit.source)
            return None if row is None else (row, self._number[edit.to])
        if isinstance(edit, RemoveUtterance):
            row = self._row_of(edit.text, edit.intent)
            return None if row is None else (row, None)
        return None

    def _row_of(self, text: str, intent: str | None) -> int | None:
        if intent is None:
            return None
        rows = self._per_line.rows(self._number[intent]).tolist()
        return next((row for row in rows if self._per_line.lines[row].text == text), None)

    def _of_intents(self, issue: Issue, names: tuple[str, ...]) -> Issue:
        """Return a finding about intents, with their worst line and what attracts it."""
        numbers = [self._number[name] for name in names]
        left_out, owners = self._per_line.left_out, self._per_line.owners
        lines: tuple[Shown, ...] = ()
        rows = np.flatnonzero((left_out.lead > 0.0) & np.isin(owners, numbers))
        if len(numbers) > 1:
            rows = rows[np.isin(left_out.rival[rows], numbers)]
        if len(rows):
            worst = int(rows[left_out.lead[rows].argmax()])
            lines = (self._shown(worst), self._shown(int(left_out.nearest[worst])))
        return replace(issue, lines=lines, intents=names, misread=self._scores.misread(*numbers))

    def _shown(self, row: int) -> Shown:
        return Shown(self._per_line.owner(row).name, self._per_line.lines[row])

    def _other(self, rule: str, row: int) -> int | None:
        """Return the row of the line that a finding compares a line with."""
        if rule == "misplaced-utterance":
            return int(self._per_line.left_out.nearest[row])
        if rule == "duplicate-utterance":
            texts, rows = self._per_line.folded, self._per_line.rows(int(self._per_line.owners[row])).tolist()
            return next((other for other in rows if other != row and texts[other] == texts[row]), None)
        if rule in ("near-conflict", "near-duplicate"):
            near = self._subject.near.across if rule == "near-conflict" else self._subject.near.within
            return self._near_row(row, near)
        return None

    def _near_row(self, row: int, near: Any) -> int | None:
        place = self._per_line.place(row)
        for sentence in np.flatnonzero(near >= 0).tolist():
            if self._subject.place(sentence) == place:
                return self._row_at.get(self._subject.place(int(near[sentence])))
        return None

    def _mend(self, problem: Problem, row: int, other: int | None) -> Mend | None:
        """Return a mend for a finding about a line; None for a line of a template, which may stand for more."""
        line, name = self._per_line.lines[row], self._per_line.owner(row).name
        if line.template is not None or line.location is None:
            return None
        if problem.rule == "misplaced-utterance" and other is not None and may_move(self._per_line, row):
            rival = self._per_line.owner(other).name
            return Mend(f"Move it to {rival}", (MoveUtterance(line.text, rival, name, line.language),))
        if problem.rule == "near-duplicate":
            return Mend("Remove it", (RemoveUtterance(line.text, name, line.language),))
        if problem.rule == "near-conflict" and other is not None:
            # The line that is less at home goes.
            lead = self._per_line.left_out.lead
            loser = other if np.nan_to_num(lead[other], nan=-1.0) > np.nan_to_num(lead[row], nan=-1.0) else row
            of_loser, owner = self._per_line.lines[loser], self._per_line.owner(loser).name
            if of_loser.template is None:
                return Mend(f"Remove it from {owner}", (RemoveUtterance(of_loser.text, owner, of_loser.language),))
        if problem.rule == "other-language" and line.language is not None:
            # A problem has no field for a language; its hint quotes the code.
            code = problem.hint.split("`")[1]
            add = AddUtterance(name, line.text, code)
            return Mend(f"Move it to the lines in {code}", (RemoveUtterance(line.text, name, line.language), add))
        return None
