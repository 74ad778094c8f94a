"""Plan the edits that add proposed lines, and leave lines out until the effect on the answers is not negative."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from intentmatch.authoring.effect import Effect, effect_of
from intentmatch.authoring.growing.line_filter import Proposal
from intentmatch.core.errors import InputError
from intentmatch.matching.matcher import Matcher
from intentmatch.registry.editing.edits import AddUtterance
from intentmatch.registry.editing.plan import Changes, plan

COMMENT = "grown"
"""How the comment beside an added line begins."""

_HARMS = "it makes more answers wrong than right"
_HARMS_TOGETHER = "with the other lines of its intent it makes more answers wrong than right"
_ALL_HARM = "all lines together make more answers wrong than right"


@dataclass(frozen=True, slots=True)
class Tried:
    """Proposals with what was found about them, and the effect of those that are kept."""

    proposals: tuple[Proposal, ...]
    effect: Effect | None
    """None if no proposal is kept."""


def edits_of(proposals: Sequence[Proposal], model: str) -> list[AddUtterance]:
    """Return an edit for each kept proposal, with a comment that names the kind of task and the model."""
    # The name is the server's and becomes a comment of YAML.
    name = "".join(character for character in model if character.isprintable())
    return [
        AddUtterance(one.task.intent, one.text, one.task.language, comment=f"{COMMENT}: {one.task.kind}, {name}")
        for one in proposals
        if one.refused is None
    ]


def planned(path: Path, proposals: Sequence[Proposal], model: str) -> tuple[list[Proposal], Changes]:
    """Return the proposals, those that cannot be written refused, and the changes that write the others.

    Raises `RegistryError` if a file of the registry is not valid YAML.
    """
    # All at once first, since each plan reads all files.
    try:
        changes = plan(path, edits_of(proposals, model))
        if not changes.errors:
            return list(proposals), changes
    except InputError:
        pass
    # One of them cannot be written, such as into a list that an alias repeats: find it.
    kept: list[Proposal] = []
    for one in proposals:
        try:
            errors = plan(path, edits_of([*kept, one], model)).errors
            refused = str(errors[0].message) if errors else one.refused
        except InputError as error:
            refused = str(error)
        kept.append(replace(one, refused=refused))
    return kept, plan(path, edits_of(kept, model))


def tried(matcher: Matcher, path: Path, proposals: Sequence[Proposal], model: str, *, seconds: float) -> Tried:
    """Refuse lines until at least as many answers become right as wrong, and no test case becomes wrong.

    First a line is refused if it is the nearest line of more answers that became wrong than right. If that is not
    enough, all lines of the intents that lost answers are refused, and then all lines. `seconds` limits each of at most
    four comparisons, see `effect_of`.
    """
    current = list(proposals)
    blames: list[_Blame] = [_harmful_lines, _lines_of_harmed_intents, _all_lines]
    while True:
        current, changes = planned(path, current, model)
        if all(one.refused is not None for one in current):
            return Tried(tuple(current), None)
        effect = effect_of(matcher, changes.registry, seconds=seconds)
        refused: dict[int, str] = {}
        # From the mildest blame to the harshest; each is used once, so that this ends.
        while blames and not refused:
            refused = blames.pop(0)(effect, current)
        if not refused:
            return Tried(tuple(current), effect)
        current = [replace(one, refused=refused.get(at, one.refused)) for at, one in enumerate(current)]


_Blame = Callable[[Effect, Sequence[Proposal]], dict[int, str]]


def _harmful_lines(effect: Effect, proposals: Sequence[Proposal]) -> dict[int, str]:
    """Return the lines that are nearest to more answers that became wrong than right, with the reason."""
    places = {(one.task.intent, one.text): at for at, one in enumerate(proposals) if one.refused is None}
    harm: Counter[int] = Counter()
    for change in effect.diff.changes if effect.diff else ():
        nearest = change.new.nearest
        at = places.get((change.new.leading or "", nearest.text)) if nearest else None
        # A change from one wrong answer to another is neither.
        if at is not None and change.effect != "other":
            harm[at] += 1 if change.effect == "worse" else -1
    return {at: _HARMS for at, net in harm.items() if net > 0}


def _lines_of_harmed_intents(effect: Effect, proposals: Sequence[Proposal]) -> dict[int, str]:
    """Return all lines of the intents that took or lost more answers than they won, if the whole effect is negative."""
    if effect.diff is None or not effect.diff.failed("worse"):
        return {}
    harm: Counter[str] = Counter()
    for change in effect.diff.changes:
        if change.effect != "other":
            expected = change.new.case.expected
            for intent in {change.new.leading, expected if isinstance(expected, str) else None} - {None}:
                harm[intent or ""] += 1 if change.effect == "worse" else -1
    return {
        at: _HARMS_TOGETHER for at, one in enumerate(proposals) if one.refused is None and harm[one.task.intent] > 0
    }


def _all_lines(effect: Effect, proposals: Sequence[Proposal]) -> dict[int, str]:
    """Return all lines if the whole effect is negative."""
    if effect.diff is None or not effect.diff.failed("worse"):
        return {}
    return {at: _ALL_HARM for at, one in enumerate(proposals) if one.refused is None}
