"""`intentmatch explain-thresholds`: every cut in use, where it came from, and what is to be expected of it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from intentmatch.cli import show
from intentmatch.cli.commands import cli, intents_argument, json_option, load, set_option

if TYPE_CHECKING:
    from intentmatch.learning.calibration import LearnedCut
    from intentmatch.matching.matcher import Matcher
    from intentmatch.matching.policy import Cut

_NOTHING = "-"


@cli.command("explain-thresholds")
@intents_argument
@json_option
@set_option
def explain_thresholds(intents: str, as_json: bool, settings: tuple[str, ...]) -> None:
    """Show the cuts of INTENTS and what held-out utterances say about them.

    A cut is held against the confidence where it was learned, and against the score where the author wrote it.
    Precision: the share of right answers among those given, where one message in eleven is out of scope. Coverage: the
    share of messages in scope that are answered. Refused: the share of utterances of left-out intents that are refused.

    \b
    Examples:
      intentmatch explain-thresholds shop/
      intentmatch explain-thresholds shop/ --set target=precision=0.98
      intentmatch explain-thresholds shop/ --set target=balance --json
    """
    matcher = load(intents, settings)
    rows = list(_rows(matcher))
    if as_json:
        show.as_json({"target": dict(matcher.settings.target), "margin": _margin(matcher), "thresholds": rows})
        return
    wanted = ", ".join(f"{name} {value}" for name, value in matcher.settings.target.items())
    click.echo(f"target: {wanted} ({matcher.settings.origin('target')})")
    margin = _margin(matcher)
    click.echo(f"margin: {margin['value']:.3f} of the {margin['on']} ({margin['origin']})")
    click.echo()
    show.table(
        ["for", "threshold", "on", "from", "precision", "coverage", "refused", "cases"],
        [[row["for"], f"{row['threshold']:.3f}", row["on"], row["from"], *_expected(row)] for row in rows],
    )
    for note, scopes in _notes(rows).items():
        more = f" and {len(scopes) - 1} more" if len(scopes) > 1 else ""
        click.echo(click.style(f"  {scopes[0]}{more}: {note}", dim=True))


def _rows(matcher: Matcher) -> list[dict[str, Any]]:
    policy, learned = matcher.policy, matcher.artefact.calibration
    rows = [_row("everything else", policy.default, learned.cut)]
    rows += [_row(f"language {code}", cut, learned.by_language.get(code)) for code, cut in policy.by_language.items()]
    rows += [_row(f"intent {name}", cut, learned.by_intent.get(name)) for name, cut in policy.by_intent.items()]
    return rows


def _row(scope: str, cut: Cut, learned: LearnedCut | None) -> dict[str, Any]:
    """A cut with what was measured of it; nothing is known of one that the author wrote."""
    known = learned if cut.on == "confidence" else None
    return {
        "for": scope,
        "threshold": cut.value,
        "on": cut.on,
        "from": cut.origin,
        "precision": known.precision if known else None,
        "coverage": known.coverage if known else None,
        "refused": known.refused if known else None,
        "cases": known.cases if known else None,
        "note": known.note if known else "",
    }


def _notes(rows: list[dict[str, Any]]) -> dict[str, list[str]]:
    """Each note with the cuts that it is about."""
    notes: dict[str, list[str]] = {}
    for row in rows:
        if row["note"]:
            notes.setdefault(row["note"], []).append(row["for"])
    return notes


def _expected(row: dict[str, Any]) -> list[str]:
    shares = [_NOTHING if row[name] is None else f"{row[name]:.1%}" for name in ("precision", "coverage", "refused")]
    return [*shares, _NOTHING if row["cases"] is None else str(row["cases"])]


def _margin(matcher: Matcher) -> dict[str, Any]:
    learned = not matcher.policy.margin_on_score
    return {
        "value": matcher.policy.margin,
        "on": "evidence" if learned else "score",
        "origin": "learned from this registry" if learned else matcher.settings.origin("margin"),
    }
