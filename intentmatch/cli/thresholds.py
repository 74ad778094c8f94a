"""`intentmatch explain-thresholds`: every threshold in use, its origin, and its expected precision and coverage."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from intentmatch.cli.commands import cli
from intentmatch.cli.options import json_option, load, set_option, takes_intents
from intentmatch.cli.render import output

if TYPE_CHECKING:
    from intentmatch.learning.calibration import LearnedCut
    from intentmatch.matching.matcher import Matcher
    from intentmatch.matching.policy import Cut

_UNKNOWN = "-"


@cli.command("explain-thresholds")
@takes_intents()
@json_option
@set_option
def explain_thresholds(intents: str, as_json: bool, settings: tuple[str, ...]) -> None:
    """Show every threshold, its origin and its effect.

    A learned threshold applies to the confidence, an author's threshold to the score. The effect is measured with
    held-out utterances:

    \b
    precision  share of right answers among all answers, if one message in
               eleven is out of scope
    coverage   share of in-scope messages that are answered
    refused    share of utterances of left-out intents that are out of scope

    \b
    The row "other languages" is for messages in languages that the registry
    does not have: its cases are utterances moved as translations are.

    \b
    Examples:
      intentmatch explain-thresholds shop/
      intentmatch explain-thresholds shop/ --set target=precision=0.98
      intentmatch explain-thresholds shop/ --set target=balance --json
    """
    matcher = load(intents, settings)
    rows = list(_rows(matcher))
    if as_json:
        output.as_json({"target": dict(matcher.settings.target), "margin": _margin(matcher), "thresholds": rows})
        return
    target = ", ".join(f"{name} {value}" for name, value in matcher.settings.target.items())
    click.echo(f"target: {target} ({matcher.settings.origin('target')})")
    margin = _margin(matcher)
    click.echo(f"margin: {margin['value']:.3f} of the {margin['on']} ({margin['origin']})")
    click.echo()
    output.table(
        ["for", "threshold", "on", "from", "precision", "coverage", "refused", "cases"],
        [[row["for"], f"{row['threshold']:.3f}", row["on"], row["from"], *_effect(row)] for row in rows],
    )
    for note, scopes in _notes(rows).items():
        more = f" and {len(scopes) - 1} more" if len(scopes) > 1 else ""
        click.echo(click.style(f"  {scopes[0]}{more}: {note}", dim=True))


def _rows(matcher: Matcher) -> list[dict[str, Any]]:
    policy, learned = matcher.policy, matcher.artefact.calibration
    rows = [_row("everything else", policy.default, learned.cut)]
    rows += [_row(f"language {code}", cut, learned.by_language.get(code)) for code, cut in policy.by_language.items()]
    rows += [_row(f"intent {name}", cut, learned.by_intent.get(name)) for name, cut in policy.by_intent.items()]
    foreign = matcher.artefact.foreign
    return rows if foreign is None else [*rows, _row("other languages", matcher.foreign_policy.default, foreign.cut)]


def _row(scope: str, cut: Cut, learned: LearnedCut | None) -> dict[str, Any]:
    """Return a threshold with its measured effect, which is unknown for an author's threshold."""
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
    """Return each note with the scopes that it is about."""
    notes: dict[str, list[str]] = {}
    for row in rows:
        if row["note"]:
            notes.setdefault(row["note"], []).append(row["for"])
    return notes


def _effect(row: dict[str, Any]) -> list[str]:
    shares = [_UNKNOWN if row[name] is None else f"{row[name]:.1%}" for name in ("precision", "coverage", "refused")]
    return [*shares, _UNKNOWN if row["cases"] is None else str(row["cases"])]


def _margin(matcher: Matcher) -> dict[str, Any]:
    learned = not matcher.policy.margin_on_score
    return {
        "value": matcher.policy.margin,
        "on": "evidence" if learned else "score",
        "origin": "learned from this registry" if learned else matcher.settings.origin("margin"),
    }
