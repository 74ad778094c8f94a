"""The contract of an edit: every operation has the same result through every face, also when one of its steps fails."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from authoring.operations.faces import ANSWERING, CASES, EVALUATING, FACES

from intentmatch.authoring.audit import AuditLog
from intentmatch.authoring.evaluator import Evaluator
from intentmatch.authoring.folder_history import FolderHistory
from intentmatch.authoring.workspace import Workspace
from intentmatch.core.errors import InputError
from intentmatch.matching.matcher import Matcher
from intentmatch.registry.editing.edits import AddUtterance
from intentmatch.registry.editing.plan import Changes

WRITTEN = [name for name in CASES if name != "impossible"]


@pytest.fixture
def evaluated(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The revisions that are queued for evaluation, which nobody evaluates."""
    asked: list[str] = []
    monkeypatch.setattr(Evaluator, "ask", lambda _, identity: asked.append(identity))
    return asked


@pytest.fixture
def begun(bot: Path) -> Path:
    """A folder whose history has a first revision, and whose second one has another line."""
    workspace = Workspace(bot)
    workspace.begin_history()
    workspace.write([AddUtterance("bye", "see you")], author="zoe", note="", expected="*")
    return bot


def failing(*_: object, **__: object) -> None:
    raise InputError("the disk is full")


@pytest.fixture(params=FACES)
def face(request: pytest.FixtureRequest) -> str:
    return request.param


@pytest.mark.parametrize("name", WRITTEN)
def test_files_revision_audit_and_queue_are_the_same(begun: Path, evaluated: list[str], face: str, name: str):
    case = CASES[name]
    wanted = Workspace(begun).plan(case.edits(Workspace(begun))).files[0].new

    shown = FACES[face](begun, case)

    workspace = Workspace(begun)
    assert shown == ("", "", False)
    assert (begun / "bot.yaml").read_text(encoding="utf-8") == wanted
    newest, *_ = workspace.revisions()
    noted, *_ = workspace.audit()
    assert newest.id == noted.revision == "3"
    assert newest.note == noted.what
    assert newest.note == (case.note or newest.note)
    assert noted.digest == workspace.digest()
    assert evaluated == (["3"] if face in EVALUATING else [])


@pytest.mark.parametrize("name", WRITTEN)
def test_notes_are_the_same(begun: Path, evaluated: list[str], name: str, tmp_path_factory: pytest.TempPathFactory):
    """Where the author writes none."""
    notes = set()
    for face in ("command line", "http"):
        copy = tmp_path_factory.mktemp("copy") / "bot"
        shutil.copytree(begun, copy)
        FACES[face](copy, CASES[name])
        notes.add(Workspace(copy).revisions()[0].note)

    assert len(notes) == 1


def test_impossible_edit_writes_nothing(begun: Path, evaluated: list[str], face: str):
    before = Workspace(begun).files()

    shown = FACES[face](begun, CASES["impossible"])

    assert "nowhere" in shown.error
    assert Workspace(begun).files() == before
    assert len(Workspace(begun).revisions()) == 2
    assert evaluated == []


def test_failed_write_is_an_error_and_leaves_the_files(
    begun: Path, evaluated: list[str], face: str, monkeypatch: pytest.MonkeyPatch
):
    before = Workspace(begun).files()
    monkeypatch.setattr(Changes, "write", failing)

    shown = FACES[face](begun, CASES["add"])

    assert "the disk is full" in shown.error
    assert Workspace(begun).files() == before
    assert evaluated == []


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
    face: str,
    broken: type,
    method: str,
    warning: str,
    monkeypatch: pytest.MonkeyPatch,
):
    monkeypatch.setattr(broken, method, failing)

    shown = FACES[face](begun, CASES["add"])

    assert (shown.error, shown.warnings.strip()) == ("", warning)
    assert "good day" in (begun / "bot.yaml").read_text(encoding="utf-8")


def test_failed_reload_is_a_warning_and_offers_no_second_write(
    begun: Path, evaluated: list[str], face: str, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(Matcher, "reload", failing)

    shown = FACES[face](begun, CASES["add"])

    assert (shown.error, shown.offers_another_write) == ("", False)
    assert "good day" in (begun / "bot.yaml").read_text(encoding="utf-8")
    if face in ANSWERING:
        assert shown.warnings.startswith("The files are written, but not in use: ")
        assert "the disk is full" in shown.warnings
    assert evaluated == (["3"] if face in EVALUATING else [])


def test_evaluation_that_cannot_begin_is_a_warning(begun: Path, face: str, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(Evaluator, "ask", failing)

    shown = FACES[face](begun, CASES["add"])

    expected = "The files are written, but the revision is not evaluated: the disk is full"
    assert (shown.error, shown.warnings) == ("", expected if face in EVALUATING else "")
    assert "good day" in (begun / "bot.yaml").read_text(encoding="utf-8")
