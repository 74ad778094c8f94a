"""A random sample of all answers, with the probability that each was drawn, and what reviewers said about them.

Every answer is drawn with the same chance, whatever it is (Poisson sampling), so that numbers about all messages can be
estimated from the sample. A drawn answer gets a random number and a priority, which decide when a reviewer is asked
about it: see `review.questions`. All answers to the same message share one judgement.
"""

from __future__ import annotations

import json
import random
import sqlite3
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timezone
from typing import Any, Literal, NamedTuple

from intentmatch.core.erasure import Erasure
from intentmatch.core.result import MatchResult, Verdict

Judged = Literal["meant", "skipped"]

SECONDS_IN_A_DAY = 86_400
LEAST_PRIORITY = 0.25
"""Priority of an answer that nobody doubts. The largest is 1: so a judgement of the one stands for at most four times
as many answers as a judgement of the other, which keeps intervals short."""

TABLE = """
CREATE TABLE IF NOT EXISTS sample (
    id INTEGER PRIMARY KEY AUTOINCREMENT, key BLOB, text TEXT, language TEXT, verdict TEXT, intent TEXT, offered TEXT,
    confidence REAL, probability REAL, priority REAL, chance REAL, time REAL, judged TEXT, expected TEXT);
CREATE INDEX IF NOT EXISTS sample_by_key ON sample (key);
CREATE INDEX IF NOT EXISTS sample_by_age ON sample (time);
"""
COLUMNS = (
    "id, key, text, language, verdict, intent, offered, "
    "confidence, probability, priority, chance, time, judged, expected"
)
"""Columns of the table, in the order that `sampled_answer` reads."""
# An answer to a message that has been judged needs no further judgement.
_INSERT = """
INSERT INTO sample
    (key, text, language, verdict, intent, offered, confidence, probability, priority, chance, time, judged, expected)
VALUES (:key, :text, :language, :verdict, :intent, :intents, :confidence, :probability, :priority, :chance, :time,
    (SELECT judged FROM sample WHERE key = :key AND judged IS NOT NULL LIMIT 1),
    (SELECT expected FROM sample WHERE key = :key AND judged IS NOT NULL LIMIT 1))
"""
_RENAMED = """
UPDATE sample SET offered = replace(offered, :old_in_list, :new_in_list),
    intent = CASE intent WHEN :old THEN :new ELSE intent END,
    expected = CASE expected WHEN :old THEN :new ELSE expected END
WHERE intent = :old OR expected = :old OR instr(offered, :old_in_list)
"""
_TOO_MANY = """
DELETE FROM sample WHERE id IN (SELECT id FROM sample ORDER BY time > ?, time DESC, id DESC LIMIT -1 OFFSET ?)
"""
TOO_OLD = """
DELETE FROM sample WHERE id IN (SELECT id FROM sample WHERE time < ? OR time > ? ORDER BY time, id LIMIT ?)
"""
"""Delete at most so many answers from before a time and after another, oldest first."""


class Drawn(NamedTuple):
    """That an answer was drawn for the sample."""

    probability: float
    """Chance with which it was drawn, greater than 0 and at most 1."""
    priority: float
    """How much a reviewer's judgement tells, from `LEAST_PRIORITY` to 1."""
    chance: float
    """Random number from 0 to 1, uniform."""
    intent: str | None
    """The intent that was answered; None unless the verdict is `matched`."""


@dataclass(frozen=True, slots=True)
class SampledAnswer:
    """An answer that was drawn for the sample."""

    id: int
    key: bytes
    """Salted hash of the message: the same for answers to the same message."""
    text: str | None
    """The message as stored; None in an inbox of hashes, and after the message was handled."""
    language: str | None
    verdict: Verdict
    intent: str | None
    """The intent that was answered; None unless the verdict is `matched`."""
    nearest: tuple[str, ...]
    """The rivals of an ambiguous message, otherwise the nearest intent."""
    confidence: float | None
    probability: float
    priority: float
    chance: float
    time: datetime
    judged: Judged | None = None
    """None: nobody has been asked yet."""
    expected: str | None = None
    """The intent that the message means by its judgement; None for out of scope."""


def draw(result: MatchResult, probability: float) -> Drawn | None:
    """Draw an answer for the sample with this probability; None if it is not drawn."""
    if random.random() >= probability:  # noqa: S311 - statistics, not a secret
        return None
    return Drawn(probability, priority_of(result), random.random(), result.intent)  # noqa: S311


