"""A review: one question, and how good the answers are."""

from __future__ import annotations

from typing import TYPE_CHECKING

from intentmatch.cli.render import output
from intentmatch.core.errors import counted

if TYPE_CHECKING:
    from intentmatch.review import Quality, QualityRow, Question, Questions

_UNKNOWN = "-"


def question(asked: Question, number: int, of: int) -> None:
    """Print a message, how the bot answered, and the intents that a number stands for."""
    from intentmatch.inbox.proposals import times

    facts = [f"received {times(asked.count)} in the sample", asked.language or ""]
    output.say(output.style(f"{number}/{of}  “{asked.text}”", bold=True) + "  " + ", ".join(filter(None, facts)))
    sure = "" if asked.confidence is None else f", confidence {asked.confidence:.0%}"
    answer = {"matched": f"matched {asked.intent}", "ambiguous": "asked which is meant"}.get(
        asked.verdict, "out of scope"
    )
    output.say(f"  → {answer}{sure}")
    if asked.verdict != "matched" and asked.nearest:
        output.say("    " + "   ".join(f"{place}: {name}" for place, name in enumerate(asked.nearest, 1)))


def report(questions: Questions, found: Quality) -> None:
    """Print precision, coverage and share of out-of-scope messages, or how many judgements are missing."""
    if not (questions.open or questions.answered or questions.skipped or questions.hashed):
        output.say(
            "The sample is empty. The setting `inbox_sample` keeps a share of all answers, as in inbox_sample=0.05."
        )
        return
    rest = [f"{counted(len(questions.open), 'question')} open"]
    rest += [f"{questions.skipped} skipped"] if questions.skipped else []
    rest += [f"{counted(questions.hashed, 'answer')} stored as hashes, without text"] if questions.hashed else []
    period = ""
    if found.since is not None and found.until is not None:
        # A day is named once if the period begins and ends on it.
        days = dict.fromkeys(f"{moment:%Y-%m-%d}" for moment in (found.since, found.until))
        period = f" of {' to '.join(days)}"
    output.say(f"{counted(found.judged, 'judged message')}{period}; {', '.join(rest)}")
    if found.overall is None:
        output.say(f"Numbers come from 30 judged messages on: {found.more} more.")
        return
    output.echo()
    rows = [("all messages", found.overall)]
    rows += [(f"language {row.name}", row) for row in found.languages]
    rows += [(f"intent {row.name}", row) for row in found.intents]
    output.table(["for", "precision", "coverage", "out of scope"], [_cells(name, row) for name, row in rows])
    output.say(output.style("  with 95% intervals", dim=True))


def _cells(name: str, row: QualityRow) -> list[str]:
    return [name, *(_UNKNOWN if one is None else str(one) for one in (row.precision, row.coverage, row.out_of_scope))]
