"""The commands for earlier states of the YAML: `revisions` and `restore`."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

import click

from intentmatch.cli.commands import cli
from intentmatch.cli.edit import (
    SHOWN_DIGITS,
    dry_run_option,
    inbox_of,
    planned,
    require,
    workspace_of,
    write,
    yes_option,
)
from intentmatch.cli.options import json_option, load, set_option, takes_intents
from intentmatch.cli.render import output, progress
from intentmatch.cli.render.progress import quiet_option
from intentmatch.registry.confinement import ReadLimits
from intentmatch.storage.postgres.address import Address

if TYPE_CHECKING:
    from intentmatch.authoring.revision_scores import Scores
    from intentmatch.authoring.revisions import Revision
    from intentmatch.authoring.workspace import Workspace

_ANOTHER_PROGRAM = "another program"
_SOURCES = {"held_out": "held-out utterances", "tests": "tests"}


@cli.command()
@click.argument("revision", required=False)
@takes_intents(positional=None, live=True)
@click.option("--most", type=click.IntRange(min=1), default=20, show_default=True, help="The most revisions to list.")
@click.option("--begin", is_flag=True, help="Keep revisions from now on, also of what commands edit.")
@click.option("--evaluate", is_flag=True, help="Evaluate REVISION, before and after, if nobody has.")
@json_option
@set_option
@quiet_option
def revisions(
    revision: str | None,
    intents: str | Address,
    most: int,
    begin: bool,
    evaluate: bool,
    as_json: bool,
    settings: tuple[str, ...],
) -> None:
    """List the revisions of the YAML, or show one.

    REVISION shows the diff of one revision, and how many answers were right before it and after it. In a git repository
    revisions are commits; the beginning of an id is enough. Elsewhere they are in a hidden folder beside the files.

    \b
    Examples:
      intentmatch revisions --begin
      intentmatch revisions -i shop/
      intentmatch revisions 3 --evaluate
    """
    if evaluate and revision is None:
        raise click.UsageError("--evaluate needs a REVISION.")
    if begin and revision is not None:
        raise click.UsageError("--begin takes no REVISION.")
    workspace = live_workspace(intents)
    if begin:
        workspace.begin_history()
        # With --json, stdout holds JSON alone.
        output.say("Commands that edit keep revisions from now on.", err=as_json)
    if revision is None:
        _list(workspace, workspace.revisions(most), as_json=as_json)
        return
    shown, files = workspace.revision(revision)
    scores = workspace.scores.read(shown.id)
    if evaluate and scores is None:
        from intentmatch.authoring.score_revision import evaluate as evaluated

        matcher = load(intents, settings)
        with progress.shown():
            scores = evaluated(workspace, shown.id, matcher)
    if as_json:
        diffs = [{"file": one.name, "diff": one.diff} for one in files]
        output.as_json({**_to_dict(shown, scores), "files": diffs})
        return
    output.say(f"{shown.id}  {_time(shown)}  {shown.author or _ANOTHER_PROGRAM}")
    output.say(shown.note)
    output.echo()
    output.diff("".join(one.diff for one in files))
    _show(scores)


@cli.command()
@click.argument("revision")
@takes_intents(positional=None, live=True)
@click.option("--note", default="", help="Why; the text of the new revision.")
@dry_run_option
@yes_option
def restore(revision: str, intents: str | Address, note: str, dry_run: bool, yes: bool) -> None:
    """Bring the YAML of a revision back.

    The change is shown first. It becomes a new revision, so nothing is lost: restore the revision before it to undo it.

    \b
    Examples:
      intentmatch restore 3 --dry-run
      intentmatch restore 3 --yes --note "the new lines were worse"
    """
    from intentmatch.authoring.operations.operation import Operation
    from intentmatch.authoring.revisions import restoring_note

    workspace = live_workspace(intents)
    restoring = Operation(lambda _: workspace.restoring(revision), note=note or restoring_note(revision), undoes=True)
    plan = planned(workspace, restoring)
    if not plan.changes.files:
        output.say(f"The files are those of revision {revision} already.")
    elif not dry_run:
        # Of the registry that is restored: its messages go back into the inbox that it names.
        write(plan, yes=yes, inbox=inbox_of(plan.changes, intents if isinstance(intents, Address) else None))


def live_workspace(intents: str | os.PathLike[str] | Address) -> Workspace:
    """Return the files of a registry, those of a bot in PostgreSQL as they are there.

    RegistryError if there is nothing at this path.
    """
    if isinstance(intents, Address):
        from intentmatch.authoring.database_workspace import DatabaseWorkspace  # needs psycopg

        return DatabaseWorkspace(intents, ReadLimits.from_settings(intents))
    workspace = workspace_of(intents)
    require(workspace.path)
    return workspace


def _list(workspace: Workspace, found: list[Revision], *, as_json: bool) -> None:
    scored = [(revision, workspace.scores.read(revision.id)) for revision in found]
    if as_json:
        for revision, scores in scored:
            output.as_json(_to_dict(revision, scores))
        return
    if not found:
        output.say("There are no revisions yet. `intentmatch revisions --begin` keeps the first one.")
        return
    rows = [
        [one.id[:SHOWN_DIGITS], _time(one), one.author or _ANOTHER_PROGRAM, one.note, _right(scores)]
        for one, scores in scored
    ]
    output.table(["revision", "time", "author", "note", "right"], rows)


def _right(scores: Scores | None) -> str:
    """Return such as `36 → 38 of 40`, all sources together; empty without an evaluation."""
    if scores is None or not scores.sources:
        return ""
    after, messages = sum(one.right_after for one in scores.sources), sum(one.messages for one in scores.sources)
    before = [one.right_before for one in scores.sources if one.right_before is not None]
    return f"{sum(before)} → {after} of {messages}" if before else f"{after} of {messages}"


def _show(scores: Scores | None) -> None:
    output.echo()
    if scores is None:
        output.say("Not evaluated yet: add --evaluate.")
        return
    for one in scores.sources:
        before = "" if one.right_before is None else f"{one.right_before} before, "
        output.say(f"{_SOURCES[one.source]}: {before}{one.right_after} right after, of {one.messages}")
    more = " Some messages were left out for lack of time." if scores.sampled else ""
    output.say(f"{scores.fixed} fixed, {scores.broken} broken.{more}")


def _to_dict(revision: Revision, scores: Scores | None) -> dict[str, Any]:
    return {
        "id": revision.id,
        "author": revision.author,
        "time": revision.time.isoformat(),
        "note": revision.note,
        "evaluation": None if scores is None else scores.to_dict(),
    }


def _time(revision: Revision) -> str:
    return revision.time.astimezone().strftime("%Y-%m-%d %H:%M")
