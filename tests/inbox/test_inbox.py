"""The inbox: which messages are kept, for how long, and that recording never delays or breaks an answer."""

from __future__ import annotations

import os
import sqlite3
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from results import result

from intentmatch.core.errors import InputError, SettingsError
from intentmatch.core.settings import resolve
from intentmatch.inbox import Inbox, Missed, is_missed
from intentmatch.inbox.file_store import _SECONDS_FOR_A_LOCK
from intentmatch.inbox.inbox import _log

SECONDS = 60.0


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "kept" / "inbox.sqlite"


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """A clock that the test sets."""
    now = [1_700_000_000.0]
    monkeypatch.setattr(time, "time", lambda: now[0])
    return now


def texts(inbox: Inbox) -> list[str | None]:
    return [message.text for message in inbox.messages()]


def rows(file: Path) -> int:
    """Return the number of messages in the file, handled or not."""
    database = sqlite3.connect(file)
    try:
        return int(database.execute("SELECT count(*) FROM messages").fetchone()[0])
    finally:
        database.close()


def held(file: Path) -> bytes:
    """Return every byte of the database and of SQLite's files beside it."""
    return b"".join(part.read_bytes() for part in sorted(file.parent.iterdir()))


@pytest.mark.parametrize(
    ("found", "missed"),
    [
        (result("where is it"), True),
        (result("cancel or refund", "ambiguous"), True),
        (result("cancel it", "matched", confidence=0.74), True),
        (result("cancel it", "matched", confidence=0.75), False),
        (result("cancel it", "matched", confidence=None, score=0.42), True),
        (result("cancel it", "matched", confidence=None, score=0.5), False),
        (result("¿?"), False),
        (result(""), False),
    ],
)
def test_out_of_scope_ambiguous_and_unsure_messages_are_kept(found, missed: bool, file: Path) -> None:
    inbox = Inbox(file)
    inbox.record(found)
    inbox.record(result("the other one"))

    assert is_missed(found) is missed
    assert len(inbox.messages()) == missed + 1


def test_repeated_message_is_counted_and_keeps_the_last_answer(file: Path, clock: list[float]) -> None:
    """Case and punctuation make no difference."""
    inbox = Inbox(file)
    inbox.record(result("Where is it?", language="en"))
    clock[0] += 60
    inbox.record(result("where is it", "ambiguous", confidence=0.4))

    (message,) = inbox.messages()
    assert message == Missed(
        id=1, text="Where is it?", language="en", verdict="ambiguous", intents=("status", "cancel"), confidence=0.4,
        count=2, first=message.first, last=message.last, corrections={},
    )  # fmt: skip
    assert (message.last - message.first).total_seconds() == 60
    assert message.first.isoformat() == "2023-11-14T22:13:20+00:00"


def test_corrections_are_counted(file: Path) -> None:
    """The message may be recorded before, or not."""
    inbox = Inbox(file)
    inbox.record(result("where is it"))
    for intent in ("status", "status", None):
        inbox.correct("Where is it", intent)
    inbox.correct("stop that", "cancel", "EN")

    first, second = inbox.messages()
    assert (first.count, first.corrections) == (1, {"status": 2, None: 1})
    assert (second.text, second.verdict, second.language, second.count) == ("stop that", None, "en", 0)
    assert second.corrections == {"cancel": 1}


@pytest.mark.parametrize(("text", "language"), [("", None), ("?!", None), ("a", "no code"), (7, None)])
def test_invalid_correction_raises(file: Path, text: str, language: str | None) -> None:
    with pytest.raises(InputError):
        Inbox(file).correct(text, "status", language)


def test_handled_messages_do_not_come_back(file: Path) -> None:
    """Their text is deleted; a correction reopens them."""
    inbox = Inbox(file)
    for text in ("some words", "other words", "more words"):
        inbox.record(result(text))
    first, second, _ = inbox.messages()
    inbox.handle([first], "added")
    inbox.handle([second], "ignored")
    inbox.record(result("some words"))
    inbox.record(result("Other Words!"))

    assert texts(inbox) == ["more words"]
    assert b"some words" not in held(file)
    inbox.correct("some words", "status")
    assert texts(inbox) == ["some words", "more words"]


def test_number_of_messages_is_limited(file: Path, clock: list[float]) -> None:
    """The messages received least recently are deleted, handled or not."""
    inbox = Inbox(file, messages=10)
    for number in range(8):
        clock[0] += 1
        inbox.record(result(f"message number {number}"))
    inbox.handle(inbox.messages()[:4], "ignored")
    assert rows(file) == 8
    clock[0] += 1
    inbox.record(result("message number 4"))
    for number in range(8, 14):
        clock[0] += 1
        inbox.record(result(f"message number {number}"))
    inbox.flush()

    assert texts(inbox) == [f"message number {number}" for number in range(4, 14)]
    assert rows(file) == 10


