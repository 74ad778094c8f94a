"""A disk that takes no more: matching goes on, errors are told, and nothing that was stored before is lost."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = [
    pytest.mark.end_to_end,
    pytest.mark.skipif(sys.platform == "win32", reason="needs a limit of the size of files"),
]

PROGRAM = """
import logging, resource, sys
from pathlib import Path
from intentmatch import Matcher
from intentmatch.artefact.store import load_artefact, save_artefact
from intentmatch.inbox import Inbox

logging.basicConfig(stream=sys.stdout, format="%(message)s")
folder = Path(sys.argv[1])
words = [f"line {number} of the {thing}" for thing in ("order", "parcel", "refund") for number in range(40)]

def write(name):
    lines = [f"  {thing}: {{utterances: [{', '.join(w for w in words if thing in w)}]}}" for thing in (
        "order", "parcel", "refund")]
    (folder / name).write_text("\\n".join(["intents:", *lines, ""]), encoding="utf-8")

write("bot.yaml")
inbox = Inbox(folder / "inbox.sqlite")
before = Matcher.load(folder / "bot.yaml", cache="off")
save_artefact(before.artefact, folder / "bot.intentmatch")
inbox.record(before.match("nobody understands this at all"))
inbox.flush()
messages = ["line 3 of my order", "where is the parcel", "something else", "refund line 90"]
answers = [before.match(message).intent for message in messages]

resource.setrlimit(resource.RLIMIT_FSIZE, (int(sys.argv[2]), resource.RLIM_INFINITY))
matcher = Matcher.load(folder / "bot.yaml", cache=str(folder / "cache"))
assert [matcher.match(message).intent for message in messages] == answers
for number in range(400):
    inbox.record(matcher.match(f"nobody understands this number {number} " + "at all " * 40))
inbox.flush()
try:
    save_artefact(matcher.artefact, folder / "bot.intentmatch")
    print("SAVED")
except Exception as error:
    print("SAVE", type(error).__name__, error)
assert load_artefact(folder / "bot.intentmatch").fingerprint == before.artefact.fingerprint
assert Matcher.load(folder / "bot.intentmatch").match(messages[0]).intent == answers[0]

resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
again = Matcher.load(folder / "bot.yaml", cache=str(folder / "cache"))
assert [again.match(message).intent for message in messages] == answers
inbox.record(again.match("there is room once more, is there not"))
inbox.flush()
texts = [missed.text for missed in inbox.messages()]
assert "nobody understands this at all" in texts, texts
assert "there is room once more, is there not" in texts, texts
print("DONE")
"""


@pytest.mark.parametrize("most", [0, 30_000])
def test_full_disk_stops_no_match_and_loses_nothing(tmp_path: Path, most: int) -> None:
    """No file can grow beyond `most` bytes, for cache, inbox and artefact."""
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, str(tmp_path), str(most)],
        capture_output=True, text=True, timeout=300, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr + done.stdout
    assert done.stdout.splitlines()[-1] == "DONE"
    assert "SAVE" in done.stdout
    assert "Traceback" not in done.stdout + done.stderr
    assert [line for line in done.stdout.splitlines() if "vector cache" in line or "inbox" in line]
    present = {file.name for file in tmp_path.iterdir()}
    assert present <= {"bot.yaml", "bot.intentmatch", "inbox.sqlite", "inbox.sqlite-journal", "cache"}
