"""The faces of an edit: each carries out the same operations its own way, and shows what came of them."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from authoring.conftest import TEXT
from cli.command_line import run
from line_server import line_server
from starlette.testclient import TestClient

from intentmatch import Matcher
from intentmatch.authoring.operations.operation import Operation
from intentmatch.authoring.workspace import Workspace
from intentmatch.cli.render import output
from intentmatch.core.errors import IntentMatchError
from intentmatch.inbox import ClusterDecision, Inbox, review
from intentmatch.registry.editing.edits import (
    AddIntent,
    AddTest,
    AddUtterance,
    Edit,
    MoveUtterance,
    RemoveIntent,
    RemoveUtterance,
    RenameIntent,
    RewordUtterance,
)
from intentmatch.registry.editing.fields import SetField
from intentmatch.registry.editing.formatting import Format
from intentmatch.registry.editing.merging import MergeIntents
from intentmatch.registry.editing.settings_edit import ChangeSettings, Setting
from intentmatch.registry.editing.whole_files import RemoveFile, ReplaceFile
from intentmatch.server import create_app
from intentmatch.server.bots.batching import Batching, BatchQueue
from intentmatch.server.bots.bot import Bot
from intentmatch.server.process.metrics import Metrics

KEY = "anna-key"


class Shown(NamedTuple):
    """What a face shows."""

    error: str = ""
    """Why nothing was written; empty if it was."""
    warnings: str = ""
    offers_another_write: bool = False


class Case(NamedTuple):
    """One operation in the words of each face; None where a face does not have it."""

    edits: Callable[[Workspace], list[Edit]] = lambda _: []
    command: tuple[str, ...] | None = None
    body: dict[str, Any] | None = None
    """Of `POST /edits`; there is another call to restore revision 1."""
    tool: dict[str, Any] | None = None
    decision: tuple[str, str | None] | None = None
    """What is decided about the message `text` of the inbox."""
    text: str = ""
    grown: bool = False
    """Whether a chat model can propose it."""


Meanwhile = Callable[[], object]
"""What somebody else does between the plan and the write."""


def nothing() -> None: ...


def adding(text: str, intent: str, *, grown: bool = False) -> Case:
    """Add an utterance, which each face can."""
    return Case(
        lambda _: [AddUtterance(intent, text)],
        ("add", intent, text),
        {"edits": [{"edit": "add", "intent": intent, "text": text}]},
        {"intent": intent, "utterances": [text]},
        ("add", intent),
        text,
        grown,
    )


CASES = {
    "add": adding("hello there", "greet", grown=True),
    "not": Case(
        lambda _: [AddUtterance("greet", "never greet me", negative=True)],
        ("add", "greet", "never greet me", "--not"),
        {"edits": [{"edit": "add", "intent": "greet", "text": "never greet me", "negative": True}]},
        {"intent": "greet", "utterances": ["never greet me"], "negative": True},
        ("not", "greet"),
        "never greet me",
    ),
    "new": Case(
        lambda _: [AddIntent("revenue", "quarterly figures")],
        ("add", "revenue", "quarterly figures", "--new"),
        {"edits": [{"edit": "add_intent", "intent": "revenue", "text": "quarterly figures"}]},
        {"intent": "revenue", "utterances": ["quarterly figures"], "new": True},
        ("new", "revenue"),
        "quarterly figures",
    ),
    "test": Case(
        lambda files: [AddTest("zebra crossing", None, "en", files.place("bot.yaml"))],
        body={
            "edits": [{"edit": "add_test", "text": "zebra crossing", "intent": None, "file": "bot.yaml"}],
        },
        decision=("test", None),
        text="zebra crossing",
    ),
    "move": Case(
        lambda _: [MoveUtterance("hello", "bye")],
        ("move", "hello", "bye"),
        {"edits": [{"edit": "move", "text": "hello", "to": "bye"}]},
    ),
    "remove": Case(
        lambda _: [RemoveUtterance("hello", "greet")],
        ("remove", "hello", "--from", "greet"),
        {"edits": [{"edit": "remove", "text": "hello", "intent": "greet"}]},
    ),
    "remove intent": Case(
        lambda _: [RemoveIntent("bye")],
        ("remove", "bye"),
        {"edits": [{"edit": "remove_intent", "intent": "bye"}]},
    ),
    "rename": Case(
        lambda _: [RenameIntent("bye", "farewell")],
        ("rename", "bye", "farewell"),
        {"edits": [{"edit": "rename", "intent": "bye", "to": "farewell"}]},
    ),
    "reword": Case(
        lambda _: [RewordUtterance("hello", "hello you", "greet")],
        body={"edits": [{"edit": "reword", "text": "hello", "new": "hello you", "intent": "greet"}]},
    ),
    "set": Case(
        lambda _: [SetField("greet", "title", "Greeting")],
        body={"edits": [{"edit": "set", "intent": "greet", "field": "title", "value": "Greeting"}]},
    ),
    "other file": Case(
        lambda files: [ReplaceFile(files.place("new.yaml"), TEXT), RemoveFile(files.place("bot.yaml"))],
        body={
            "edits": [
                {"edit": "replace_file", "file": "new.yaml", "text": TEXT},
                {"edit": "remove_file", "file": "bot.yaml"},
            ]
        },
    ),
    "merge": Case(lambda _: [MergeIntents("bye", "greet")]),
    "settings": Case(lambda files: [ChangeSettings(files.place("bot.yaml"), {"inbox_mode": Setting("hashed")})]),
    "format": Case(lambda _: [Format()], ("format",)),
    "restore": Case(lambda files: files.restoring("1"), ("restore", "1")),
    "impossible": adding("good day", "nowhere"),
    "invalid": adding("goodbye", "greet"),
}
"""The edit `impossible` fits no file; `invalid` brings an error, because `bye` has the line."""
IGNORE = Case(decision=("ignore", None), text="zebra crossing")


def inbox_of(bot: Path) -> Inbox:
    """The inbox of the setting, outside the folder of the YAML."""
    return Inbox(bot.parent / "misses.sqlite")


def record(bot: Path, text: str) -> None:
    """Keep a message, which becomes the only one of its group."""
    inbox = inbox_of(bot)
    inbox.correct(text, None, "en")
    assert inbox.flush()


@contextmanager
def before_the_write(meanwhile: Meanwhile):
    """A command shows the difference between the plan and the write."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(output, "diff", lambda _: meanwhile())
        yield patch


