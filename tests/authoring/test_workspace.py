"""Write, refuse and restore: whoever is quicker, nothing is lost."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest
from authoring.conftest import TEXT

from intentmatch.authoring.folder_history import FolderHistory
from intentmatch.authoring.revisions import digest_of, restoring_note
from intentmatch.authoring.workspace import ANY, StaleRevisionError, Workspace
from intentmatch.core.errors import InputError, RegistryError, UnknownNameError
from intentmatch.registry.editing.edits import AddUtterance, RemoveIntent
from intentmatch.registry.editing.fields import SetField
from intentmatch.registry.editing.whole_files import ReplaceFile


def add(workspace: Workspace, text: str, expected: str = ANY, author: str = "anna") -> str:
    return workspace.write([AddUtterance("greet", text)], author=author, note=f"Add {text}", expected=expected).digest


def test_edit_is_written_with_revision_and_audit_entry(bot: Path) -> None:
    workspace = Workspace(bot)
    before = digest_of(workspace.files())

    written = workspace.write([AddUtterance("greet", "good day")], author="anna", note="More", expected=before)

    assert written.digest == digest_of(workspace.files()) != before
    assert (bot / "bot.yaml").read_text(encoding="utf-8") == TEXT.replace("hi there]", "hi there, good day]")
    assert written.revision is not None
    assert [(one.author, one.note) for one in workspace.revisions()] == [
        ("anna", "More"),
        (None, "Before the first edit"),
    ]
    (entry,) = workspace.audit()
    assert (entry.author, entry.what) == ("anna", "More")
    assert (entry.digest, entry.revision) == (written.digest, written.revision.id)


def test_stale_edit_shows_both_sides_and_writes_nothing(bot: Path) -> None:
    workspace = Workspace(bot)
    old = digest_of(workspace.files())
    add(workspace, "good day", old)

    with pytest.raises(StaleRevisionError) as caught:
        add(workspace, "good evening", old)

    assert caught.value.digest == digest_of(workspace.files())
    assert "+    utterances: [hello, hi there, good day]" in (caught.value.theirs or "")
    assert "+    utterances: [hello, hi there, good day, good evening]" in (caught.value.yours or "")
    assert "evening" not in (bot / "bot.yaml").read_text(encoding="utf-8")
    add(workspace, "good evening", caught.value.digest)


def test_stale_edit_that_no_longer_fits_says_why(bot: Path) -> None:
    workspace = Workspace(bot)
    old = digest_of(workspace.files())
    workspace.write([RemoveIntent("greet")], author="bob", note="", expected=old)

    with pytest.raises(StaleRevisionError) as caught:
        add(workspace, "good evening", old)
    assert caught.value.yours is None
    assert "greet" in (caught.value.reason or "")
    with pytest.raises(StaleRevisionError) as caught:
        workspace.write([RemoveIntent("bye")], author="bob", note="", expected="f" * 16)
    assert caught.value.theirs is None


def test_of_many_writers_at_once_nothing_is_lost(bot: Path) -> None:
    """Workspaces of their own, as several processes have."""
    threads = [threading.Thread(target=add, args=(Workspace(bot), f"word {number}")) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    text = (bot / "bot.yaml").read_text(encoding="utf-8")
    assert all(f"word {number}" in text for number in range(8))
    assert len(Workspace(bot).revisions()) == 9
    assert len(Workspace(bot).audit()) == 8


def test_only_one_of_two_writers_with_the_same_revision_wins(bot: Path) -> None:
    digest = digest_of(Workspace(bot).files())
    outcomes: list[str] = []

    def write(number: int) -> None:
        try:
            outcomes.append(add(Workspace(bot), f"word {number}", digest))
        except StaleRevisionError:
            outcomes.append("stale")

    threads = [threading.Thread(target=write, args=(number,)) for number in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert outcomes.count("stale") == 1


def test_restored_revision_is_a_new_one(bot: Path) -> None:
    workspace = Workspace(bot)
    add(workspace, "good day")
    edits = [ReplaceFile(bot / "new.yaml", "intents:\n  new:\n    utterances: {en: [something]}\n")]
    workspace.write(edits, author="anna", note="New file", expected=ANY)

    written = workspace.write(workspace.restoring("1"), author="bob", note=restoring_note("1"), expected=ANY)

    assert workspace.files() == {"bot.yaml": TEXT.encode()}
    assert workspace.revisions()[0].note == "Restore revision 1"
    assert written.revision is not None
    assert (
        workspace.write(workspace.restoring("1"), author="bob", note=restoring_note("1"), expected=ANY).revision is None
    )
    workspace.write(workspace.restoring("3"), author="bob", note=restoring_note("3"), expected=ANY)
    assert set(workspace.files()) == {"bot.yaml", "new.yaml"}


def test_revision_shows_what_it_changed(bot: Path) -> None:
    workspace = Workspace(bot)
    workspace.write([SetField("bye", "title", "Go")], author="anna", note="Title", expected=ANY)

    revision, changed = workspace.revision("2")

    assert (revision.author, revision.note) == ("anna", "Title")
    assert [one.name for one in changed] == ["bot.yaml"]
    assert "+    title: Go" in changed[0].diff
    with pytest.raises(UnknownNameError):
        workspace.revision("7")


def test_eleventh_revision_is_not_taken_for_the_first(bot: Path) -> None:
    workspace = Workspace(bot)
    for number in range(10):
        add(workspace, f"day {number}")

    assert workspace.revision("1")[0].note == "Before the first edit"


def test_errors_are_refused_before_anything_is_kept(bot: Path) -> None:
    workspace = Workspace(bot)

    with pytest.raises(RegistryError):
        workspace.write([SetField("bye", "threshold", 7)], author="anna", note="", expected=ANY)
    with pytest.raises(UnknownNameError):
        workspace.write([AddUtterance("gret", "x")], author="anna", note="", expected=ANY)
    assert (bot / "bot.yaml").read_text(encoding="utf-8") == TEXT
    assert workspace.audit() == []


def test_folder_that_cannot_be_written_is_named(bot: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (bot / ".intentmatch-history").write_text("in the way", encoding="utf-8")

    with pytest.raises(InputError, match="cannot be written"):
        add(Workspace(bot), "good day")
    assert (bot / "bot.yaml").read_text(encoding="utf-8") == TEXT


def test_artefact_is_refused(tmp_path: Path) -> None:
    (tmp_path / "x.intentmatch").write_bytes(b"")

    with pytest.raises(InputError, match="is an artefact"):
        Workspace(tmp_path / "x.intentmatch")


def test_single_file_has_a_history_of_its_own(bot: Path) -> None:
    workspace = Workspace(bot / "bot.yaml")
    add(workspace, "good day")

    assert (bot / ".bot.yaml.intentmatch-history").is_dir()
    assert list(workspace.files()) == ["bot.yaml"]


def test_files_that_a_change_includes_are_read_from_then_on(bot: Path) -> None:
    workspace = Workspace(bot / "bot.yaml")
    before = workspace.digest()
    assert before == digest_of(workspace.files())
    (bot / "more").mkdir()
    (bot / "more" / "bye.yaml").write_text("intents:\n  bye:\n    utterances: [bye]\n", encoding="utf-8")
    (bot / "bot.yaml").write_text(f"include: more\n{TEXT}", encoding="utf-8")

    assert sorted(workspace.files()) == ["bot.yaml", "more/bye.yaml"]
    assert "bye" in workspace.examine()[0]
    (bot / "more" / "later.yaml").write_text("intents:\n  later:\n    utterances: [later]\n", encoding="utf-8")
    assert sorted(workspace.files()) == ["bot.yaml", "more/bye.yaml", "more/later.yaml"]
    assert workspace.digest() != before


def test_what_the_files_say_has_its_revision_after_settling(bot: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A page that saw the new files and read the revisions in between would never show the new one."""
    written, kept = threading.Event(), threading.Event()
    record = FolderHistory.record

    def slow_record(*args: object) -> object:
        written.set()
        assert not kept.wait(0.2)
        kept.set()
        return record(*args)  # type: ignore[arg-type]

    monkeypatch.setattr(FolderHistory, "record", slow_record)
    writer = threading.Thread(target=add, args=(Workspace(bot), "good day"))
    writer.start()
    assert written.wait(60)
    another = Workspace(bot)
    another.settle()

    assert kept.is_set()
    assert another.revisions(1)[0].note == "Add good day"
    writer.join()


def test_settling_makes_no_folder_where_nobody_has_written(bot: Path) -> None:
    workspace = Workspace(bot)
    workspace.settle()
    assert not workspace.history.folder.exists()
