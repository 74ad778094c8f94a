"""Commands keep revisions where a history has begun, and write as before elsewhere."""

from __future__ import annotations

import getpass
import shutil
from pathlib import Path

import pytest
from authoring.conftest import TEXT, git

from intentmatch.authoring.operations import local
from intentmatch.authoring.operations.local import local_author, write_confirmed
from intentmatch.authoring.workspace import Workspace
from intentmatch.core.errors import ChangedMeanwhileError
from intentmatch.registry.editing.edits import AddUtterance


@pytest.fixture
def login(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shutil, "which", lambda name: None)
    monkeypatch.setattr(getpass, "getuser", lambda: "carla")


@pytest.mark.usefixtures("login")
def test_without_history_the_files_alone_are_written(bot: Path) -> None:
    workspace = Workspace(bot)

    done = write_confirmed(workspace.plan([AddUtterance("greet", "good day")]))

    assert done.revision is None
    assert "good day" in (bot / "bot.yaml").read_text(encoding="utf-8")
    assert [entry.name for entry in bot.iterdir()] == ["bot.yaml"]


@pytest.mark.usefixtures("login")
def test_begun_history_gets_a_revision_of_the_local_author(bot: Path) -> None:
    workspace = Workspace(bot)
    workspace.begin_history()
    assert workspace.has_history

    done = write_confirmed(workspace.plan([AddUtterance("greet", "good day")]))

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
    changes = workspace.plan([AddUtterance("greet", "good day")])
    (bot / "bot.yaml").write_text(TEXT + "  # by hand\n", encoding="utf-8")

    with pytest.raises(ChangedMeanwhileError):
        write_confirmed(changes)

    assert (bot / "bot.yaml").read_text(encoding="utf-8") == TEXT + "  # by hand\n"


def test_plain_repository_gets_no_commits_until_the_history_begins(repository: Path, bot: Path) -> None:
    git(repository, "config", "user.name", "Owner")
    workspace = Workspace(bot)
    write_confirmed(workspace.plan([AddUtterance("greet", "good day")]))
    assert git(repository, "log", "--format=%s").split("\n")[0] == "Begin"

    workspace.begin_history()
    write_confirmed(workspace.plan([AddUtterance("greet", "good evening")]), "Evening")

    assert git(repository, "log", "--format=%an %s").splitlines()[0] == "Owner Evening"


def test_author_without_any_name_is_unknown(bot: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def nobody() -> str:
        raise KeyError

    monkeypatch.setattr(shutil, "which", lambda name: None)
    monkeypatch.setattr(getpass, "getuser", nobody)

    assert local_author(bot) == local._NOBODY