def test_age_of_messages_is_limited(file: Path, clock: list[float]) -> None:
    """The age counts from the last time; old messages are hidden at once, and deleted with the next write."""
    inbox = Inbox(file, days=30)
    inbox.record(result("long ago"))
    inbox.record(result("again and again"))
    inbox.correct("long ago", "status")
    inbox.flush()
    clock[0] += 20 * 86_400
    inbox.record(result("again and again"))
    inbox.flush()
    clock[0] += 11 * 86_400
    assert texts(inbox) == ["again and again"]
    assert b"long ago" in held(file)

    inbox.record(result("something new"))
    assert texts(inbox) == ["again and again", "something new"]
    assert b"long ago" not in held(file)


def test_clock_that_jumps_ahead_deletes_a_tenth(file: Path, clock: list[float]) -> None:
    inbox = Inbox(file, days=30)
    for number in range(40):
        inbox.record(result(f"message {chr(97 + number % 26)} {chr(97 + number // 26)} x"))
    inbox.flush()
    right = clock[0]

    clock[0] += 100 * 86_400
    for text in ("while the clock is wrong", "a second message", "a third message"):
        inbox.record(result(text))
        inbox.flush()
        clock[0] += 600
    assert rows(file) == 43 - 4

    clock[0] = right + 3600
    inbox.record(result("the clock is right again"))
    assert len(inbox.messages()) == 40


def test_old_messages_are_all_deleted_within_days(file: Path, clock: list[float]) -> None:
    inbox = Inbox(file, days=30)
    for number in range(40):
        inbox.record(result(f"message {chr(97 + number % 26)} {chr(97 + number // 26)} x"))
    inbox.flush()

    clock[0] += 31 * 86_400
    for _ in range(40):
        inbox.record(result("still used"))
        inbox.flush()
        clock[0] += 3600
    assert rows(file) == 1


def test_clock_that_is_set_back_deletes_nothing(file: Path, clock: list[float]) -> None:
    inbox = Inbox(file, days=30)
    inbox.record(result("first message"))
    inbox.flush()
    clock[0] += 31 * 86_400
    inbox.record(result("second message"))
    inbox.flush()
    assert rows(file) == 1

    clock[0] -= 10 * 86_400
    for _ in range(3):
        inbox.record(result("third message"))
        inbox.flush()
    assert texts(inbox) == ["second message", "third message"]


def test_personal_data_is_not_written(file: Path) -> None:
    """Messages that differ in personal data only are one message."""
    inbox = Inbox(file)
    inbox.record(result("mail anna@example.org about order 12345678"))
    inbox.record(result("mail bob@example.org about order 12345678"))
    inbox.correct("my card is 4111 1111 1111 1111, call +49 171 1234567", None)

    assert texts(inbox) == ["mail ‹email› about order 12345678", "my card is ‹card›, call ‹phone›"]
    assert not any(part in held(file) for part in (b"anna", b"bob", b"4111", b"1234567 ", b"171"))


def test_numbers_and_addresses_alone_are_not_kept(file: Path) -> None:
    """A bot asks for these; an emoji may have a meaning."""
    inbox = Inbox(file)
    for text in ("12345678", "anna@example.org", "+49 171 1234567", "٤٢", "👍", "no 7", "第3"):
        inbox.record(result(text))

    assert texts(inbox) == ["👍", "no 7", "第3"]


def test_plain_inbox_keeps_the_text_unchanged(file: Path) -> None:
    inbox = Inbox(file, mode="plain")
    inbox.record(result("mail anna@example.org"))

    assert texts(inbox) == ["mail anna@example.org"]


def test_hashed_inbox_never_contains_text(file: Path) -> None:
    """It keeps counts, dates, verdicts and names of intents."""
    inbox = Inbox(file, mode="hashed")
    for number in range(200):
        inbox.record(result(f"confidential matter {number % 50}", "ambiguous"))
        inbox.correct("confidential correction", "status", "en")
        if number % 20 == 0:
            inbox.flush()
            assert b"confidential" not in held(file)
    inbox.handle(inbox.messages()[-10:], "ignored")
    found = inbox.messages()

    assert b"confidential" not in held(file)
    assert b"matter" not in held(file)
    assert {message.text for message in found} == {None}
    assert {(message.count, message.intents) for message in found if message.verdict} == {(4, ("status", "cancel"))}
    assert [message.corrections for message in found if not message.verdict] == [{"status": 200}]


