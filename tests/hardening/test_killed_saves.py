"""An author's save that is killed: the files are whole, with the revision or without it, and the next save works."""

from __future__ import annotations

import json
import os
import random
import signal
import socket
import subprocess
import sys
import threading
import time
import urllib.error
import urllib.request
from pathlib import Path
from typing import Any

import pytest
from storage.test_transaction import die_at

from intentmatch import read_registry
from intentmatch.authoring.bots import Bots
from intentmatch.authoring.revisions import Files
from intentmatch.authoring.workspace import ANY, Workspace
from intentmatch.registry.confinement import ReadLimits
from intentmatch.registry.editing.edits import RenameIntent

pytestmark = [
    pytest.mark.end_to_end,
    pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork"),
]

FILES = ("a.yaml", "sub/b.yaml")
KEY = "anna-key"
PATIENCE = 180.0
SEED = 22
MANY = 96


@pytest.fixture
def no_waiting(monkeypatch: pytest.MonkeyPatch) -> None:
    """A killed process, unlike a machine without power, loses nothing that waits for the disk."""
    monkeypatch.setattr(os, "fsync", lambda descriptor: None)


def write_registry(folder: Path) -> Path:
    for number, name in enumerate(FILES):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        lines = ["language: en", "intents:", "  first:", "    utterances:", f"      - line {number} of an intent"]
        (folder / name).write_text("\n".join(lines) + "\n", encoding="utf-8")
    return folder


def names_in(files: Files) -> set[str]:
    """The intent that each file names: one name if the files are whole."""
    return {content.decode().splitlines()[2].strip(" :") for content in files.values()}


def assert_whole(folder: Path) -> str:
    """Check the files and every revision; return the name of the intent."""
    workspace = Workspace(folder)
    (intent,) = read_registry(folder)
    assert names_in(workspace.files()) == {intent.name}
    for revision in workspace.revisions():
        kept = workspace.history.files(revision.id)
        assert (set(kept), len(names_in(kept))) == ({*FILES}, 1)
        assert workspace.revision(revision.id)[0] == revision
    for entry in workspace.audit():
        assert entry.revision in {one.id for one in workspace.revisions()}
    return intent.name


@pytest.mark.rounds(16, MANY)
@pytest.mark.usefixtures("no_waiting")
def test_save_killed_before_any_step_is_whole_with_or_without_its_revision(tmp_path: Path, rounds: int) -> None:
    """The changes of the disk in turn; the second save keeps what another program changed before it."""
    step, died, found = 0, True, set()
    while died:
        step += MANY // rounds
        folder = write_registry(tmp_path / str(step))
        Workspace(folder).write([RenameIntent("first", "begun")], author="anna", note="", expected=ANY)

        def save(folder: Path = folder) -> None:
            Workspace(folder).write([RenameIntent("begun", "renamed")], author="anna", note="", expected=ANY)

        died = die_at(step, save)
        name = assert_whole(folder)
        kept = [revision.note for revision in Workspace(folder).revisions()]
        found.add((name, "Rename begun to renamed" in kept))
        Workspace(folder).write([RenameIntent(name, "last")], author="bob", note="", expected=ANY)

        assert assert_whole(folder) == "last"
        newest = Workspace(folder).revisions(2)
        assert newest[0].author == "bob"
        visible = {
            str(file.relative_to(folder)) for file in folder.rglob("*.*") if ".intentmatch-history" not in str(file)
        }
        assert {name for name in visible if name.endswith(".yaml")} == {*FILES}
    assert found == {("begun", False), ("renamed", False), ("renamed", True)}
    assert step > 40


