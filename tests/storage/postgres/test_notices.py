"""News of revisions and keys, for all who subscribe in one process."""

from __future__ import annotations

import pytest
from postgres_server import make_tenant

FILES = {"a.yaml": b"a"}


@pytest.fixture
def subscribed(postgres_address):
    from intentmatch.storage.postgres.database import Database
    from intentmatch.storage.postgres.notices import Notices
    from intentmatch.storage.postgres.registries import RegistryStore

    store = RegistryStore(Database(postgres_address))
    store.write(FILES, author="ann", note="", expected=None)
    subscription = Notices.subscribe(store.database.address, store.bot)
    assert subscription.wait(60)  # the first look finds the revision
    yield store, subscription
    subscription.close()


def test_a_revision_is_told_once(subscribed):
    store, subscription = subscribed
    store.write({"a.yaml": b"b"}, author="ann", note="", expected="*")

    assert subscription.wait(60)
    assert not subscription.wait(1.2) or not subscription.wait(1.2)  # by NOTIFY, and at most once more by polling


def test_news_at_the_end_of_a_wait_are_for_the_next(subscribed, monkeypatch):
    """They would be lost for ever where no notification comes."""
    _, subscription = subscribed
    while subscription.wait(1.2):
        pass
    event = subscription._news
    wait = event.wait
    monkeypatch.setattr(event, "wait", lambda seconds: wait(0) or event.set() or False)
    assert not subscription.wait(0)
    monkeypatch.undo()

    assert subscription.wait(0)


def test_other_bots_are_not_told(subscribed, postgres):
    from intentmatch.storage.postgres.database import Database
    from intentmatch.storage.postgres.registries import RegistryStore

    store, subscription = subscribed
    other = RegistryStore(Database(postgres.url(more=f"/x-{store.bot}")))
    other.write(FILES, author="ann", note="", expected=None)

    assert not subscription.wait(0.8)


def test_role_with_row_level_security_hears_of_its_bot(subscribed, postgres):
    from intentmatch.storage.postgres.address import Address
    from intentmatch.storage.postgres.notices import Notices

    store, _ = subscribed
    with store.database.transaction() as connection:
        make_tenant(connection, "listener", store.bot)
    mine = Notices.subscribe(Address.parse(postgres.url(user="listener", more=f"/{store.bot}")), store.bot)
    assert mine.wait(60)
    store.write({"a.yaml": b"c"}, author="ann", note="", expected="*")

    assert mine.wait(60)
    assert mine.away_since is None
    mine.close()
    mine.close()
