"""A bot in PostgreSQL is edited as a folder is: the same contract, in one transaction."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading

import pytest
from authoring.conftest import TEXT

from intentmatch.authoring.revisions import digest_of, restoring_note
from intentmatch.authoring.workspace import ANY, StaleRevisionError, Workspace
from intentmatch.core.errors import ChangedMeanwhileError, InputError, RegistryError, UnknownNameError
from intentmatch.registry.editing.edits import AddUtterance, RemoveIntent
from intentmatch.registry.editing.fields import SetField
from intentmatch.registry.editing.whole_files import ReplaceFile


@pytest.fixture
def stored(postgres_address):
    """The address of the small bot, in the database."""
    from intentmatch.storage.postgres.address import Address
    from intentmatch.storage.postgres.database import Database
    from intentmatch.storage.postgres.registries import RegistryStore

    address = Address.parse(postgres_address)
    files = {"bot.yaml": TEXT.encode()}
    RegistryStore(Database(address)).write(files, author=None, note="Before the first edit", expected=None)
    return address


@pytest.fixture(params=["folder", "database"])
def workspace(request, monkeypatch, tmp_path):
    """Both stores of files obey the same contract."""
    if request.param == "folder":
        return Workspace(request.getfixturevalue("bot"))
    from intentmatch.authoring.database_workspace import DatabaseWorkspace

    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return DatabaseWorkspace(request.getfixturevalue("stored"))


def add(workspace, text, expected=ANY, author="anna"):
    return workspace.write([AddUtterance("greet", text)], author=author, note=f"Add {text}", expected=expected).digest


def test_edit_keeps_comments_and_has_revision_and_audit_entry(workspace):
    before = digest_of(workspace.files())
    written = workspace.write([AddUtterance("greet", "good day")], author="anna", note="More", expected=before)

    assert written.digest == digest_of(workspace.files()) == workspace.digest() != before
    assert workspace.files() == {"bot.yaml": TEXT.replace("hi there]", "hi there, good day]").encode()}
    assert [(one.author, one.note) for one in workspace.revisions()] == [
        ("anna", "More"),
        (None, "Before the first edit"),
    ]
    (entry,) = workspace.audit()
    assert (entry.author, entry.what, entry.digest) == ("anna", "More", written.digest)
    assert entry.revision == written.revision.id


def test_stale_edit_shows_both_sides_and_writes_nothing(workspace):
    old = digest_of(workspace.files())
    add(workspace, "good day", old)
    with pytest.raises(StaleRevisionError) as caught:
        add(workspace, "good evening", old)

    assert caught.value.digest == digest_of(workspace.files())
    assert "+    utterances: [hello, hi there, good day]" in (caught.value.theirs or "")
    assert "+    utterances: [hello, hi there, good day, good evening]" in (caught.value.yours or "")
    assert b"evening" not in workspace.files()["bot.yaml"]
    add(workspace, "good evening", caught.value.digest)


def test_edit_without_a_note_is_described(workspace):
    written = workspace.write([AddUtterance("greet", "good day")], author="anna", note=" ", expected=ANY)

    assert "good day" in written.revision.note or "greet" in written.revision.note


def test_edit_that_brings_errors_or_is_impossible_writes_nothing(workspace):
    before = workspace.files()
    with pytest.raises(RegistryError):
        workspace.write([SetField("greet", "threshold", 7)], author="anna", note="", expected=ANY)
    with pytest.raises(UnknownNameError):
        workspace.write([RemoveIntent("nobody")], author="anna", note="", expected=ANY)

    assert workspace.files() == before
    assert workspace.audit() == []


def test_edit_that_changes_nothing_makes_no_revision(workspace):
    name = workspace.place("bot.yaml")
    written = workspace.write([ReplaceFile(name, TEXT)], author="anna", note="same", expected=ANY)

    assert written.revision is None
    assert workspace.audit() == []


def test_files_are_added_and_replaced_by_name(workspace):
    more = "intents: {thanks: {utterances: {en: [thank you]}}}\n"
    workspace.write([ReplaceFile(workspace.place("more.yaml"), more)], author="anna", note="", expected=ANY)

    assert workspace.files()["more.yaml"] == more.encode()
    assert "thanks" in workspace.examine()[0]
    with pytest.raises(InputError):
        workspace.plan([ReplaceFile(workspace.place("../out.yaml"), more)])


def test_invalid_text_is_reported_with_its_place(workspace):
    with pytest.raises(RegistryError) as caught:
        workspace.plan([ReplaceFile(workspace.place("bot.yaml"), "intents: [unclosed\n")])

    assert caught.value.problems[0].location.path.endswith("bot.yaml")


def test_restore_is_a_new_revision(workspace):
    add(workspace, "good day")
    first = workspace.revisions()[-1].id
    workspace.write(workspace.restoring(first), author="bob", note=restoring_note(first), expected=ANY)

    assert workspace.files() == {"bot.yaml": TEXT.encode()}
    assert workspace.revisions()[0].note == f"Restore revision {first}"
    with pytest.raises(UnknownNameError):
        workspace.write(workspace.restoring("99"), author="bob", note=restoring_note("99"), expected=ANY)


def test_revision_shows_what_it_changed(workspace):
    add(workspace, "good day")
    newest = workspace.revisions()[0]
    revision, (diff,) = workspace.revision(newest.id)

    assert revision == newest
    assert diff.name == "bot.yaml"
    assert "+    utterances: [hello, hi there, good day]" in diff.diff
    with pytest.raises(UnknownNameError):
        workspace.revision("nonsense")


def test_threads_lose_no_edit(workspace):
    def work(author: str) -> None:
        for number in range(4):
            while True:
                try:
                    add(workspace, f"hello {author} {number}", author=author)
                    break
                except ChangedMeanwhileError:
                    continue

    threads = [threading.Thread(target=work, args=[name]) for name in "abc"]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)

    text = workspace.files()["bot.yaml"].decode()
    assert all(f"hello {author} {number}" in text for author in "abc" for number in range(4))
    assert len(workspace.revisions()) == 13


def test_two_replicas_edit_at_once_and_one_is_refused(stored, monkeypatch):
    """The other one writes between the check of the condition and the write."""
    from intentmatch.authoring.database_workspace import DatabaseWorkspace

    here, there = DatabaseWorkspace(stored), DatabaseWorkspace(stored)
    digest = digest_of(here.files())
    real = DatabaseWorkspace.plan

    def late(self, edits):
        changes = real(self, edits)
        if self is here:
            add(there, "good day", digest)
        return changes

    monkeypatch.setattr(DatabaseWorkspace, "plan", late)
    with pytest.raises(ChangedMeanwhileError, match="anna wrote revision 2"):
        add(here, "good evening", digest, author="bob")
    monkeypatch.undo()

    assert b"good day" in here.files()["bot.yaml"]
    assert b"evening" not in here.files()["bot.yaml"]
    assert [entry.author for entry in here.audit()] == ["anna"]


def test_settling_waits_for_nobody_and_needs_no_database(stored, monkeypatch, tmp_path):
    """Files and revision are one transaction: whoever sees the new files sees their revision."""
    from intentmatch.authoring.database_workspace import DatabaseWorkspace
    from intentmatch.storage.postgres.registries import RegistryStore

    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    workspace, seen = DatabaseWorkspace(stored), []
    workspace.history.folder.mkdir(parents=True)
    real = RegistryStore.write_in

    def write_in(self, *arguments, **options):
        revision = real(self, *arguments, **options)
        another = DatabaseWorkspace(stored)
        another.settle()
        seen.append((another.files(), len(another.revisions())))
        return revision

    monkeypatch.setattr(RegistryStore, "write_in", write_in)
    add(workspace, "good day")
    assert seen == [({"bot.yaml": TEXT.encode()}, 1)]
    assert len(workspace.revisions()) == 2

    monkeypatch.setattr(DatabaseWorkspace, "files", lambda self: 1 / 0)
    workspace.settle()


_KILLED = """
import os, signal, sys
from intentmatch.authoring.database_workspace import DatabaseWorkspace
from intentmatch.registry.editing.edits import AddUtterance
from intentmatch.storage.postgres import audit_rows
from intentmatch.storage.postgres.address import Address

audit_rows.note_in = lambda *_, **__: os.kill(os.getpid(), signal.SIGKILL)
DatabaseWorkspace(Address.parse(sys.argv[1])).write([AddUtterance("greet", "half")], author="a", note="", expected="*")
"""


def test_kill_in_a_write_leaves_neither_revision_nor_entry(stored, postgres):
    from intentmatch.authoring.database_workspace import DatabaseWorkspace

    address = postgres.url(more=f"/{stored.bot}")
    died = subprocess.run([sys.executable, "-c", _KILLED, address], timeout=300, check=False, env={**os.environ})
    workspace = DatabaseWorkspace(stored)

    assert died.returncode == -signal.SIGKILL
    assert workspace.files() == {"bot.yaml": TEXT.encode()}
    assert (len(workspace.revisions()), workspace.audit()) == (1, [])
    add(workspace, "good day")