@pytest.mark.rounds(16, MANY)
@pytest.mark.usefixtures("no_waiting")
def test_creation_killed_before_any_step_leaves_a_whole_bot_or_none(tmp_path: Path, rounds: int) -> None:
    texts = {name: (write_registry(tmp_path / "texts") / name).read_text(encoding="utf-8") for name in FILES}
    step, died, found = 0, True, set()
    while died:
        step += MANY // rounds
        folder = tmp_path / str(step)
        write_registry(folder / "shop")

        def found_bots(folder: Path = folder) -> dict[str, Path]:
            return {path.name: path for path in folder.iterdir() if not path.name.startswith(".")}

        bots = Bots(folder, found_bots, ReadLimits.from_settings)
        died = die_at(step, lambda bots=bots: bots.create("bakery", texts, author="anna"))  # type: ignore[misc]
        found.add("bakery" in found_bots())
        if "bakery" in found_bots():
            assert_whole(folder / "bakery")
        else:
            bots.create("bakery", texts, author="anna")
        assert set(found_bots()) == {"bakery", "shop"}
        died_removing = die_at(step, lambda bots=bots: bots.remove("bakery", author="x", expected=ANY))  # type: ignore[misc]
        if "bakery" in found_bots():
            assert died_removing
            assert_whole(folder / "bakery")
        else:
            (gone,) = bots.removed()
            bots.restore(gone.id, author="x")
            assert_whole(folder / "bakery")
    assert found == {False, True}


class Server:
    """A running `intentmatch serve --authoring`."""

    def __init__(self, folder: Path) -> None:
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = int(free.getsockname()[1])
        words = ["serve", str(folder), "--port", str(self.port), "--authoring"]
        environment = {**os.environ, "INTENTMATCH_CACHE": "off", "INTENTMATCH_AUTHOR_KEYS": f"anna={KEY}"}
        environment["GIT_CEILING_DIRECTORIES"] = str(folder.parent)
        self.process = subprocess.Popen(
            [sys.executable, "-m", "intentmatch", *words],
            env=environment,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        end = time.monotonic() + PATIENCE
        while not self.answers():
            assert self.process.poll() is None
            assert time.monotonic() < end
            time.sleep(0.02)

    def answers(self) -> bool:
        try:
            return bool(self.ask("/readyz"))
        except (urllib.error.URLError, OSError):
            return False

    def ask(self, path: str, body: object = None) -> Any:
        data = None if body is None else json.dumps(body).encode()
        headers = {"content-type": "application/json", "x-api-key": KEY, "if-match": "*"}
        call = urllib.request.Request(f"http://127.0.0.1:{self.port}{path}", data, headers)
        with urllib.request.urlopen(call, timeout=PATIENCE) as answer:
            return json.load(answer)

    def kill(self) -> None:
        self.process.send_signal(signal.SIGKILL)
        self.process.wait(PATIENCE)


@pytest.mark.rounds(1, 60)
def test_server_killed_in_the_middle_of_a_save_comes_back_whole(tmp_path: Path, rounds: int) -> None:
    """A client renames the intent of all files back and forth until the server dies, at a random moment."""
    moments = random.Random(SEED)
    for attack in range(rounds):
        # A history keeps so many revisions that it holds those of one attack, and not of all.
        folder = write_registry(tmp_path / f"bot{attack}")
        server = Server(folder)
        answered: list[str] = []

        def save(server: Server = server, answered: list[str] = answered) -> None:
            name = server.ask("/registry")["intents"][0]["name"]
            try:
                for number in range(1000):
                    edit = {"edit": "rename", "intent": name, "to": (name := f"name{number % 7}")}
                    answered.append(server.ask("/edits", {"edits": [edit], "note": name})["recorded"]["id"])
            except (urllib.error.URLError, OSError):
                pass

        client = threading.Thread(target=save)
        client.start()
        end = time.monotonic() + PATIENCE
        while len(answered) < 3:
            assert time.monotonic() < end
            time.sleep(0.005)
        time.sleep(moments.uniform(0.0, 0.08))
        server.kill()
        client.join()

        name = assert_whole(folder)
        again = Server(folder)
        try:
            assert (again.ask("/registry")["intents"][0]["name"], again.ask("/registry")["problems"]) == (name, [])
            ids = [one["id"] for one in again.ask("/revisions?most=1000")["revisions"]]
            assert set(answered) <= set(ids)
            edits = [{"edit": "rename", "intent": name, "to": "first"}]
            assert again.ask("/edits", {"edits": edits})["recorded"]["author"] == "anna"
        finally:
            again.kill()
        assert assert_whole(folder) == "first"
