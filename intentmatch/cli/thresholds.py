"""`intentmatch explain-thresholds`: every threshold in use, its origin, and its expected precision and coverage."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from intentmatch.cli.commands import cli
from intentmatch.cli.options import FILE, json_option, load, set_option, takes_intents
from intentmatch.cli.render import output
from intentmatch.cli.render.progress import quiet_option
from intentmatch.core.errors import counted
from intentmatch.core.setting_values import FROM_TESTS
from intentmatch.learning.calibration import ASK_BELOW, RIVALS
from intentmatch.storage.postgres.address import Address

if TYPE_CHECKING:
    from intentmatch.learning.guessed_share import GuessedShare
    from intentmatch.learning.labelled_share import LabelledShare
    from intentmatch.learning.threshold_choice import LearnedCut
    from intentmatch.matching.matcher import Matcher
    from intentmatch.matching.policy import Cut

_UNKNOWN = "-"
# Shares below which a threshold is warned of.
_HARDLY_ANY, _FEW_ANSWERED = 0.01, 0.2


@cli.command("explain-thresholds")
@takes_intents(live=True)
@click.option(
    "--messages",
    "-m",
    multiple=True,
    type=FILE,
    help="Logged messages, a sample of all: guess how many are out of scope. .txt, .jsonl, .csv or .tsv; repeatable.",
)
@json_option
@set_option
@quiet_option
def explain_thresholds(
    intents: str | Address, messages: tuple[Path, ...], as_json: bool, settings: tuple[str, ...]
) -> None:
    """Show every threshold, its origin and its effect.

    A learned threshold applies to the probability that a message is in scope. A number that an author wrote applies to
    the score, a percentage to the confidence. The effect is measured with held-out utterances:

    \b
    precision  share of right answers among all answers, if the setting
               out_of_scope_share holds: so many messages are out of scope
    coverage   share of in-scope messages that are answered
    refused    share of out-of-scope messages that are refused, measured on
               utterances of left-out intents: out-of-scope recall in `eval`

    \b
    The row "other languages" is for messages in languages that the registry
    does not have: its cases are utterances moved as translations are.

    \b
    Examples:
      intentmatch explain-thresholds shop/
      intentmatch explain-thresholds shop/ --set target=precision=0.98
      intentmatch explain-thresholds shop/ --set target=balance --json
      intentmatch explain-thresholds shop/ --messages log.txt
    """
    from intentmatch.learning.labelled_share import labelled_share

    matcher = load(intents, settings)
    rows = list(_rows(matcher))
    guessed = _guessed(matcher, messages) if messages else None
    promise = matcher.artefact.calibration.promise
    share, labelled = matcher.artefact.out_of_scope_share, labelled_share(matcher.registry.tests)
    if as_json:
        found = {
            "target": dict(matcher.settings.target),
            "out_of_scope_share": share,
            "labelled_share": None if labelled is None else labelled._asdict(),
            "guessed_share": None if guessed is None else guessed._asdict(),
            "promise": None if promise is None else promise._asdict(),
            "learned_from_tests": matcher.artefact.calibration.labelled is not None,
        }
        output.as_json({**found, "margin": _margin(matcher), "thresholds": rows})
        return
    target = ", ".join(f"{name} {value}" for name, value in matcher.settings.target.items())
    output.say(f"target: {target} ({matcher.settings.origin('target')})")
    if promise is not None and promise.kept:
        output.say(f"  {promise}")
    output.say(f"out of scope: {share:.0%} of all messages ({matcher.settings.origin('out_of_scope_share')})")
    if note := _about_tests(matcher, labelled):
        output.say(f"  {note}")
    if messages:
        output.say(f"  {_about_messages(guessed, share)}")
    output.say(_asks(matcher))
    output.say("refuses: nothing like your lines, below the threshold")
    # Neither learned nor chosen by the author.
    if matcher.policy.default.on == "score" and not matcher.settings.threshold:
        output.say(_untrusted(matcher))
    output.echo()
    output.table(
        ["for", "threshold", "on", "from", "precision", "coverage", "refused", "cases"],
        [[row["for"], _threshold(row), row["on"].replace("_", " "), row["from"], *_effect(row)] for row in rows],
    )
    for warning in _warnings(rows[0], share):
        output.say(warning)
    for note, scopes in _notes(rows).items():
        more = f" and {len(scopes) - 1} more" if len(scopes) > 1 else ""
        output.say(output.style(f"  {scopes[0]}{more}: {note}", dim=True))


def _about_tests(matcher: Matcher, labelled: LabelledShare | None) -> str:
    """Say what the tests have to do with the share of out-of-scope messages; empty if nothing."""
    from intentmatch.learning.labelled_share import FEWEST

    artefact, count = matcher.artefact, len(matcher.registry.tests)
    if matcher.settings.out_of_scope_share == FROM_TESTS:
        if matcher.settings.promises:
            return "the usual share: `tests:` that a precision is promised by shape nothing else; set a number"
        if artefact.calibration.labelled is not None:
            return f"share and confidence curve learned from your `tests:`: {artefact.calibration.labelled}"
        more = FEWEST - count
        return (
            f"the usual share, until `tests:` has {FEWEST} messages: {more} more {'is' if more == 1 else 'are'} needed"
        )
    if labelled is None or labelled.low <= artefact.out_of_scope_share <= labelled.high:
        return ""
    return f"your `tests:` say {labelled}; set `out_of_scope_share: {FROM_TESTS}` if they are like your traffic"


def _guessed(matcher: Matcher, files: Sequence[Path]) -> GuessedShare | None:
    """Guess the share of out-of-scope messages in files of logged messages; None if it cannot be guessed."""
    from intentmatch.evaluation.messages import read_messages
    from intentmatch.learning.guessed_share import guess_share

    logged = {message.text for file in files for message in read_messages(file)}
    results = matcher.match_many(sorted(logged), top_k=1)
    if matcher.artefact.calibration.curve is None:
        return None
    # Noise and messages that the encoder does not know have no candidates.
    return guess_share([result.in_scope or 0.0 for result in results], matcher.artefact.out_of_scope_share)


def _about_messages(guessed: GuessedShare | None, share: float) -> str:
    """Say what share of logged messages looks out of scope."""
    from intentmatch.learning.guessed_share import FEWEST

    if guessed is None:
        return f"no guess from your messages: it needs {FEWEST} of them, and a registry with confidences"
    interval = f"{guessed.value:.0%} ({guessed.low:.0%} to {guessed.high:.0%})"
    guess = f"a guess: {interval} of your {guessed.messages} different messages look out of scope"
    if guessed.low <= share <= guessed.high:
        return guess
    return f"{guess}; label some of them before you change `out_of_scope_share`"


def _rows(matcher: Matcher) -> list[dict[str, Any]]:
    policy, learned = matcher.policy, matcher.artefact.calibration
    rows = [_row("everything else", policy.default, learned.cut)]
    rows += [_row(f"language {code}", cut, learned.by_language.get(code)) for code, cut in policy.by_language.items()]
    rows += [_row(f"intent {name}", cut, learned.by_intent.get(name)) for name, cut in policy.by_intent.items()]
    foreign = matcher.artefact.foreign
    return rows if foreign is None else [*rows, _row("other languages", matcher.foreign_policy.default, foreign.cut)]


def _row(scope: str, cut: Cut, learned: LearnedCut | None) -> dict[str, Any]:
    """Return a threshold with its measured effect, which is unknown for an author's threshold."""
    known = learned if learned is not None and (cut.value, cut.on) == (learned.value, learned.on) else None
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


