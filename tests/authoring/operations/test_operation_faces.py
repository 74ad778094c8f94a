"""The contract of an edit: every operation has the same result through every face, also when one of its steps fails."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import get_args

import pytest
from authoring.operations.faces import CASES, FACES, IGNORE, Face, inbox_of, nothing, record

from intentmatch.authoring import summary
from intentmatch.authoring.audit import AuditLog
from intentmatch.authoring.evaluator import Evaluator
from intentmatch.authoring.folder_history import FolderHistory
from intentmatch.authoring.workspace import Workspace
from intentmatch.core.errors import InputError
from intentmatch.inbox import Inbox
from intentmatch.matching.matcher import Matcher
from intentmatch.registry.editing.edits import AddUtterance
from intentmatch.registry.editing.plan import Changes
from intentmatch.registry.editing.removal import RemoveItems
from intentmatch.server.routes.schemas.authoring.edits import AnyEdit

REFUSED = {"impossible": "nowhere", "invalid": "already belongs to"}
WRITTEN = [
    (face, name) for name, case in CASES.items() if name not in REFUSED for face in FACES if FACES[face].has(case)
]
INBOXES = [name for name, face in FACES.items() if face.empties_the_inbox]


@pytest.fixture
def evaluated(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The revisions that are queued for evaluation, which nobody evaluates."""
    asked: list[str] = []
    monkeypatch.setattr(Evaluator, "ask", lambda _, identity: asked.append(identity))
    return asked


