"""The faces of an edit: each carries out the same operations its own way, and shows what came of them."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from cli.command_line import run
from starlette.testclient import TestClient

from intentmatch import Matcher
from intentmatch.authoring.operations.operation import Operation
from intentmatch.authoring.workspace import Workspace
from intentmatch.core.errors import IntentMatchError
from intentmatch.registry.editing.edits import (
    AddUtterance,
    Edit,
    MoveUtterance,
    RemoveUtterance,
    RenameIntent,
)
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

    edits: Callable[[Workspace], list[Edit]]
    command: list[str]
    body: dict[str, Any] | None
    """Of `POST /edits`; None for the call that restores revision 1."""
    tool: dict[str, Any] | None = None
    note: str = ""


CASES = {
    "add": Case(
        lambda _: [AddUtterance("greet", "good day")],
        ["add", "greet", "good day"],
        {"edits": [{"edit": "add", "intent": "greet", "text": "good day"}]},
        {"intent": "greet", "utterances": ["good day"]},
        "Add to greet",
    ),
    "move": Case(
        lambda _: [MoveUtterance("hello", "bye")],
        ["move", "hello", "bye"],
        {"edits": [{"edit": "move", "text": "hello", "to": "bye"}]},
    ),
    "remove": Case(
        lambda _: [RemoveUtterance("hello", "greet")],
        ["remove", "hello", "--from", "greet"],
        {"edits": [{"edit": "remove", "text": "hello", "intent": "greet"}]},
    ),
    "rename": Case(
        lambda _: [RenameIntent("bye", "farewell")],
        ["rename", "bye", "farewell"],
        {"edits": [{"edit": "rename", "intent": "bye", "to": "farewell"}]},
    ),
    "restore": Case(lambda files: files.restoring("1"), ["restore", "1"], None),
    "impossible": Case(
        lambda _: [AddUtterance("nowhere", "good day")],
        ["add", "nowhere", "good day"],
        {"edits": [{"edit": "add", "intent": "nowhere", "text": "good day"}]},
        {"intent": "nowhere", "utterances": ["good day"]},
    ),
}


def command_line(bot: Path, case: Case) -> Shown:
    done = run(*case.command, "--intents", str(bot), "--yes")
    return Shown(warnings=done.stderr) if done.exit_code == 0 else Shown(error=done.stderr)


def http(bot: Path, case: Case) -> Shown:
    with TestClient(
        create_app(bot, authoring=True, author_keys=[f"anna={KEY}"]), raise_server_exceptions=False
    ) as client:
        client.headers["X-API-Key"] = KEY
        path, body = ("/edits", case.body) if case.body is not None else ("/revisions/1/restore", {})
        answer = client.post(path, json=body, headers={"If-Match": "*"})
    found = answer.json()
    if answer.status_code != 200:
        return Shown(error=str(found))
    assert found["active"] == ("not in use" not in str(found["warnings"]))
    return Shown(warnings="\n".join(found["warnings"]))


def studio(bot: Path, case: Case) -> Shown:
    pytest.importorskip("nicegui")
    from intentmatch.server.studio import ServedBot
    from intentmatch.studio.proposal import write

    class Visit:
        author = "anna"
        told: list[str] = []  # noqa: RUF012

        def __init__(self) -> None:
            self.bot = ServedBot(Bot(Matcher.load(bot), BatchQueue(Batching(), Metrics())))

        def require(self, _: str) -> None: ...

        def tell(self, text: str, _: str) -> None:
            self.told = [*self.told, text]

    visit = Visit()
    operation = Operation(case.edits(visit.bot.workspace), "anna")
    try:
        plan = operation.planned(visit.bot.workspace)
        asyncio.run(write(visit, operation, expected=plan.digest))
    except IntentMatchError as error:
        return Shown(error=str(error), offers_another_write=True)
    return Shown(warnings="\n".join(visit.told))


def mcp(bot: Path, case: Case) -> Shown:
    pytest.importorskip("mcp")
    from mcp.server.mcpserver.exceptions import ToolError

    from intentmatch.integrations.mcp import _EditTools

    if case.tool is None:
        pytest.skip("agents add lines only")
    tools = _EditTools(Matcher.load(bot), bot)
    try:
        confirm = tools.add_utterances(**case.tool)["confirm"]
        done = tools.add_utterances(**case.tool, confirm=confirm)
    except ToolError as error:
        return Shown(error=str(error))
    assert done["written"]
    assert done["active"] == ("not in use" not in str(done["warnings"]))
    return Shown(warnings="\n".join(done["warnings"]))


FACES: dict[str, Callable[[Path, Case], Shown]] = {
    "command line": command_line,
    "http": http,
    "studio": studio,
    "mcp": mcp,
}
ANSWERING = ("http", "studio", "mcp")
"""Faces whose bot answers meanwhile, so that it reloads."""
EVALUATING = ("http", "studio")