def test_hashes_are_salted(tmp_path: Path) -> None:
    """The same message has different hashes in two files."""
    keys = set()
    for name in ("one", "two"):
        inbox = Inbox(tmp_path / name, mode="hashed")
        inbox.record(result("where is it"))
        inbox.flush()
        with sqlite3.connect(tmp_path / name) as database:
            keys.add(database.execute("SELECT key FROM messages").fetchone())
        database.close()
    assert len(keys) == 2


@pytest.mark.parametrize("mode", ["plain", "hashed"])
def test_file_keeps_its_mode(file: Path, caplog: pytest.LogCaptureFixture, mode: str) -> None:
    """Recording in another mode writes nothing and logs a warning."""
    inbox = Inbox(file)
    inbox.record(result("where is it"))
    inbox.flush()
    other = Inbox(file, mode=mode)
    other.record(result("something confidential"))
    other.flush()

    assert f"{file} has the mode redacted" in caplog.text
    assert b"confidential" not in held(file)


def test_only_the_owner_may_read_the_file(file: Path) -> None:
    inbox = Inbox(file)
    inbox.record(result("where is it"))
    inbox.flush()

    assert file.stat().st_mode & 0o777 == 0o600


@pytest.mark.parametrize(
    "damage",
    [b"no database at all, but a text that somebody wrote", b"SQLite format 3\0" + b"\0" * 500, None],
)
def test_damaged_file_is_not_changed(file: Path, damage: bytes | None, caplog: pytest.LogCaptureFixture) -> None:
    """Recording logs one warning, and works again after the file is moved; reading raises."""
    inbox = Inbox(file)
    for number in range(200):
        inbox.record(result(f"where is number {number}"))
    inbox.flush()
    if damage is None:
        sound = file.read_bytes()
        damage = sound[:4096] + os.urandom(len(sound) - 4096)
    file.write_bytes(damage)

    for _ in range(3):
        inbox.record(result("one more"))
        inbox.flush()
    assert caplog.text.count("messages are not kept in") == 1
    with pytest.raises(InputError, match=str(file)):
        inbox.messages()
    assert file.read_bytes() == damage

    file.unlink()
    inbox.record(result("afterwards"))
    assert texts(inbox) == ["afterwards"]


