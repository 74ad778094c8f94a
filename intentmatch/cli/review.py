"""`intentmatch review`: judge a sample of all answers, and see how good the answers are."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Literal, TypeAlias

import click

from intentmatch.cli.commands import cli
from intentmatch.cli.edit import dry_run_option, planned, workspace_of, write, yes_option
from intentmatch.cli.inbox import inbox_file_argument, open_inbox
from intentmatch.cli.options import OUTPUT_FILE, json_option, load, set_option, takes_intents
from intentmatch.cli.render import output
from intentmatch.cli.render import review as render
from intentmatch.cli.render.progress import quiet_option
from intentmatch.core.errors import InputError, counted, suggest

if TYPE_CHECKING:
    from intentmatch.inbox import Inbox
    from intentmatch.inbox.sample import Judged
    from intentmatch.matching.matcher import Matcher
    from intentmatch.review import Question, Questions

_Reply: TypeAlias = "Literal['undo', 'stop'] | tuple[Judged, str | None]"
_REPLIES: Mapping[str, _Reply] = {"o": ("meant", None), "s": ("skipped", None), "u": "undo", "q": "stop"}
_KEYS = "Enter: right   o: out of scope   NUMBER or NAME: it means this intent   s: skip   u: undo   q: stop"


@cli.command()
@inbox_file_argument
@takes_intents(positional=None)
@click.option("--report", is_flag=True, help="Show the numbers without asking.")
@click.option("--as-tests", is_flag=True, help="Add judged messages to `tests:`, as many as are like all messages.")
@click.option("--file", "target", type=OUTPUT_FILE, help="YAML file for --as-tests.")
@dry_run_option
@yes_option
@json_option
@set_option
@quiet_option
def review(
    file: Path | None,
    intents: str,
    report: bool,
    as_tests: bool,
    target: Path | None,
    dry_run: bool,
    yes: bool,
    as_json: bool,
    settings: tuple[str, ...],
) -> None:
    """Judge sampled answers, and see how good they are.

    The setting `inbox_sample` says how many answers the inbox keeps for this. Uncertain messages, messages of a new
    kind and frequent ones are asked about first. From 30 judged messages on, precision, coverage and the share of
    out-of-scope messages are shown with 95% intervals, which allow for this order.

    FILE is the inbox; without FILE, the setting `inbox` names the inbox. --json prints the numbers without asking.

    \b
    Examples:
      intentmatch review misses.sqlite --intents shop/
      intentmatch review misses.sqlite --intents shop/ --report
      intentmatch review misses.sqlite --intents shop/ --as-tests
    """
    from intentmatch.review import quality_of

    if (target is not None or dry_run or yes) and not as_tests:
        raise click.UsageError("--file, --dry-run and --yes need --as-tests.")
    matcher = load(intents, settings)
    opened = open_inbox(matcher, file)
    if as_tests:
        _add_tests(matcher, intents, _questions(opened), target, dry_run=dry_run, yes=yes)
        return
    if as_json:
        questions = _questions(opened)
        rest = {"open": len(questions.open), "skipped": questions.skipped, "hashed": questions.hashed}
        output.as_json({**quality_of(questions).to_dict(), **rest})
        return
    if not report:
        _ask(opened, matcher)
    questions = _questions(opened)
    render.report(questions, quality_of(questions))


def _questions(opened: Inbox) -> Questions:
    from intentmatch.review import questions_of

    return questions_of(opened.sampled())


def _ask(opened: Inbox, matcher: Matcher) -> None:
    """Ask about one message after the other, until the reviewer stops or there are no more."""
    names = [intent.name for intent in matcher.registry]
    questions = list(_questions(opened).open)
    if questions:
        output.say(_KEYS)
    lines = _typed()
    place = 0
    while place < len(questions):
        question = questions[place]
        output.echo()
        render.question(question, place + 1, len(questions))
        reply = _reply(question, names, lines)
        if reply == "stop":
            break
        if reply == "undo":
            if place == 0:  # an earlier judgement of this message is another reviewer's
                output.say("There is nothing to undo.", err=True)
                continue
            place -= 1
            opened.judge(questions[place].number, None)
            continue
        judged, expected = reply
        opened.judge(question.number, judged, expected)
        place += 1
    output.echo()


def _typed() -> Iterator[str]:
    """Yield what the reviewer types, until the end of the input."""
    while True:
        try:
            yield str(click.prompt(">", default="", show_default=False, prompt_suffix=" ")).strip()
        except click.Abort:
            return


def _reply(question: Question, names: list[str], lines: Iterator[str]) -> _Reply:
    """Return the judgement that the reviewer types, "undo" or "stop"."""
    known: dict[str, _Reply] = {name: ("meant", name) for name in names}
    known |= {str(place): ("meant", name) for place, name in enumerate(question.nearest, 1)}
    # Last, so that an intent called `s` does not take the key.
    known |= _REPLIES
    # An empty answer says that the bot was right, which a question cannot be.
    if question.verdict != "ambiguous":
        known[""] = "meant", question.intent
    for text in lines:
        if text in known:
            return known[text]
        if not text:
            output.say("The bot asked. Which intent does the message mean?", err=True)
            continue
        near = suggest(text, names)
        output.say(f"There is no intent {text!r}." + (f" Did you mean {near!r}?" if near else ""), err=True)
    return "stop"


def _add_tests(
    matcher: Matcher, intents: str, questions: Questions, target: Path | None, *, dry_run: bool, yes: bool
) -> None:
    from intentmatch.authoring.operations.operation import Operation
    from intentmatch.registry import is_yaml
    from intentmatch.review import labelled_tests

    if not is_yaml(intents):
        raise InputError(f"{intents} is not YAML: edit the folder that the artefact was built from")
    edits = labelled_tests(questions, matcher.registry, file=target)
    if not edits:
        output.say("No judged message can be added yet: answer more questions.")
        return
    note = f"Review: {counted(len(edits), 'test')}"
    plan = planned(workspace_of(intents), Operation(edits, note=note))
    left = len(questions.judgements) - len(edits)
    if left:
        verb = "stays" if left == 1 else "stay"
        output.say(
            f"{counted(left, 'judged message')} {verb} out: with them, the tests would be unlike all messages, "
            "or they are tests already."
        )
    if not dry_run:
        write(plan, yes=yes)