@pytest.fixture
def begun(bot: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with an inbox, whose history has a first revision, and whose second one has another line."""
    monkeypatch.setenv("INTENTMATCH_INBOX", str(inbox_of(bot).path))
    unformatted = text_of(bot).replace("[goodbye]", "['goodbye']")
    (bot / "bot.yaml").write_text(unformatted, encoding="utf-8")
    workspace = Workspace(bot)
    workspace.begin_history()
    workspace.write([AddUtterance("bye", "see you")], author="zoe", note="", expected="*")
    return bot


def failing(*_: object, **__: object) -> None:
    raise InputError("the disk is full")


@pytest.fixture(params=FACES)
def face(request: pytest.FixtureRequest) -> Face:
    return FACES[request.param]


def text_of(bot: Path) -> str:
    return (bot / "bot.yaml").read_text(encoding="utf-8")


def left(bot: Path) -> list[str | None]:
    """The messages in the inbox."""
    inbox = inbox_of(bot)
    return [message.text for message in inbox.messages()] if inbox.has_messages else []


def test_contract_has_every_kind_of_edit(bot: Path):
    """But that of `lint --fix`, whose places are those of one moment."""
    kinds = {type(edit) for name, case in CASES.items() if name != "restore" for edit in case.edits(Workspace(bot))}
    calls = {edit["edit"] for case in CASES.values() if case.body for edit in case.body["edits"]}

    assert kinds == set(summary._WORDS) - {RemoveItems}
    assert calls == {get_args(kind.model_fields["edit"].annotation)[0] for kind in get_args(get_args(AnyEdit)[0])}


@pytest.mark.parametrize(("face", "name"), WRITTEN)
def test_files_revision_audit_queue_and_inbox_are_the_same(begun: Path, evaluated: list[str], face: str, name: str):
    used, case = FACES[face], CASES[name]
    workspace = Workspace(begun)
    changes = workspace.plan(used.edits(case, workspace))
    wanted = workspace.named(changes.contents)
    assert changes.files

    shown = used.carry_out(begun, case, nothing)

    assert shown == ("", "", False)
    assert workspace.files() == wanted
    newest, *_ = workspace.revisions()
    noted, *_ = workspace.audit()
    assert newest.id == noted.revision == "3"
    assert newest.note == noted.what
    assert newest.author == noted.author
    assert noted.digest == workspace.digest()
    assert evaluated == (["3"] if used.evaluates else [])
    assert left(begun) == []


@pytest.mark.parametrize("name", [name for name in CASES if name not in REFUSED])
def test_notes_are_the_same(begun: Path, evaluated: list[str], name: str, tmp_path_factory: pytest.TempPathFactory):
    """Where the author writes none. The note of the inbox says where the lines come from; that of `grow` also whose."""
    notes = {}
    for face in [face for face, had in WRITTEN if had == name and face not in ("grow", "studio")]:
        copy = tmp_path_factory.mktemp("copy") / "bot"
        shutil.copytree(begun, copy)
        with pytest.MonkeyPatch.context() as patch:
            patch.setenv("INTENTMATCH_INBOX", str(inbox_of(copy).path))
            FACES[face].carry_out(copy, CASES[name], nothing)
        notes[face] = Workspace(copy).revisions()[0].note

    assert not notes or len({note.removeprefix("Inbox: ") for note in notes.values()}) == 1
    assert {face for face, note in notes.items() if note.startswith("Inbox: ")} == {*notes} & {*INBOXES}


@pytest.mark.parametrize(("name", "reason"), REFUSED.items())
def test_edit_that_cannot_be_planned_writes_nothing(
    begun: Path, evaluated: list[str], face: Face, name: str, reason: str
):
    if not face.has(CASES[name]):
        pytest.skip("lines that are refused are not proposed")
    before = Workspace(begun).files()

    shown = face.carry_out(begun, CASES[name], nothing)

    assert reason in shown.error
    assert Workspace(begun).files() == before
    assert len(Workspace(begun).revisions()) == 2
    assert evaluated == []
    assert left(begun) == ([CASES[name].text] if face.empties_the_inbox else [])


def test_files_that_change_between_plan_and_write_stay(begun: Path, evaluated: list[str], face: Face):
    theirs = text_of(begun).replace("see you", "see you soon")

    shown = face.carry_out(begun, CASES["add"], lambda: (begun / "bot.yaml").write_text(theirs, encoding="utf-8"))

    assert shown.error
    assert text_of(begun) == theirs
    assert len(Workspace(begun).revisions()) == 2
    assert evaluated == []


def test_failed_write_is_an_error_and_leaves_the_files(
    begun: Path, evaluated: list[str], face: Face, monkeypatch: pytest.MonkeyPatch
):
    before = Workspace(begun).files()
    monkeypatch.setattr(Changes, "write", failing)

    shown = face.carry_out(begun, CASES["add"], nothing)

    assert "the disk is full" in shown.error
    assert Workspace(begun).files() == before
    assert evaluated == []
    assert left(begun) == ([CASES["add"].text] if face.empties_the_inbox else [])


@pytest.mark.parametrize(
    ("broken", "method", "warning"),
    [
        (FolderHistory, "record", "The files are written, but no revision is kept: the disk is full"),
        (AuditLog, "note", "The files are written, but the disk is full"),
    ],
)
def test_history_that_cannot_be_kept_is_a_warning(
    begun: Path,
    evaluated: list[str],
    face: Face,
    broken: type,
    method: str,
    warning: str,
    monkeypatch: pytest.MonkeyPatch,
):
    monkeypatch.setattr(broken, method, failing)

    shown = face.carry_out(begun, CASES["add"], nothing)

    assert (shown.error, shown.warnings.strip(), shown.offers_another_write) == ("", warning, False)
    assert "hello there" in text_of(begun)


@pytest.mark.parametrize("face", INBOXES)
def test_inbox_that_cannot_be_changed_is_a_warning(
    begun: Path, evaluated: list[str], face: str, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(Inbox, "handle", failing)

    shown = FACES[face].carry_out(begun, CASES["add"], nothing)

    warning = "The files are written, but their messages stay in the inbox: the disk is full"
    assert (shown.error, shown.warnings.strip(), shown.offers_another_write) == ("", warning, False)
    assert "hello there" in text_of(begun)


@pytest.mark.parametrize("face", INBOXES)
def test_ignored_messages_leave_the_inbox_and_are_noted(begun: Path, evaluated: list[str], face: str):
    before = Workspace(begun).files()

    shown = FACES[face].carry_out(begun, IGNORE, nothing)

    assert shown == ("", "", False)
    assert Workspace(begun).files() == before
    noted, *_ = Workspace(begun).audit()
    assert (noted.what, noted.revision) == ("Inbox: ignore 1 message", None)
    assert left(begun) == evaluated == []


@pytest.mark.parametrize("face", [face for face, name in WRITTEN if name == "restore"])
def test_restored_files_give_messages_back(
    begun: Path, evaluated: list[str], face: str, monkeypatch: pytest.MonkeyPatch
):
    record(begun, "see you")
    inbox_of(begun).handle(inbox_of(begun).messages(), "added")

    FACES[face].carry_out(begun, CASES["restore"], nothing)

    assert left(begun) == ["see you"]


@pytest.mark.parametrize("face", [face for face, name in WRITTEN if name == "rename"])
def test_inbox_follows_a_renamed_intent(begun: Path, evaluated: list[str], face: str):
    inbox_of(begun).correct("so long", "bye", "en")

    assert FACES[face].carry_out(begun, CASES["rename"], nothing) == ("", "", False)

    (message,) = inbox_of(begun).messages()
    assert message.corrections == {"farewell": 1}


NOT_FOLLOWED = {
    "rename": ("rename_intent", "the inbox has the old name of the intent"),
    "restore": ("reopen", "messages do not return to the inbox"),
}


@pytest.mark.parametrize(("face", "name"), [pair for pair in WRITTEN if pair[1] in NOT_FOLLOWED])
def test_inbox_that_does_not_follow_the_files_is_a_warning(
    begun: Path, evaluated: list[str], face: str, name: str, monkeypatch: pytest.MonkeyPatch
):
    method, what = NOT_FOLLOWED[name]
    monkeypatch.setattr(Inbox, method, failing)

    shown = FACES[face].carry_out(begun, CASES[name], nothing)

    assert (shown.error, shown.warnings.strip()) == ("", f"The files are written, but {what}: the disk is full")


def test_failed_reload_is_a_warning_and_offers_no_second_write(
    begun: Path, evaluated: list[str], face: Face, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(Matcher, "reload", failing)

    shown = face.carry_out(begun, CASES["add"], nothing)

    assert (shown.error, shown.offers_another_write) == ("", False)
    assert "hello there" in text_of(begun)
    if face.answers:
        assert shown.warnings.startswith("The files are written, but not in use: ")
        assert "the disk is full" in shown.warnings
    assert evaluated == (["3"] if face.evaluates else [])
    assert left(begun) == []


def test_evaluation_that_cannot_begin_is_a_warning(begun: Path, face: Face, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(Evaluator, "ask", failing)

    shown = face.carry_out(begun, CASES["add"], nothing)

    expected = "The files are written, but the revision is not evaluated: the disk is full"
    assert (shown.error, shown.warnings) == ("", expected if face.evaluates else "")
    assert "hello there" in text_of(begun)
