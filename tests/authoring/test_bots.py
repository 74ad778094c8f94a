"""Bots of a folder: what they share with those of a database is in `test_database_bots`."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest
from authoring.conftest import TEXT, git

from intentmatch.authoring.bots import REMOVED, BotExistsError, Bots
from intentmatch.authoring.workspace import ANY, Workspace
from intentmatch.core.errors import InputError, UnknownNameError
from intentmatch.registry.confinement import ReadLimits

FILES = {"bot.yaml": TEXT}


@pytest.fixture
def folder(bot: Path) -> Path:
    """A folder with one bot, `bot`."""
    return bot.parent


def bots_of(folder: Path) -> Bots:
    def found() -> Mapping[str, Path]:
        visible = [entry for entry in sorted(folder.iterdir()) if not entry.name.startswith(".")]
        return {entry.name.removesuffix(".intentmatch"): entry for entry in visible if entry.suffix != ".txt"}

    return Bots(folder, found, ReadLimits.from_settings)


@pytest.mark.parametrize("taken", ["shop/bot.yaml", "shop.intentmatch"])
def test_name_that_is_taken_is_refused(folder: Path, taken: str) -> None:
    (folder / taken).parent.mkdir(exist_ok=True)
    (folder / taken).write_text("theirs", encoding="utf-8")

    with pytest.raises(BotExistsError):
        bots_of(folder).create("shop", FILES, author="anna")
    assert (folder / taken).read_text(encoding="utf-8") == "theirs"


def test_artefact_moves_aside_and_back(folder: Path) -> None:
    (folder / "shop.intentmatch").write_bytes(b"built")
    bots = bots_of(folder)

    gone = bots.remove("shop", author="root", expected=ANY)
    assert (folder / REMOVED / gone.id / "shop.intentmatch").read_bytes() == b"built"
    back = bots.restore(gone.id, author="root")

    assert (back.digest, back.revision) == (None, None)
    assert (folder / "shop.intentmatch").read_bytes() == b"built"


def test_repository_gets_commits(repository: Path, bot: Path) -> None:
    bots = bots_of(repository)
    bots.create("shop", FILES, author="anna")
    assert git(repository, "show", "--stat", "--format=%an %s", "HEAD").startswith("anna Create the bot shop\n")
    (repository / "shop" / "bot.yaml").write_text(TEXT + "  # by hand\n", encoding="utf-8")

    gone = bots.remove("shop", author="root", expected=ANY)

    subjects = git(repository, "log", "--format=%an %s").splitlines()[:2]
    assert subjects == ["root Remove the bot shop", "intentmatch Keep changes made by another program"]
    assert git(repository, "status", "--porcelain") == ""
    bots.restore(gone.id, author="root")
    assert (repository / "shop" / "bot.yaml").read_text(encoding="utf-8").endswith("# by hand\n")
    assert git(repository, "status", "--porcelain") == ""


def test_killed_creation_leaves_nothing_in_the_way(folder: Path) -> None:
    (folder / ".intentmatch-new").mkdir()
    (folder / ".intentmatch-new" / "old.yaml").write_text("half", encoding="utf-8")

    bots_of(folder).create("shop", FILES, author="anna")

    assert set(Workspace(folder / "shop").files()) == {"bot.yaml"}


def test_killed_removal_leaves_nothing_to_restore(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    bots = bots_of(folder)
    bots.create("shop", FILES, author="anna")
    with monkeypatch.context() as patch:
        patch.setattr(Path, "rename", killed)
        with pytest.raises(KeyboardInterrupt):
            bots.remove("shop", author="root", expected=ANY)

    assert bots.removed() == []
    gone = bots.remove("shop", author="root", expected=ANY)
    assert [bot.id for bot in bots.removed()] == [gone.id]


def test_killed_restoration_leaves_nothing_to_restore_again(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    bots = bots_of(folder)
    bots.create("shop", FILES, author="anna")
    gone = bots.remove("shop", author="root", expected=ANY)
    with monkeypatch.context() as patch:
        patch.setattr(Path, "rmdir", killed)
        with pytest.raises(KeyboardInterrupt):
            bots.restore(gone.id, author="root")

    assert bots.removed() == []
    with pytest.raises(UnknownNameError, match="removed bot"):
        bots.restore(gone.id, author="root")


def killed(*_: object) -> None:
    raise KeyboardInterrupt


def test_folder_that_cannot_be_written_is_named(folder: Path) -> None:
    (folder / REMOVED).write_text("in the way", encoding="utf-8")
    bots = bots_of(folder)
    bots.create("shop", FILES, author="anna")

    with pytest.raises(InputError, match="cannot be written"):
        bots.remove("shop", author="root", expected=ANY)
    assert (folder / "shop").is_dir()
