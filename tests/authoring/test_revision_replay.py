"""Replays of messages by a revision: which there are, what they are compared with, and which are too many."""

from __future__ import annotations

from pathlib import Path

import pytest

from intentmatch import Matcher
from intentmatch.authoring import revision_replay
from intentmatch.authoring.revision_replay import RecordedMessages, heard, replay_revision
from intentmatch.authoring.score_revision import evaluate
from intentmatch.authoring.workspace import Workspace
from intentmatch.core.errors import InputError, UnknownNameError
from intentmatch.evaluation.logs import log_of_text
from intentmatch.inbox import Inbox
from intentmatch.registry.editing.edits import AddUtterance
from intentmatch.registry.editing.whole_files import ReplaceFile

TEXT = """\
language: en
intents:
  status: {utterances: [where is my order, track my parcel, has it been shipped yet]}
  cancel:
    utterances:
    - cancel my order
    - I do not want it any more
    - call off my purchase
"""
LOG = "".join(
    f'{{"text": "{text}"}}\n' for text in ["never mind, forget it"] * 3 + ["where is my order", "cancel my order"]
)


@pytest.fixture
def workspace(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Workspace:
    """With one revision, which teaches a line."""
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(tmp_path))
    folder = tmp_path / "intents"
    folder.mkdir()
    (folder / "a.yaml").write_text(TEXT, encoding="utf-8")
    found = Workspace(folder)
    edit = AddUtterance("cancel", "never mind, forget it")
    found.write([edit], author="ann", note="", expected=found.digest())
    return found


@pytest.fixture
def matcher(workspace: Workspace) -> Matcher:
    return Matcher.load(workspace.path, cache="off", inbox_sample=1)


def newest(workspace: Workspace) -> str:
    return workspace.revisions(1)[0].id


def test_messages_that_a_revision_gains_are_found(workspace: Workspace, matcher: Matcher) -> None:
    found = replay_revision(workspace, matcher, newest(workspace), RecordedMessages(log_of_text(LOG)))

    values = found.to_dict()
    assert values["messages"] == values["of_messages"] == 5
    assert values["distinct"] == values["of_distinct"] == 3
    assert values["kinds"]["gained"] >= 3
    texts = {one["text"] for cause in values["causes"] for one in cause["differences"]}
    assert "never mind, forget it" in texts


def test_registry_in_use_may_be_the_other_side(workspace: Workspace, matcher: Matcher) -> None:
    found = replay_revision(workspace, matcher, newest(workspace), RecordedMessages(log_of_text(LOG)), "current")

    assert found.to_dict()["old"] == "in use"
    assert found.found.received == 0


def test_first_revision_has_nothing_before(workspace: Workspace, matcher: Matcher) -> None:
    first = workspace.revisions()[-1].id

    with pytest.raises(InputError, match="nothing valid before revision"):
        replay_revision(workspace, matcher, first, RecordedMessages(log_of_text(LOG)))
    with pytest.raises(UnknownNameError):
        replay_revision(workspace, matcher, "99", RecordedMessages(log_of_text(LOG)))


def test_invalid_revision_is_named(workspace: Workspace, matcher: Matcher) -> None:
    """Its problems are in files that are valid by now."""
    file = workspace.path / "a.yaml"
    file.write_text(TEXT.replace("cancel:", "cancel"), encoding="utf-8")
    workspace.write([ReplaceFile(file, TEXT)], author="ann", note="", expected="*")
    broken = workspace.revisions()[1].id

    for call in (lambda: replay_revision(workspace, matcher, broken, RecordedMessages(log_of_text(LOG))),
                 lambda: evaluate(workspace, broken, matcher)):  # fmt: skip
        with pytest.raises(InputError, match=rf"^revision {broken[:10]} has errors in its files: a.yaml:\d: "):
            call()


def test_most_frequent_messages_are_replayed(
    workspace: Workspace, matcher: Matcher, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(revision_replay, "MOST_MESSAGES", 1)

    values = replay_revision(workspace, matcher, newest(workspace), RecordedMessages(log_of_text(LOG))).to_dict()

    assert (values["distinct"], values["messages"], values["of_distinct"], values["of_messages"]) == (1, 3, 3, 5)


@pytest.mark.parametrize("mode", ["redacted", "hashed"])
def test_sampled_answers_are_heard(matcher: Matcher, tmp_path: Path, mode: str) -> None:
    inbox = Inbox(tmp_path / "inbox.sqlite", mode=mode, sample=1)
    for text in ("where is my order", "where is my order", "cancel my order"):
        inbox.record(matcher.match(text))
    if mode == "hashed":
        with pytest.raises(InputError, match="only hashes are kept of answers"):
            heard(inbox)
        return
    found = heard(inbox)

    assert [(one.case.text, one.count) for one in found.log.messages] == [
        ("where is my order", 2),
        ("cancel my order", 1),
    ]
    assert found.log.messages[0].answers[("matched", "status")] == 2


def test_nothing_is_heard_without_a_sample(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="inbox_sample"):
        heard(None)
