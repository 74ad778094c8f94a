"""A candidate's record, counts and samples in PostgreSQL, for the workers of all machines that serve the bot."""

from __future__ import annotations

import json
import time
from collections.abc import Mapping, Sequence
from dataclasses import replace

from intentmatch.core.erasure import Erasure, last_erased
from intentmatch.core.errors import DatabaseError
from intentmatch.inbox.stored_rows import CHARACTERS
from intentmatch.server.candidates.differences import KINDS
from intentmatch.server.candidates.records import SAMPLES_OF_A_KIND, CandidateRecord, Sample, State, newest, sample_of
from intentmatch.storage.postgres.address import Address
from intentmatch.storage.postgres.database import Connection, Database

_READ = "SELECT record FROM intentmatch.candidates WHERE bot = %s"
_LOCKED = f"{_READ} FOR UPDATE"
# The samples with the smallest random numbers are kept, however many workers draw.
_TOO_MANY = """
DELETE FROM intentmatch.candidate_samples WHERE id IN (SELECT id FROM (
    SELECT id, row_number() OVER (PARTITION BY present, kind ORDER BY chance) AS place
    FROM intentmatch.candidate_samples WHERE bot = %s) AS ranked WHERE place > %s)
"""


# Characters; the answers of a longer row were written by another program.
_MOST_ANSWERS = 100_000


