"""Revisions as commits: of the registry's files alone, whatever else is staged."""

from __future__ import annotations

import os
import time
from pathlib import Path

import pytest
from authoring.conftest import TEXT, git

from intentmatch.authoring import git_history
from intentmatch.authoring.git_history import GitHistory
from intentmatch.authoring.revisions import restoring_note
from intentmatch.authoring.workspace import ANY, Workspace
from intentmatch.core.errors import InputError, UnknownNameError
from intentmatch.registry.editing.edits import AddUtterance
from intentmatch.registry.editing.whole_files import RemoveFile, ReplaceFile

MORE = "intents:\n  thanks:\n    utterances: {en: [thank you]}\n"


def add(workspace: Workspace, text: str, author: str = "anna") -> str:
    written = workspace.write([AddUtterance("greet", text)], author=author, note=f"Add {text}", expected=ANY)
    assert written.revision is not None, written.warnings
    return written.revision.id


def test_edit_is_a_commit_of_its_author(repository: Path, bot: Path) -> None:
    identity = add(Workspace(bot), "good day")

    assert git(repository, "log", "-1", "--format=%H %an %cn %s").strip() == f"{identity} anna intentmatch Add good day"
    assert git(repository, "show", "--stat", "--format=", "HEAD").count("|") == 1
    assert git(repository, "status", "--porcelain") == ""


def test_staged_and_unstaged_files_of_others_stay_as_they_are(repository: Path, bot: Path) -> None:
    (repository / "notes.txt").write_text("two\n", encoding="utf-8")
    git(repository, "add", "notes.txt")
    (repository / "notes.txt").write_text("three\n", encoding="utf-8")
    (repository / "new.txt").write_text("new\n", encoding="utf-8")

    add(Workspace(bot), "good day")

    assert git(repository, "status", "--porcelain") == "MM notes.txt\n?? new.txt\n"
    assert git(repository, "show", ":notes.txt") == "two\n"


def test_changes_by_hand_become_a_commit_of_their_own(repository: Path, bot: Path) -> None:
    (bot / "bot.yaml").write_text(TEXT + "  # by hand\n", encoding="utf-8")
    (bot / "more.yaml").write_text(MORE, encoding="utf-8")
    workspace = Workspace(bot)

    identity = add(workspace, "good day")

    assert [(one.author, one.note) for one in workspace.revisions()] == [
        ("anna", "Add good day"),
        (None, "Keep changes made by another program"),
        ("Owner", "Begin"),
    ]
    _, changed = workspace.revision(identity)
    assert [line for line in changed[0].diff.splitlines() if line[:1] in "+-"][2:] == [
        "-    utterances: [hello, hi there]   # short",
        "+    utterances: [hello, hi there, good day]   # short",
    ]


def test_new_and_removed_files_are_committed_and_restored(repository: Path, bot: Path) -> None:
    workspace = Workspace(bot)
    first = workspace.revisions()[0].id
    edits = [ReplaceFile(bot / "sub" / "more.yaml", MORE), RemoveFile(bot / "bot.yaml")]
    workspace.write(edits, author="bob", note="Swap", expected=ANY)
    assert git(repository, "ls-files", "bot").split() == ["bot/sub/more.yaml"]

    workspace.write(workspace.restoring(first), author="bob", note=restoring_note(first), expected=ANY)

    assert workspace.files() == {"bot.yaml": TEXT.encode()}
    assert git(repository, "status", "--porcelain") == ""
    assert workspace.revisions()[0].note == f"Restore revision {first[:10]}"


def test_commits_that_change_other_files_are_no_revisions(repository: Path, bot: Path) -> None:
    (repository / "notes.txt").write_text("two\n", encoding="utf-8")
    git(repository, "commit", "--quiet", "-am", "Notes")

    workspace = Workspace(bot / "bot.yaml")

    assert [one.note for one in workspace.revisions()] == ["Begin"]
    add(workspace, "good day")
    assert len(workspace.revisions()) == 2


