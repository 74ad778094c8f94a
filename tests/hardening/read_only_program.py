"""What works, and what is refused, once a bot's files cannot be written: prints the outcomes as JSON.

    python read_only_program.py FOLDER rights|mount [studio]

`rights` takes the right to write from files and folders; `mount` makes FOLDER a file system and mounts it read-only.
"""

from __future__ import annotations

import ctypes
import json
import logging
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

from intentmatch import Matcher, read_registry
from intentmatch.artefact.store import load_artefact, save_artefact
from intentmatch.authoring.workspace import Workspace
from intentmatch.inbox import Inbox
from intentmatch.registry.editing.edits import AddUtterance, RenameIntent
from intentmatch.registry.editing.plan import plan
from intentmatch.storage import transaction

_NO_RIGHTS_OF_ROOT = (1 << 1) | (1 << 2)
"""CAP_DAC_OVERRIDE and CAP_DAC_READ_SEARCH: without these, root needs the right to write as everybody does."""
_VERSION_3 = 0x20080522


class Lines(logging.Handler):
    """Keeps the lines of the log."""

    def __init__(self) -> None:
        super().__init__(logging.WARNING)
        self.lines: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.lines.append(record.getMessage())


def drop_rights_of_root() -> None:
    """Take from this thread the capabilities with which root writes everywhere (Linux)."""
    libc = ctypes.CDLL(None, use_errno=True)
    header, sets = (ctypes.c_uint32 * 2)(_VERSION_3, 0), (ctypes.c_uint32 * 6)()
    if libc.capget(header, sets):
        raise OSError(ctypes.get_errno(), "capget")
    sets[0] &= ~_NO_RIGHTS_OF_ROOT
    if libc.capset(header, sets):
        raise OSError(ctypes.get_errno(), "capset")


def set_writable(root: Path, how: str, *, writable: bool) -> None:
    if how == "mount":
        subprocess.run(["mount", "-o", f"remount,{'rw' if writable else 'ro'}", str(root)], check=True)
        return
    for path in (root, *root.rglob("*")):
        folder = path.is_dir()
        path.chmod((0o755 if folder else 0o644) if writable else (0o555 if folder else 0o444))


def write_bot(folder: Path) -> None:
    (folder / "more").mkdir(parents=True)
    for name in ("a.yaml", "more/b.yaml"):
        text = f"intents:\n  order:\n    utterances: [where is my order, the order of {name[0]}]\n"
        (folder / name).write_text(text, encoding="utf-8")


def die_in_an_edit(folder: Path) -> None:
    """Rename the intent in a child process that dies when the journal is written and nothing is renamed."""
    child = os.fork()
    if child == 0:
        transaction._complete = lambda steps: os._exit(1)
        plan(folder, [RenameIntent("order", "parcel")]).write()
    os.waitpid(child, 0)


def attempts(root: Path, *, studio: bool) -> dict[str, list[str]]:
    """Try everything; return `["ok", result]` or `[name of the error, its text]` by what was tried."""
    found: dict[str, list[str]] = {}
    bot, message = root / "bot", "nobody understands this at all"

    def attempt(name: str, run: Callable[[], object]) -> None:
        try:
            found[name] = ["ok", str(run())]
        except Exception as error:  # noqa: BLE001 - each kind is an outcome
            found[name] = [type(error).__name__, str(error)]

    attempt("read", lambda: [one.name for one in read_registry(bot)])
    attempt("edit", lambda: plan(bot, [RenameIntent("order", "parcel")]).write())
    attempt(
        "write a revision",
        lambda: Workspace(bot).write([AddUtterance("order", "x y")], author="a", note="", expected="*"),
    )
    attempt("revisions", lambda: len(Workspace(bot).revisions()))
    attempt("read half an edit", lambda: [one.name for one in read_registry(root / "half")])
    attempt("match", lambda: Matcher.load(bot, cache=str(root / "cache")).match("where is my order").intent)
    attempt(
        "match without a cache", lambda: Matcher.load(bot, cache=str(root / "none")).match("where is my order").intent
    )
    attempt(
        "save an artefact", lambda: save_artefact(load_artefact(root / "bot.intentmatch"), root / "bot.intentmatch")
    )
    attempt("load an artefact", lambda: Matcher.load(root / "bot.intentmatch").match("where is my order").intent)
    inbox = Inbox(root / "inbox.sqlite")
    inbox.record(Matcher.load(bot, cache="off").match("this is not kept at all"))
    attempt("inbox", lambda: [one.text for one in inbox.messages()])
    attempt("handle a message", lambda: inbox.handle(inbox.messages(), "ignored"))
    found |= _served(bot, message, studio=studio)
    return found


