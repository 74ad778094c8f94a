"""The audit log in the database."""

from __future__ import annotations

import pytest
from postgres_server import make_tenant

from intentmatch.core.erasure import ERASED, Erasure
from intentmatch.core.errors import DatabaseError, InputError


def test_entries_are_newest_first_and_cannot_be_changed_by_the_bot(postgres_address, postgres):
    from intentmatch.storage.postgres import audit_rows
    from intentmatch.storage.postgres.database import Database

    database = Database(postgres_address)
    with database.rows() as connection:
        for number in range(3):
            audit_rows.note_in(
                connection, database.bot, author="ann", what=f"edit {number}", digest="d", revision=str(number)
            )
    found = audit_rows.entries(database, 2)

    assert [(one.author, one.what, one.revision) for one in found] == [("ann", "edit 2", "2"), ("ann", "edit 1", "1")]
    with database.transaction() as connection:
        make_tenant(connection, "writer", database.bot)
    writer = Database(postgres.url(user="writer", more=f"/{database.bot}"))
    with pytest.raises(DatabaseError, match="permission denied"), writer.rows() as connection:
        connection.execute("DELETE FROM intentmatch.audit")
    writer.close()


def test_owner_erases_words_and_a_server_is_told_that_it_may_not(postgres_address, postgres):
    from intentmatch.storage.postgres import audit_rows
    from intentmatch.storage.postgres.database import Database

    database = Database(postgres_address)
    with database.rows() as connection:
        for what in ("ignore “call Bob Miller”", "add to order_status"):
            audit_rows.note_in(connection, database.bot, author="ann", what=what, digest="d", revision=None)
        make_tenant(connection, "eraser", database.bot)
    server = Database(postgres.url(user="eraser", more=f"/{database.bot}"))
    erasure = Erasure(contains="bob miller")

    with pytest.raises(InputError, match=r"with the words: 1\. .* as the owner"):
        audit_rows.erase(server, erasure)
    server.close()
    assert audit_rows.erase(database, erasure) == 1
    assert [one.what for one in audit_rows.entries(database, 9)] == ["add to order_status", f"ignore “call {ERASED}”"]