def test_hooks_and_signing_of_the_repository_do_not_run(repository: Path, bot: Path) -> None:
    hook = repository / ".git" / "hooks" / "pre-commit"
    hook.parent.mkdir(exist_ok=True)
    hook.write_text("#!/bin/sh\nexit 1\n", encoding="utf-8")
    hook.chmod(0o755)
    git(repository, "config", "commit.gpgSign", "true")

    assert add(Workspace(bot), "good day")


def test_name_of_a_key_cannot_forge_an_identity(repository: Path, bot: Path) -> None:
    add(Workspace(bot), "good day", author="anna <boss@example.org>\nX: y")

    assert "boss@example.org" not in git(repository, "log", "-1", "--format=%ae")
    assert git(repository, "log", "-1", "--format=%an").startswith("anna boss")


def test_nothing_is_written_in_the_middle_of_a_merge(repository: Path, bot: Path) -> None:
    (repository / ".git" / "MERGE_HEAD").write_text(git(repository, "rev-parse", "HEAD"), encoding="utf-8")

    with pytest.raises(InputError, match="middle of a merge"):
        add(Workspace(bot), "good day")
    assert (bot / "bot.yaml").read_text(encoding="utf-8") == TEXT


@pytest.mark.parametrize("name", ["index.lock", "refs/heads/main.lock"])
def test_lock_that_a_killed_edit_has_left_is_removed(repository: Path, bot: Path, name: str) -> None:
    left_in_the_middle_of_a_commit(bot, repository / ".git" / name, ago=120)
    identity = add(Workspace(bot), "good day")

    assert git(repository, "rev-parse", "HEAD").strip() == identity
    assert not (repository / ".git" / name).exists()


@pytest.mark.parametrize(("mark", "lock"), [(None, 120), (120, 3), (3600, 120), (30, 30)])
def test_lock_that_another_program_may_hold_stays(
    repository: Path, bot: Path, monkeypatch: pytest.MonkeyPatch, mark: float | None, lock: float
) -> None:
    """One without a killed edit, or made long after it, or not a minute old: git may go on after its parent."""
    monkeypatch.setattr(git_history, "_SECONDS_BETWEEN", 0.0)
    place = repository / ".git" / "index.lock"
    left_in_the_middle_of_a_commit(bot, place, ago=lock, begun=mark)
    (bot / "bot.yaml").write_text(TEXT + "# by hand\n", encoding="utf-8")
    with pytest.raises(InputError, match="git keeps no revision"):
        add(Workspace(bot), "good day")

    assert place.exists()


def left_in_the_middle_of_a_commit(bot: Path, lock: Path, *, ago: float, begun: float | None = -1.0) -> None:
    """Leave what a process that is killed while git writes leaves; `begun` is None for another program."""
    history = GitHistory.of(bot)
    assert history is not None
    mark = history.folder / "writing"
    mark.parent.mkdir(parents=True, exist_ok=True)
    for file, seconds in ((lock, ago), (mark, ago if begun == -1.0 else begun)):
        if seconds is not None:
            file.touch()
            os.utime(file, (time.time() - seconds, time.time() - seconds))


def test_repository_without_a_commit_gets_its_first(bot: Path) -> None:
    git(bot, "init", "--quiet")
    workspace = Workspace(bot)

    assert workspace.revisions() == []
    add(workspace, "good day")
    assert len(workspace.revisions()) == 2


def test_ignored_folder_and_folder_without_repository_have_no_commits(repository: Path, bot: Path) -> None:
    assert GitHistory.of(bot) is not None
    (repository / ".gitignore").write_text("bot/\n", encoding="utf-8")
    assert GitHistory.of(bot) is not None  # tracked all the same
    git(repository, "rm", "--quiet", "--cached", "bot/bot.yaml")
    assert GitHistory.of(bot) is None
    assert GitHistory.of(bot / "nowhere") is None


@pytest.mark.parametrize("name", ["HEAD", "main", "0" * 40, "--all", "abcdef", "HEAD:bot"])
def test_only_known_commits_are_revisions(repository: Path, bot: Path, name: str) -> None:
    with pytest.raises(UnknownNameError):
        Workspace(bot).revision(name)