def _threshold(row: dict[str, Any]) -> str:
    return f"{row['threshold']:.3f}" if row["on"] == "score" else f"{row['threshold']:.1%}"


def _margin(matcher: Matcher) -> dict[str, Any]:
    """Return the margin on the score; its value is None if the confidences decide when to ask."""
    return {
        "value": matcher.policy.margin,
        "on": "confidence" if matcher.policy.margin is None else "score",
        "origin": matcher.settings.origin("margin"),
    }


def _untrusted(matcher: Matcher) -> str:
    """Warn that refusals rest on a default, and say what to add."""
    count = matcher.registry.utterance_count
    few = f"{counted(count, 'utterance')} {'is' if count == 1 else 'are'}"
    return (
        f"warning: refusals cannot be trusted yet, because {few} too few to learn a threshold from\n"
        "  hint: most bots learn one from five intents with eight utterances each; `tests:` show what it refuses"
    )


def _warnings(common: dict[str, Any], share: float) -> Iterator[str]:
    """Warn of a threshold for most messages that refuses hardly anything, or nearly everything."""
    if share > 0.0 and common["refused"] is not None and common["refused"] < _HARDLY_ANY:
        yield (
            f"warning: the threshold refuses {common['refused']:.1%} of the utterances whose intent was left out\n"
            "  hint: add lines, choose a stricter `target`, or set `out_of_scope_share`"
        )
    if common["coverage"] is not None and common["coverage"] < _FEW_ANSWERED:
        yield (
            f"warning: the bot answers only {common['coverage']:.1%} of the messages in scope\n"
            "  hint: choose a softer `target`, or add lines to the intents"
        )


def _asks(matcher: Matcher) -> str:
    """Say when the bot asks which intent is meant."""
    margin = matcher.policy.margin
    if margin is not None:
        return f"margin: {margin:.3f} of the score ({matcher.settings.origin('margin')})"
    return f"asks: two of your intents, or {RIVALS}, if the first one has a confidence of at most {ASK_BELOW:.0%}"