def test_database_of_another_program_is_not_changed(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    file = tmp_path / "app.sqlite"
    with sqlite3.connect(file) as database:
        database.execute("CREATE TABLE messages (mine)")
    database.close()
    before = file.read_bytes()
    inbox = Inbox(file)
    inbox.record(result("where is it"))
    inbox.flush()

    assert "another program's database" in caplog.text
    assert file.read_bytes() == before
    with pytest.raises(InputError, match="is no inbox"):
        inbox.messages()


def test_recording_to_an_impossible_path_logs_one_warning(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    """Here a path below a file; reading raises."""
    (tmp_path / "file").write_text("not a folder")
    inbox = Inbox(tmp_path / "file" / "inbox.sqlite")
    for _ in range(5):
        inbox.record(result("where is it"))
        assert inbox.flush()

    assert caplog.text.count("messages are not kept in") == 1
    with pytest.raises(InputError, match="there is no inbox at"):
        inbox.messages()


def test_recording_does_not_wait_for_a_locked_file(file: Path, caplog: pytest.LogCaptureFixture) -> None:
    inbox = Inbox(file)
    inbox.record(result("before"))
    inbox.flush()
    lock = sqlite3.connect(file, isolation_level=None)
    lock.execute("BEGIN EXCLUSIVE")
    begun = time.perf_counter()
    for number in range(1000):
        inbox.record(result(f"message number {number}"))
    took = time.perf_counter() - begun
    assert inbox.flush(0.1) is False
    lock.execute("ROLLBACK")
    lock.close()

    assert took < _SECONDS_FOR_A_LOCK
    assert len(inbox.messages()) == 1001


def test_full_queue_drops_messages_and_logs_one_warning(file: Path, monkeypatch: pytest.MonkeyPatch, caplog) -> None:
    monkeypatch.setattr("intentmatch.inbox.inbox._MOST_WAITING", 3)
    go_on = threading.Event()
    inbox = Inbox(file)
    inbox._writer.submit(go_on.wait)
    for number in range(10):
        inbox.record(result(f"message number {number}"))
    go_on.set()

    assert len(inbox.messages()) == 3
    assert caplog.text.count("they arrive faster than they can be written") == 1


def test_exception_while_writing_is_logged_and_not_raised(file: Path, monkeypatch: pytest.MonkeyPatch, caplog) -> None:
    inbox = Inbox(file)
    with monkeypatch.context() as patched:
        patched.setattr(inbox._store, "write", lambda entries, now: 1 / 0)
        inbox.record(result("where is it"))
        inbox.flush()
    assert "division by zero" in caplog.text
    inbox.record(result("where is that"))
    assert texts(inbox) == ["where is that"]


def test_many_threads_record_each_message_once(file: Path) -> None:
    inbox = Inbox(file)
    threads = [
        threading.Thread(target=lambda: [inbox.record(result(f"message number {n % 10}")) for n in range(100)])
        for _ in range(8)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert [message.count for message in inbox.messages()] == [80] * 10


PROGRAM = """
import sys
sys.path.insert(0, sys.argv[2])
from results import result
from intentmatch.inbox import Inbox
inbox = Inbox(sys.argv[1])
for number in range(100):
    inbox.record(result(f"message number {number % 10}"))
    inbox.correct(f"message number {number % 10}", "status")
    if number % 10 == 0:
        inbox.flush()
"""


def test_many_processes_record_into_one_file(file: Path) -> None:
    """Messages that wait when a program ends are written."""
    words = [sys.executable, "-c", PROGRAM, str(file), str(Path(__file__).parent)]
    running = [subprocess.Popen(words, stderr=subprocess.PIPE) for _ in range(4)]
    for process in running:
        assert process.communicate(timeout=SECONDS) == (None, b"")

    found = Inbox(file).messages()
    assert [message.count for message in found] == [40] * 10
    assert [message.corrections for message in found] == [{"status": 40}] * 10


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork here")
@pytest.mark.filterwarnings("ignore:.*multi-threaded, use of fork:DeprecationWarning")
def test_forked_process_records(file: Path) -> None:
    """Like a server that loads a bot and then forks its workers."""
    inbox = Inbox(file)
    inbox.record(result("of the parent"))
    inbox.flush()
    child = os.fork()
    if not child:
        inbox.record(result("of the child"))
        os._exit(0 if inbox.flush(SECONDS) else 1)

    assert os.waitpid(child, 0)[1] == 0
    assert texts(inbox) == ["of the parent", "of the child"]


def test_killed_writer_leaves_a_valid_file(file: Path) -> None:
    endless = PROGRAM.replace("range(100)", "range(10**9)")
    for _ in range(3):
        process = subprocess.Popen([sys.executable, "-c", endless, str(file), str(Path(__file__).parent)])
        deadline = time.monotonic() + SECONDS
        size = file.stat().st_size if file.exists() else 0
        while not file.exists() or file.stat().st_size == 0 or (size == 0 and time.monotonic() > deadline):
            time.sleep(0.01)
        time.sleep(0.3)
        process.kill()
        process.wait()

    assert len(Inbox(file).messages()) == 10


@given(text=st.text(max_size=50), intent=st.none() | st.text(max_size=10))
def test_every_text_can_be_kept(tmp_path_factory: pytest.TempPathFactory, text: str, intent: str | None) -> None:
    """For example lone surrogates, null characters and marks of writing direction."""
    file = tmp_path_factory.mktemp("inbox") / "inbox.sqlite"
    inbox = Inbox(file, mode="plain")
    inbox.record(result(text))
    inbox.correct(f"word {text}", intent)

    assert len(inbox.messages()) in (1, 2)


def test_long_message_is_truncated(file: Path) -> None:
    inbox = Inbox(file)
    inbox.record(result("word " * 100_000))

    (message,) = inbox.messages()
    assert len(message.text or "") == 1000


def test_settings_open_the_inbox(file: Path) -> None:
    """The inbox is off unless the settings name a file; limits and mode are those of the settings."""
    assert Inbox.from_settings(resolve(environ={})) is None
    words = {"inbox": str(file), "inbox_keep": "messages=5", "inbox_mode": "plain"}
    inbox = Inbox.from_settings(resolve(words, environ={}))

    assert inbox is not None
    assert (inbox.path, inbox._store.mode, inbox._store._most) == (file, "plain", 5)
    assert inbox._store._seconds == 90 * 86_400
    with pytest.raises(SettingsError, match="'secret'"):
        Inbox(file, mode="secret")
    with pytest.raises(SettingsError, match="whole number"):
        Inbox(file, messages=0)


def test_logger_has_the_name_of_the_module() -> None:
    assert _log.name == "intentmatch.inbox.inbox"


def test_file_of_a_process_that_was_killed_before_the_first_message_is_an_empty_inbox(tmp_path):
    """SQLite begins with an empty file; the tables and the first messages come in one transaction."""
    path = tmp_path / "misses.sqlite"
    path.touch()
    inbox = Inbox(path)
    for read in (inbox.messages, inbox.sampled):
        with pytest.raises(
            InputError, match=r"there is no inbox at .*misses\.sqlite: no message has been recorded yet"
        ):
            read()
    assert not inbox.has_messages

    inbox.record(result("a cake"))
    assert inbox.flush()
    assert [message.text for message in inbox.messages()] == ["a cake"]
    assert inbox.has_messages
