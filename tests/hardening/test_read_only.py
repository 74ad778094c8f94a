"""Files that cannot be written any more: answers go on, writing fails with a reason and an advice, nothing is lost."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

pytestmark = [
    pytest.mark.end_to_end,
    pytest.mark.skipif(not sys.platform.startswith("linux"), reason="needs the rights and mounts of Linux"),
]

PROGRAM = Path(__file__).with_name("read_only_program.py")
REASONS = {"rights": "Permission denied", "mount": "Read-only file system"}
# A mount that no other process sees, for which the user becomes root in a namespace of their own.
UNSHARE = ("unshare", "--user", "--map-root-user", "--mount")
SCREENS = ("try", "edit", "see", "inbox", "issues", "history")


def can_mount(folder: Path) -> bool:
    """Whether this user may mount a file system, and again read-only, in a namespace; containers often forbid it."""
    if shutil.which("unshare") is None:
        return False
    mounts = 'mount -t tmpfs none "$0" && mount -o remount,ro "$0"'
    command = [*UNSHARE, "sh", "-c", mounts, str(folder)]
    return subprocess.run(command, capture_output=True, check=False).returncode == 0


@pytest.fixture(scope="module", params=["rights", "mount"])
def outcome(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """What the program tells; `rights` also works for root, which gives up its right to write everywhere."""
    folder, how = tmp_path_factory.mktemp(request.param), str(request.param)
    if how == "mount" and not can_mount(folder):
        pytest.skip("this user may not mount a file system, not even in a namespace (`unshare`)")
    studio = ["studio"] if request.config.getoption("--full-length", default=False) else []
    command = [sys.executable, str(PROGRAM), str(folder), how, *studio]
    done = subprocess.run(
        [*(UNSHARE if how == "mount" else ()), *command], capture_output=True, text=True, timeout=300, check=False
    )
    assert done.returncode == 0, done.stderr
    return {**json.loads(done.stdout), "reason": REASONS[how], "studio": bool(studio)}


@pytest.mark.parametrize(
    ("what", "answer"),
    [
        ("read", "['order']"),
        ("revisions", "2"),
        ("match", "order"),
        ("match without a cache", "order"),
        ("load an artefact", "order"),
        ("inbox", "['nobody understands this at all']"),
    ],
)
def test_reading_and_matching_go_on(outcome: dict[str, Any], what: str, answer: str) -> None:
    assert outcome["found"][what] == ["ok", answer]


@pytest.mark.parametrize("call", ["edits/preview", "reload", "match"])
def test_server_goes_on(outcome: dict[str, Any], call: str) -> None:
    assert outcome["found"][f"POST /{call}"][0] == "200"
    status, ready = outcome["found"]["GET /readyz"]
    assert (status, json.loads(ready)["status"]) == ("200", "ready")


@pytest.mark.parametrize(
    ("what", "error"),
    [("edit", "InputError"), ("write a revision", "InputError"), ("save an artefact", "ArtefactError")],
)
def test_writing_fails_with_a_reason_and_an_advice(outcome: dict[str, Any], what: str, error: str) -> None:
    kind, text = outcome["found"][what]

    assert kind == error
    assert f" cannot be written: {outcome['reason']}. M" in text
    assert text.endswith(", or name another place")


def test_message_of_the_inbox_cannot_be_handled(outcome: dict[str, Any]) -> None:
    kind, text = outcome["found"]["handle a message"]

    assert kind == "InputError"
    assert "attempt to write a readonly database. Make the file" in text


def test_edit_over_http_is_503(outcome: dict[str, Any]) -> None:
    status, body = outcome["found"]["POST /edits"]

    assert status == "503"
    assert f"cannot be written: {outcome['reason']}. M" in json.loads(body)["detail"]


def test_files_stay_as_they_are(outcome: dict[str, Any]) -> None:
    assert (outcome["changed"], outcome["new"]) == ([], [])


@pytest.mark.parametrize("what", ["the vector cache", "the trained head", "messages are not kept", "an edit of"])
def test_log_says_what_is_not_kept_and_what_to_do(outcome: dict[str, Any], what: str) -> None:
    lines = [line for line in outcome["log"] if line.startswith(what)]

    assert lines
    assert all(line.endswith(", or name another place") for line in lines)


def test_interrupted_edit_is_read_as_it_was_and_completed_later(outcome: dict[str, Any]) -> None:
    assert outcome["found"]["read half an edit"] == ["ok", "['order']"]
    assert outcome["after"]["half"] == ["parcel"]


def test_writing_works_again_and_nothing_is_lost(outcome: dict[str, Any]) -> None:
    assert outcome["after"]["revisions"] == 3
    assert outcome["after"]["inbox"] == ["nobody understands this at all", "and this one is kept again"]


@pytest.mark.parametrize("screen", SCREENS)
def test_screens_of_the_studio_open(outcome: dict[str, Any], screen: str) -> None:
    if not outcome["studio"]:
        pytest.skip("the studio starts only with --full-length")
    assert outcome["found"][f"studio {screen}"][0] == "200"
