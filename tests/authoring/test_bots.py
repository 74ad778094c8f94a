"""Bots come and go: nothing is lost, whoever else writes at the same time."""

from __future__ import annotations

import threading
from collections.abc import Mapping
from pathlib import Path

import pytest
from authoring.conftest import TEXT, git

from intentmatch.authoring.bots import REMOVED, BotExistsError, Bots, LastBotError
from intentmatch.authoring.revisions import digest_of
from intentmatch.authoring.workspace import ANY, StaleRevisionError, Workspace
from intentmatch.core.errors import InputError, IntentMatchError, RegistryError, UnknownNameError
from intentmatch.registry.editing.edits import AddUtterance

FILES = {"bot.yaml": TEXT}


@pytest.fixture
def folder(bot: Path) -> Path:
    """A folder with one bot, `bot`."""
    return bot.parent


def bots_of(folder: Path) -> Bots:
    def found() -> Mapping[str, Path]:
        visible = [entry for entry in sorted(folder.iterdir()) if not entry.name.startswith(".")]
        return {entry.name.removesuffix(".intentmatch"): entry for entry in visible if entry.suffix != ".txt"}

    return Bots(folder, found)


def test_created_bot_has_its_files_a_revision_and_an_audit_entry(folder: Path) -> None:
    bots = bots_of(folder)

    made = bots.create("shop", {"bot.yaml": TEXT, "sub/more.yaml": "intents: {x: {utterances: [y]}}\n"}, author="anna")

    workspace = Workspace(folder / "shop")
    assert set(workspace.files()) == {"bot.yaml", "sub/more.yaml"}
    assert made.digest == digest_of(workspace.files())
    assert [(one.author, one.note) for one in workspace.revisions()] == [("anna", "Create the bot shop")]
    (entry,) = bots.audit()
    assert (entry.author, entry.what, entry.digest) == ("anna", "Create the bot shop", made.digest)
    assert [one.what for one in workspace.audit()] == [entry.what]
    assert {problem.severity for problem in made.problems} <= {"warning", "info"}


@pytest.mark.parametrize("name", ["", "../x", ".hidden", "a/b", "ä", "x" * 101, "a:b"])
def test_names_that_fit_no_url_are_refused(folder: Path, name: str) -> None:
    with pytest.raises(InputError, match="not a valid name"):
        bots_of(folder).create(name, FILES, author="anna")


@pytest.mark.parametrize("files", [{"../x.yaml": TEXT}, {"x.txt": TEXT}, {"/tmp/x.yaml": TEXT}])
def test_files_outside_of_the_bot_are_refused(folder: Path, files: dict[str, str]) -> None:
    with pytest.raises(InputError):
        bots_of(folder).create("shop", files, author="anna")
    assert not (folder / "shop").exists()


def test_invalid_files_are_refused_with_their_places(folder: Path) -> None:
    with pytest.raises(RegistryError) as caught:
        bots_of(folder).create("shop", {"bot.yaml": "intents: {greet: {utterances: 7}}\n"}, author="anna")

    assert caught.value.problems[0].location.path == str(folder / "shop" / "bot.yaml")
    with pytest.raises(IntentMatchError):
        bots_of(folder).create("shop", {}, author="anna")
    assert [entry.name for entry in folder.iterdir() if not entry.name.startswith(".")] == ["bot"]


@pytest.mark.parametrize("taken", ["shop/bot.yaml", "shop.intentmatch"])
def test_name_that_is_taken_is_refused(folder: Path, taken: str) -> None:
    (folder / taken).parent.mkdir(exist_ok=True)
    (folder / taken).write_text("theirs", encoding="utf-8")

    with pytest.raises(BotExistsError):
        bots_of(folder).create("shop", FILES, author="anna")
    assert (folder / taken).read_text(encoding="utf-8") == "theirs"


def test_of_many_that_create_the_same_bot_one_wins(folder: Path) -> None:
    outcomes: list[str] = []

    def create(number: int) -> None:
        try:
            bots_of(folder).create("shop", {"bot.yaml": TEXT.replace("hello", f"hello {number}")}, author=str(number))
            outcomes.append(str(number))
        except BotExistsError:
            pass

    threads = [threading.Thread(target=create, args=(number,)) for number in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    (winner,) = outcomes
    assert f"hello {winner}" in (folder / "shop" / "bot.yaml").read_text(encoding="utf-8")
    assert [one.author for one in Workspace(folder / "shop").revisions()] == [winner]


def test_removed_bot_comes_back_with_its_history(folder: Path) -> None:
    bots = bots_of(folder)
    bots.create("shop", FILES, author="anna")
    workspace = Workspace(folder / "shop")
    workspace.write([AddUtterance("greet", "good day")], author="anna", note="Day", expected=ANY)
    files = workspace.files()

    gone = bots.remove("shop", author="root", expected=digest_of(files))

    assert not (folder / "shop").exists()
    assert [(one.id, one.name) for one in bots.removed()] == [(gone.id, "shop")]
    back = bots.restore(gone.id, author="root")
    assert Workspace(folder / "shop").files() == files
    assert [(one.author, one.note) for one in Workspace(folder / "shop").revisions()][:2] == [
        ("root", "Restore the bot shop"),
        ("anna", "Day"),
    ]
    assert back.digest == digest_of(files)
    assert bots.removed() == []
    assert [one.what for one in bots.audit()] == ["Restore the bot shop", "Remove the bot shop", "Create the bot shop"]


def test_bot_that_has_changed_is_not_removed(folder: Path) -> None:
    bots = bots_of(folder)
    old = bots.create("shop", FILES, author="anna").digest
    Workspace(folder / "shop").write([AddUtterance("greet", "good day")], author="bob", note="", expected=ANY)

    with pytest.raises(StaleRevisionError) as caught:
        bots.remove("shop", author="root", expected=str(old))

    assert "+    utterances: [hello, hi there, good day]" in (caught.value.theirs or "")
    assert (folder / "shop").is_dir()


def test_last_bot_and_unknown_bots_are_not_removed(folder: Path) -> None:
    with pytest.raises(LastBotError):
        bots_of(folder).remove("bot", author="root", expected=ANY)
    with pytest.raises(UnknownNameError):
        bots_of(folder).remove("shop", author="root", expected=ANY)
    with pytest.raises(UnknownNameError):
        bots_of(folder).restore("../bot", author="root")


def test_name_that_is_taken_again_keeps_the_removed_bot(folder: Path) -> None:
    bots = bots_of(folder)
    bots.create("shop", FILES, author="anna")
    first = bots.remove("shop", author="root", expected=ANY)
    bots.create("shop", FILES, author="anna")

    with pytest.raises(BotExistsError):
        bots.restore(first.id, author="root")
    second = bots.remove("shop", author="root", expected=ANY)
    assert {one.id for one in bots.removed()} == {first.id, second.id}


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


def test_folder_that_cannot_be_written_is_named(folder: Path) -> None:
    (folder / REMOVED).write_text("in the way", encoding="utf-8")
    bots = bots_of(folder)
    bots.create("shop", FILES, author="anna")

    with pytest.raises(InputError, match="cannot be written"):
        bots.remove("shop", author="root", expected=ANY)
    assert (folder / "shop").is_dir()
