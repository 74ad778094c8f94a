"""`intentmatch inbox erase`: nothing that the product writes has a person's words afterwards."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from intentmatch import Matcher, MemoryStore
from intentmatch.authoring.workspace import Workspace
from intentmatch.cli.commands import cli
from intentmatch.inbox import Inbox
from intentmatch.server.candidates.file_store import FileCandidateStore
from intentmatch.server.candidates.records import CandidateRecord, CandidateSource, Sample

YAML = """\
version: 1
intents:
  status: {utterances: {en: [where is my order]}}
  cancel: {utterances: {en: [cancel my order]}}
"""
SAID = "tell Anna Schmidt that her lamp arrived broken"


@pytest.fixture
def shop(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A bot whose inbox, sample, candidate, audit log and server log have the message."""
    monkeypatch.chdir(tmp_path)
    shop = tmp_path / "shop"
    shop.mkdir()
    (shop / "shop.yaml").write_text(YAML, encoding="utf-8")
    matcher, inbox = Matcher.load("shop"), Inbox("shop/inbox.sqlite", sample=1.0)
    for text in (SAID, "quantum chromodynamics"):
        inbox.record(matcher.match(text))
    assert inbox.flush()
    workspace = Workspace(shop)
    workspace.note("ann", f"Inbox: ignore “{SAID}”")
    candidate = FileCandidateStore(workspace.history.folder / "candidate.sqlite")
    candidate.begin(CandidateRecord("a", CandidateSource("revision", "2"), "f", "shadow", 0.0, None, "ann", "", 5.0))
    candidate.add("a", "p", {"failed": 1}, [Sample("failed", SAID, "en", None, None, 1.0)], 0.0)
    lines = [json.dumps({"message": f"out_of_scope None: '{text}'", "text": text}) for text in (SAID, "hello there")]
    (tmp_path / "server.jsonl").write_text("\n".join(lines) + "\n", encoding="utf-8")
    return shop


def run(*words: str) -> Result:
    return CliRunner().invoke(cli, ["inbox", "erase", "shop/inbox.sqlite", "-i", "shop", *words])


def files_with(word: str, folder: Path) -> list[str]:
    return [file.name for file in folder.rglob("*") if file.is_file() and word.encode() in file.read_bytes()]


@pytest.mark.parametrize("which", [("--text", SAID.upper()), ("--contains", "anna schmidt")])
def test_message_is_in_no_file_afterwards(shop: Path, which: tuple[str, str]) -> None:
    assert len(files_with("Schmidt", shop.parent)) == 4
    done = run(*which, "--log", "server.jsonl", "--json")

    assert done.exit_code == 0, done.output
    assert json.loads(done.stdout) == {
        "inbox": 1, "sample": 1, "candidate": 1, "conversations": 0, "audit": 1, "log": 1, "left": [],
    }  # fmt: skip
    assert files_with("Schmidt", shop.parent) == []
    assert [message.text for message in Inbox("shop/inbox.sqlite").messages()] == ["quantum chromodynamics"]
    assert "hello there" in (shop.parent / "server.jsonl").read_text(encoding="utf-8")
    newest, before = Workspace(shop).audit(2)
    assert newest.what == "Erase messages: 1 of the inbox, 1 sampled"
    assert (before.author, before.what[:14]) == ("ann", "Inbox: ignore ")


def test_yaml_with_the_words_is_named_and_stays(shop: Path) -> None:
    text = YAML.replace("[cancel my order]", f"[cancel my order, {SAID}]")
    (shop / "shop.yaml").write_text(text, encoding="utf-8")

    done = run("--text", SAID)

    assert done.stdout.startswith("Erased: 1 message of the inbox, 1 sampled answer, 1 sample of a candidate, ")
    assert done.stderr == "Still there: shop.yaml\n"
    assert (shop / "shop.yaml").read_text(encoding="utf-8") == text


def test_conversation_is_erased_from_the_store_of_servers(shop: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    store = MemoryStore()
    monkeypatch.setattr("intentmatch.server.stores.store_at", lambda url: store)
    for key in ("/chat ann", "/bots/shop/chat ann", "/chat ben"):
        store.put(key, "{}", 60)

    done = run("--conversation", "ann", "--store", "redis://there", "--json")

    assert json.loads(done.stdout)["conversations"] == 2
    assert store.pop("/chat ben") == "{}"


@pytest.mark.parametrize(
    ("words", "says"),
    [
        ((), "Choose one of"),
        (("--text", "a", "--contains", "abc"), "Choose one of"),
        (("--conversation", "ann"), "needs --store"),
        (("--contains", "ab"), "at least 3 letters"),
        (("--text", "?!"), "must contain words"),
        (("--text", SAID, "--log", "none.jsonl"), "cannot be read"),
    ],
)
def test_erasing_without_words_or_places_is_refused(shop: Path, words: tuple[str, ...], says: str) -> None:
    done = run(*words)

    assert done.exit_code == 2 or done.exit_code == 1
    assert says in done.stderr