class DatabaseCandidateStore:
    """The candidate of one bot. Methods raise `DatabaseError`."""

    def __init__(self, address: Address) -> None:
        self._database = Database(address)
        self._bot = self._database.bot

    def read(self) -> CandidateRecord | None:
        """Return the record of the last candidate; None if there is none."""
        with self._database.rows() as connection:
            return self._record(connection)

    def begin(self, record: CandidateRecord) -> None:
        """Replace the record; counts and samples of a candidate with another id are removed."""
        with self._database.rows() as connection:
            # The foreign keys delete counts and samples with it.
            connection.execute("DELETE FROM intentmatch.candidates WHERE bot = %s AND id <> %s", [self._bot, record.id])
            connection.execute(
                "INSERT INTO intentmatch.candidates (bot, id, record) VALUES (%s, %s, %s) "
                "ON CONFLICT (bot) DO UPDATE SET id = excluded.id, record = excluded.record",
                [self._bot, record.id, record.to_json()],
            )

    def end(self, identity: str, state: State, reason: str, ended: float, beside: str) -> bool:
        """End a running candidate; False if it does not run any more, or another one does."""
        with self._database.rows() as connection:
            record = self._running(connection, identity)
            if record is None:
                return False
            changed = replace(record, state=state, reason=reason, ended=ended, beside=beside)
            connection.execute(
                "UPDATE intentmatch.candidates SET record = %s WHERE bot = %s", [changed.to_json(), self._bot]
            )
            return True

    def clear(self) -> None:
        """Remove record, counts and samples."""
        with self._database.rows() as connection:
            connection.execute("DELETE FROM intentmatch.candidates WHERE bot = %s", [self._bot])

    def add(
        self, identity: str, present: str, counts: Mapping[str, int], samples: Sequence[Sample], oldest: float
    ) -> bool:
        """Add counts and samples, as `CandidateStore.add`."""
        with self._database.rows() as connection:
            if self._running(connection, identity) is None:
                return False
            # Read below the lock of `_running`: an erasure is either seen here, or comes later and finds the rows.
            row = connection.execute("SELECT erased_at FROM intentmatch.candidates WHERE bot = %s", [self._bot])
            (mark,) = row.fetchone() or (None,)
            erased = last_erased(mark, time.time())
            with connection.cursor() as cursor:
                cursor.executemany(
                    "INSERT INTO intentmatch.candidate_counts AS kept (bot, present, name, count) "
                    "VALUES (%s, %s, %s, %s) "
                    "ON CONFLICT (bot, present, name) DO UPDATE SET count = kept.count + excluded.count",
                    [(self._bot, present, name, count) for name, count in counts.items()],
                )
                cursor.executemany(
                    "INSERT INTO intentmatch.candidate_samples (bot, present, kind, text, language, answers, time) "
                    "VALUES (%s, %s, %s, %s, %s, %s, %s)",
                    [self._row(present, sample) for sample in samples if sample.time >= erased],
                )
            connection.execute(
                "DELETE FROM intentmatch.candidate_samples WHERE bot = %s AND time NOT BETWEEN %s AND %s",
                [self._bot, oldest, newest(oldest)],
            )
            # Ranking all samples pays only if there are new ones.
            if samples:
                connection.execute(_TOO_MANY, [self._bot, SAMPLES_OF_A_KIND])
            return True

    def erase(self, erasure: Erasure) -> int:
        """Remove the samples with these messages; return how many there were."""
        with self._database.rows() as connection:
            # Waits for workers that add samples, and they wait for this.
            connection.execute(
                "UPDATE intentmatch.candidates SET erased_at = %s WHERE bot = %s", [time.time(), self._bot]
            )
            rows = connection.execute(
                "SELECT id, text FROM intentmatch.candidate_samples WHERE bot = %s", [self._bot]
            ).fetchall()
            gone = [number for number, text in rows if erasure.covers(text)]
            connection.execute(
                "DELETE FROM intentmatch.candidate_samples WHERE bot = %s AND id = ANY(%s)", [self._bot, gone]
            )
        return len(gone)

    def counts(self, present: str) -> dict[str, int]:
        """Return the counts beside the present registry with this fingerprint, by name."""
        with self._database.rows() as connection:
            rows = connection.execute(
                "SELECT name, count FROM intentmatch.candidate_counts WHERE bot = %s AND present = %s",
                [self._bot, present],
            ).fetchall()
        return dict(rows)

    def samples(self, present: str, oldest: float) -> list[Sample]:
        """Return the samples beside that registry from after `oldest`, the newest first."""
        with self._database.rows() as connection:
            rows = connection.execute(
                # A tenant may write rows of any size by SQL: they are cut before they reach the memory of the server.
                # Bytes, because psycopg types a statement in text as a literal.
                f"SELECT left(kind, 50), left(text, {CHARACTERS}), left(language, 50), left(answers, {_MOST_ANSWERS}), "  # noqa: S608
                "time FROM intentmatch.candidate_samples WHERE bot = %s AND present = %s AND time >= %s "
                "ORDER BY time DESC, id DESC LIMIT %s".encode(),
                [self._bot, present, oldest, SAMPLES_OF_A_KIND * len(KINDS)],
            ).fetchall()
        try:
            return [sample_of(row) for row in rows]
        except (ValueError, TypeError, OverflowError) as error:
            raise DatabaseError(f"the samples of the candidate of {self._bot} cannot be read: {error}") from None

    def _record(self, connection: Connection, *, lock: bool = False) -> CandidateRecord | None:
        row = connection.execute(_LOCKED if lock else _READ, [self._bot]).fetchone()
        try:
            return None if row is None else CandidateRecord.from_json(row[0])
        except (ValueError, TypeError, KeyError, OverflowError) as error:
            raise DatabaseError(f"the candidate of {self._bot} cannot be read: {error!r}") from None

    def _running(self, connection: Connection, identity: str) -> CandidateRecord | None:
        """Return the record if this candidate runs; nobody changes it until the transaction ends."""
        record = self._record(connection, lock=True)
        return record if record is not None and record.id == identity and record.state == "running" else None

    def _row(self, present: str, sample: Sample) -> tuple[object, ...]:
        # PostgreSQL keeps no zeros in a text.
        text = None if sample.text is None else sample.text.replace("\0", "\ufffd")
        answers = json.dumps([sample.present, sample.candidate])
        return self._bot, present, sample.kind, text, sample.language, answers, sample.time