def priority_of(result: MatchResult) -> float:
    """Return how much a judgement of an answer tells: much about uncertain messages, and about those of a new kind.

    It is `LEAST_PRIORITY` for an answer that is certain and like an utterance, and 1 for one that is as likely wrong as
    right, or that no utterance is like.
    """
    if result.confidence is None:
        threshold = result.trace.threshold
        # A score this near its threshold is as likely wrong as right; further than a quarter away it counts as certain.
        wrong = 0.5 if threshold is None else max(0.0, 0.5 - 2.0 * abs(result.score - threshold))
    elif result.verdict == "out_of_scope":
        wrong = result.confidence if result.in_scope is None else result.in_scope
    else:
        wrong = 1.0 - result.confidence
    uncertain = 2.0 * min(wrong, 0.5)
    new = min(max(1.0 - result.score, 0.0), 1.0)
    return LEAST_PRIORITY + (1.0 - LEAST_PRIORITY) * max(uncertain, new)


def sampled_answer(row: Sequence[Any]) -> SampledAnswer:
    """Return the answer of a row of `COLUMNS`. Raises `ValueError` and others for a row that nobody has drawn."""
    *start, offered, confidence, probability, priority, chance, time, judged, expected = row
    number, key, text, language, verdict, intent = start
    if not (0 < probability <= 1 and 0 < priority <= 1 and 0 <= chance <= 1):
        raise ValueError(f"chances of {probability}, {priority} and {chance}")
    return SampledAnswer(
        number,
        bytes(key),
        text,
        language,
        verdict,
        intent,
        tuple(json.loads(offered or "[]")),
        confidence,
        probability,
        priority,
        chance,
        datetime.fromtimestamp(time, timezone.utc),
        judged,
        expected,
    )


def put(database: sqlite3.Connection, row: Mapping[str, Any], drawn: Drawn) -> None:
    """Add an answer; `row` is that of its message."""
    database.execute(_INSERT, {**row, **drawn._asdict()})


def delete_surplus(database: sqlite3.Connection, ahead: float, most: int) -> None:
    """Keep the newest `most` answers; those from after the time `ahead` go first, since the clock was set back."""
    database.execute(_TOO_MANY, [ahead, most])


def rows(database: sqlite3.Connection, since: float) -> list[tuple[Any, ...]]:
    """Return the rows of `COLUMNS` from a time on, oldest first; none from a file without a sample."""
    if not _exists(database):
        return []
    return database.execute(f"SELECT {COLUMNS} FROM sample WHERE time >= ? ORDER BY time, id", [since]).fetchall()  # noqa: S608


def claim_drift(database: sqlite3.Connection, due: float) -> bool:
    """Whether the check for drift that was due at this time is left to do; only the first caller is told so.

    One that was claimed for more than a day later does not count: the clock was set back since.
    """
    last = database.execute("SELECT value FROM about WHERE name = 'drift_due'").fetchone()
    if last is not None and due <= last[0] <= due + SECONDS_IN_A_DAY:
        return False
    database.execute("INSERT OR REPLACE INTO about VALUES ('drift_due', ?)", [due])
    return True


def put_drift(database: sqlite3.Connection, found: str) -> None:
    """Keep what the last check for drift has found."""
    database.execute("INSERT OR REPLACE INTO about VALUES ('drift', ?)", [found])


def drift(database: sqlite3.Connection) -> str | None:
    """Return what the last check for drift has found."""
    row = database.execute("SELECT value FROM about WHERE name = 'drift'").fetchone()
    return None if row is None else str(row[0])


def forget_text(database: sqlite3.Connection, message: int) -> None:
    """Delete the text of all answers to a message of the inbox. The answers stay, for the numbers about all answers."""
    if _exists(database):
        database.execute("UPDATE sample SET text = NULL WHERE key = (SELECT key FROM messages WHERE id = ?)", [message])


def rename_intent(database: sqlite3.Connection, names: Mapping[str, str]) -> None:
    """Write another name wherever an answer or a judgement names an intent."""
    if _exists(database):
        database.execute(_RENAMED, names)


def erase(database: sqlite3.Connection, erasure: Erasure, key: bytes | None) -> int:
    """Delete the answers to the messages, and their words from what the check for drift has found."""
    found = drift(database)
    if found is not None:
        put_drift(database, erasure.without_in_json(found))
    if not _exists(database):
        return 0
    rows = database.execute("SELECT id, key, text FROM sample").fetchall()
    gone = [[number] for number, of, text in rows if of == key or erasure.covers(text)]
    database.executemany("DELETE FROM sample WHERE id = ?", gone)
    return len(gone)


def _exists(database: sqlite3.Connection) -> bool:
    """Whether the file has a sample."""
    # Files of version 0.2 have none until they are written to.
    return bool(database.execute("SELECT 1 FROM sqlite_master WHERE name = 'sample'").fetchall())


def judge(database: sqlite3.Connection, number: int, judged: Judged | None, expected: str | None) -> int:
    """Keep a judgement for all answers to the message of an answer; return how many there are."""
    if not _exists(database):
        return 0
    return database.execute(
        "UPDATE sample SET judged = ?, expected = ? WHERE key = (SELECT key FROM sample WHERE id = ?)",
        [judged, expected, number],
    ).rowcount
