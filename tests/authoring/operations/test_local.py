"""Commands keep revisions where a history has begun, and write as before elsewhere."""

from __future__ import annotations

import getpass
import shutil
from pathlib import Path

import pytest
from authoring.conftest import TEXT, git

from intentmatch.authoring.operations import local
from intentmatch.authoring.operations.local import local_author, write_confirmed
from intentmatch.authoring.operations.operation import Operation
from intentmatch.authoring.workspace import Workspace
from intentmatch.core.errors import ChangedMeanwhileError
from intentmatch.inbox import Inbox
from intentmatch.registry.editing.edits import AddUtterance


@pytest.fixture
def login(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shutil, "which", lambda name: None)
    monkeypatch.setattr(getpass, "getuser", lambda: "carla")


@pytest.mark.usefixtures("login")
def test_without_history_the_files_alone_are_written(bot: Path) -> None:
    workspace = Workspace(bot)

    done = write_confirmed(Operation([AddUtterance("greet", "good day")]).planned(workspace))

    assert done.revision is None
    assert done.digest == workspace.digest()
    assert "good day" in (bot / "bot.yaml").read_text(encoding="utf-8")
    assert [entry.name for entry in bot.iterdir()] == ["bot.yaml"]


@pytest.mark.usefixtures("login")
def test_begun_history_gets_a_revision_of_the_local_author(bot: Path) -> None:
    workspace = Workspace(bot)
    workspace.begin_history()
    assert workspace.history.begun

    done = write_confirmed(Operation([AddUtterance("greet", "good day")]).planned(workspace))

    assert done.revision is not None
    assert [(one.author, one.note) for one in workspace.revisions()] == [
        ("carla", "Add to greet"),
        (None, "Before the first edit"),
    ]
    assert [(one.author, one.what) for one in workspace.audit()] == [("carla", "Add to greet")]


@pytest.mark.usefixtures("login")
def test_files_changed_since_the_plan_stay_as_they_are(bot: Path) -> None:
    workspace = Workspace(bot)
    workspace.begin_history()
    plan = Operation([AddUtterance("greet", "good day")]).planned(workspace)
    (bot / "bot.yaml").write_text(TEXT + "  # by hand\n", encoding="utf-8")

    with pytest.raises(ChangedMeanwhileError):
        write_confirmed(plan)

    assert (bot / "bot.yaml").read_text(encoding="utf-8") == TEXT + "  # by hand\n"


def test_messages_stay_in_the_inbox_if_a_copy_cannot_be_published(bot: Path, tmp_path: Path) -> None:
    inbox = Inbox(tmp_path / "misses.sqlite")
    inbox.correct("good day", "greet")
    operation = Operation([AddUtterance("greet", "good day")], answers=inbox.messages())

    def quicker(note: str) -> None:
        raise ChangedMeanwhileError(f"somebody else was quicker than: {note}")

    with pytest.raises(ChangedMeanwhileError, match="than: Add to greet"):
        write_confirmed(operation.planned(Workspace(bot)), inbox=inbox, publish=quicker)

    assert [message.text for message in inbox.messages()] == ["good day"]


def test_plain_repository_gets_no_commits_until_the_history_begins(repository: Path, bot: Path) -> None:
    git(repository, "config", "user.name", "Owner")
    workspace = Workspace(bot)
    write_confirmed(Operation([AddUtterance("greet", "good day")]).planned(workspace))
    assert git(repository, "log", "--format=%s").split("\n")[0] == "Begin"

    workspace.begin_history()
    write_confirmed(Operation([AddUtterance("greet", "good evening")], note="Evening").planned(workspace))

    assert git(repository, "log", "--format=%an %s").splitlines()[0] == "Owner Evening"


def test_author_without_any_name_is_unknown(bot: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def nobody() -> str:
        raise KeyError

    monkeypatch.setattr(shutil, "which", lambda name: None)
    monkeypatch.setattr(getpass, "getuser", nobody)

    assert local_author(bot) == local._NOBODY