def _served(bot: Path, message: str, *, studio: bool) -> dict[str, list[str]]:
    from starlette.testclient import TestClient

    from intentmatch.server import create_app

    found = {}
    app = create_app(bot, authoring=True, author_keys=["anna=key"], keys=["k"], admin_keys=["boss"])
    with TestClient(app, raise_server_exceptions=False, headers={"x-api-key": "key", "if-match": "*"}) as client:
        edit = {"edits": [{"edit": "add", "intent": "order", "text": "x y"}]}
        for name, call in {
            "POST /edits": lambda: client.post("/edits", json=edit),
            "POST /edits/preview": lambda: client.post("/edits/preview", json=edit),
            "GET /revisions": lambda: client.get("/revisions"),
            "POST /reload": lambda: client.post("/reload", headers={"x-api-key": "boss"}),
            "POST /feedback": lambda: client.post("/feedback", json={"text": message, "intent": "order"}),
            "POST /match": lambda: client.post("/match", json={"text": "where is my order"}),
            "GET /readyz": lambda: client.get("/readyz"),
        }.items():
            answer = call()
            found[name] = [str(answer.status_code), answer.text]
    if studio:
        with TestClient(create_app(bot, studio=True, open_studio=True), raise_server_exceptions=False) as client:
            for screen in ("try", "edit", "see", "inbox", "issues", "history"):
                found[f"studio {screen}"] = [str(client.get(f"/studio/{screen}").status_code), ""]
    return found


def main(root: Path, how: str, *, studio: bool) -> None:
    log = Lines()
    logging.getLogger("intentmatch").addHandler(log)
    if how == "mount":
        subprocess.run(["mount", "-t", "tmpfs", "none", str(root)], check=True)
    write_bot(root / "bot")
    write_bot(root / "half")
    Workspace(root / "bot").write([AddUtterance("order", "track my order")], author="a", note="first", expected="*")
    matcher = Matcher.load(root / "bot", cache=str(root / "cache"))
    save_artefact(matcher.artefact, root / "bot.intentmatch")
    kept = Inbox(root / "inbox.sqlite")
    kept.record(matcher.match("nobody understands this at all"))
    kept.flush()
    die_in_an_edit(root / "half")
    os.environ |= {"INTENTMATCH_CACHE": str(root / "cache"), "INTENTMATCH_INBOX": str(root / "inbox.sqlite")}
    before = {str(path): path.read_bytes() for path in root.rglob("*") if path.is_file()}
    set_writable(root, how, writable=False)
    if how == "rights" and os.geteuid() == 0:
        drop_rights_of_root()
    found = attempts(root, studio=studio)
    changed = [name for name, content in before.items() if Path(name).read_bytes() != content]
    new = [str(path) for path in root.rglob("*") if path.is_file() and str(path) not in before]
    log_then = list(log.lines)
    set_writable(root, how, writable=True)
    Workspace(root / "bot").write([AddUtterance("order", "x y z")], author="a", note="last", expected="*")
    inbox = Inbox(root / "inbox.sqlite")
    inbox.record(matcher.match("and this one is kept again"))
    after = {
        "revisions": len(Workspace(root / "bot").revisions()),
        "half": [one.name for one in read_registry(root / "half")],
        "inbox": [one.text for one in inbox.messages()],
    }
    sys.stdout.write(json.dumps({"found": found, "changed": changed, "new": new, "log": log_then, "after": after}))


if __name__ == "__main__":
    main(Path(sys.argv[1]).resolve(), sys.argv[2], studio="studio" in sys.argv[3:])