def of_command(bot: Path, meanwhile: Meanwhile, *words: str) -> Shown:
    yes = [] if words[0] == "format" else ["--yes"]  # which does not ask
    with before_the_write(meanwhile):
        done = run(*words, "--intents", str(bot), *yes)
    return Shown(warnings=done.stderr) if done.exit_code == 0 else Shown(error=done.stderr)


def command_line(bot: Path, case: Case, meanwhile: Meanwhile) -> Shown:
    assert case.command is not None
    return of_command(bot, meanwhile, *case.command)


def inbox_command(bot: Path, case: Case, meanwhile: Meanwhile) -> Shown:
    assert case.decision is not None
    record(bot, case.text)
    action, intent = case.decision
    how = {
        "add": ("--intent", intent),
        "new": ("--new", intent),
        "not": ("--not", intent),
        "test": ("--ignore", "--as-tests", "--file", str(bot / "bot.yaml")),
        "ignore": ("--ignore",),
    }[action]
    return of_command(bot, meanwhile, "inbox", "apply", "-c", "1", "--quiet", *map(str, how))


def grow(bot: Path, case: Case, meanwhile: Meanwhile) -> Shown:
    (edit,) = case.edits(Workspace(bot))
    assert isinstance(edit, AddUtterance)
    with pytest.MonkeyPatch.context() as patch, line_server(patch, {edit.intent: [edit.text]}) as server:
        words = "--quiet", "--model", server.model, "--kind", "paraphrase", "--intent", edit.intent
        return of_command(bot, meanwhile, "grow", *words)


def of_http(bot: Path, path: str, body: dict[str, Any], meanwhile: Meanwhile) -> Shown:
    app = create_app(bot, authoring=True, author_keys=[f"anna={KEY}"])
    with TestClient(app, raise_server_exceptions=False) as client:
        client.headers["X-API-Key"] = KEY
        revision = client.get("/registry").json()["revision"]
        meanwhile()
        answer = client.post(path, json=body, headers={"If-Match": revision})
    found = answer.json()
    if answer.status_code != 200:
        return Shown(error=str(found))
    found = found.get("written", found)
    if found is None:
        return Shown()
    assert found["active"] == ("not in use" not in str(found["warnings"]))
    return Shown(warnings="\n".join(found["warnings"]))


def http(bot: Path, case: Case, meanwhile: Meanwhile) -> Shown:
    path, body = ("/edits", case.body) if case.body is not None else ("/revisions/1/restore", {})
    return of_http(bot, path, body, meanwhile)


def inbox_http(bot: Path, case: Case, meanwhile: Meanwhile) -> Shown:
    assert case.decision is not None
    record(bot, case.text)
    action, intent = case.decision
    body = {"action": action, "intent": intent, "file": "bot.yaml" if action == "test" else None}
    return of_http(bot, "/inbox/1", {name: value for name, value in body.items() if value is not None}, meanwhile)


