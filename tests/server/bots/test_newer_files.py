"""Files that somebody else has changed make a bot stale until they are loaded."""

from __future__ import annotations

from pathlib import Path

import pytest
from several_bots import served, states
from starlette.testclient import TestClient

from intentmatch import Matcher
from intentmatch.registry.reading import snapshot
from intentmatch.server import create_app
from intentmatch.server.bots.newer_files import NewerFiles

AUTHOR = {"X-API-Key": "hers"}
ROOT = {"X-API-Key": "root"}
YAML = "intents:\n  greet: {utterances: [hello, hi there]}\n  bye: {utterances: [goodbye]}\n"
MORE = "intents:\n  thanks: {utterances: [thank you]}\n"


def server(folder: Path) -> TestClient:
    return TestClient(
        create_app(Matcher.load(folder), author_keys=("anna=hers",), admin_keys=("root",), authoring=True)
    )


def stale(client: TestClient) -> bool:
    answer = client.get("/readyz").json()
    assert (answer["status"] == "stale") is answer["stale"] is (answer["stale_since"] is not None)
    return bool(answer["stale"])


@pytest.fixture
def bot(tmp_path: Path) -> Path:
    folder = tmp_path / "bot"
    folder.mkdir()
    (folder / "bot.yaml").write_text(YAML, encoding="utf-8")
    return folder


def test_second_server_on_a_folder_is_stale_until_it_reloads(bot: Path) -> None:
    with server(bot) as first, server(bot) as second:
        edit = {"edits": [{"edit": "add", "intent": "greet", "text": "good day"}]}
        written = first.post("/edits", json=edit, headers={**AUTHOR, "If-Match": "*"})
        assert written.status_code == 200, written.text

        assert not stale(first)
        assert stale(second)
        assert second.post("/reload", headers=ROOT).status_code == 200
        assert not stale(second)


@pytest.mark.parametrize("change", ["edited", "added", "removed", "included"])
def test_each_change_of_the_files_counts(bot: Path, change: str) -> None:
    (bot / "other.yaml").write_text("include: [parts]\n" + MORE, encoding="utf-8")
    (bot / "parts").mkdir()
    (bot / "parts" / "a.yaml").write_text(MORE.replace("thank", "part"), encoding="utf-8")
    with server(bot) as client:
        if change == "edited":
            (bot / "bot.yaml").write_text(YAML + "# more\n", encoding="utf-8")
        elif change == "added":
            (bot / "new.yaml").write_text(MORE.replace("thanks", "news"), encoding="utf-8")
        elif change == "removed":
            (bot / "bot.yaml").unlink()
        else:
            (bot / "parts" / "b.yaml").write_text(MORE.replace("thank", "news"), encoding="utf-8")

        assert stale(client)
        assert "intentmatch_registry_stale 1.0" in client.get("/metrics").text


def test_bots_of_a_folder_are_stale_one_by_one(several: Path) -> None:
    with served(several, preload=["*"]) as client:
        (several / "shop" / "bot.yaml").write_text(YAML, encoding="utf-8")

        assert states(client) == {"bank": "ready", "pizza": "ready", "shop": "stale"}
        assert client.get("/readyz").json()["stale"] == 1


def test_files_are_looked_at_once_a_second(bot: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    matcher, asked = Matcher.load(bot), []
    monkeypatch.setattr(Matcher, "is_current", lambda self: asked.append(self) or True)
    files = NewerFiles()
    for _ in range(5):
        files.look(matcher)

    assert len(asked) == 1


def test_files_that_did_not_change_are_not_read_again(bot: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = bot / "bot.yaml"
    matcher = Matcher.load(bot)
    monkeypatch.setattr(snapshot, "_SECONDS_UNTIL_SETTLED", -1.0)
    assert matcher.is_current()
    monkeypatch.setattr(snapshot, "read_regular", lambda *_: pytest.fail("read again"))

    assert matcher.is_current()
    monkeypatch.undo()
    file.write_text(YAML.replace("hello", "howdy"), encoding="utf-8")
    assert not matcher.is_current()