class Visit:
    """A visitor of the studio who sees no page."""

    author = "anna"

    def __init__(self, bot: Path) -> None:
        from intentmatch.server.studio import ServedBot

        self.bot = ServedBot(Bot(Matcher.load(bot), BatchQueue(Batching(), Metrics())))
        self.told: dict[str, list[str]] = {"warning": [], "negative": [], "positive": []}

    def require(self, _: str) -> None: ...

    def tell(self, text: str, kind: str) -> None:
        self.told[kind].append(text)


def studio(bot: Path, case: Case, meanwhile: Meanwhile) -> Shown:
    pytest.importorskip("nicegui")
    from intentmatch.studio.proposal import write

    visit = Visit(bot)
    operation = Operation(case.edits(visit.bot.workspace), "anna", undoes=case is CASES["restore"])
    try:
        plan = operation.planned(visit.bot.workspace)
        meanwhile()
        asyncio.run(write(visit, operation, expected=plan.digest))
    except IntentMatchError as error:
        return Shown(error=str(error), offers_another_write=True)
    return Shown(warnings="\n".join(visit.told["warning"]))


def inbox_studio(bot: Path, case: Case, meanwhile: Meanwhile) -> Shown:
    """The decision about a group; the dialog that shows the difference is answered with Save."""
    pytest.importorskip("nicegui")
    from intentmatch.studio import inbox_decisions
    from intentmatch.studio.proposal import write

    assert case.decision is not None
    record(bot, case.text)
    visit = Visit(bot)

    async def saved(visit: Any, edits: list[Edit], *, title: str, note: str, answers: Any) -> Any:
        operation = Operation(edits, visit.author, note, answers)
        try:
            plan = operation.planned(visit.bot.workspace)
            meanwhile()
            return await write(visit, operation, expected=plan.digest)
        except IntentMatchError as error:
            visit.tell(str(error), "negative")
            return None

    (cluster,) = review(visit.bot.matcher, inbox_of(bot).messages()).clusters
    decision = ClusterDecision(cluster, *case.decision)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(inbox_decisions, "propose", saved)
        done = asyncio.run(inbox_decisions.write(visit, [decision], None))
    told = {kind: "\n".join(lines) for kind, lines in visit.told.items()}
    return Shown(told["negative"], told["warning"], offers_another_write=done != [decision])


def mcp(bot: Path, case: Case, meanwhile: Meanwhile) -> Shown:
    pytest.importorskip("mcp")
    from mcp.server.mcpserver.exceptions import ToolError

    from intentmatch.integrations.mcp import _EditTools

    assert case.tool is not None
    tools = _EditTools(Matcher.load(bot), bot)
    try:
        confirm = tools.add_utterances(**case.tool)["confirm"]
        meanwhile()
        done = tools.add_utterances(**case.tool, confirm=confirm)
    except ToolError as error:
        return Shown(error=str(error))
    assert done["written"]
    assert done["active"] == ("not in use" not in str(done["warnings"]))
    return Shown(warnings="\n".join(done["warnings"]))


class Face(NamedTuple):
    """A face, with what it has of the contract."""

    carry_out: Callable[[Path, Case, Meanwhile], Shown]
    has: Callable[[Case], bool]
    answers: bool = False
    """Whether a bot answers meanwhile, so that it reloads."""
    evaluates: bool = False
    empties_the_inbox: bool = False

    def edits(self, case: Case, files: Workspace) -> list[Edit]:
        """Return the edits of a case; lines of a chat model get a comment."""
        edits = case.edits(files)
        return [replace(edit, comment="grown: paraphrase, tiny") for edit in edits] if self.carry_out is grow else edits


def decided(case: Case) -> bool:
    return case.decision is not None


FACES = {
    "command line": Face(command_line, lambda case: case.command is not None),
    "http": Face(http, lambda case: case.body is not None or case is CASES["restore"], answers=True, evaluates=True),
    "studio": Face(studio, lambda _: True, answers=True, evaluates=True),
    "mcp": Face(mcp, lambda case: case.tool is not None, answers=True),
    "inbox command": Face(inbox_command, decided, empties_the_inbox=True),
    "inbox http": Face(inbox_http, decided, answers=True, evaluates=True, empties_the_inbox=True),
    "inbox studio": Face(inbox_studio, decided, answers=True, evaluates=True, empties_the_inbox=True),
    "grow": Face(grow, lambda case: case.grown),
}
