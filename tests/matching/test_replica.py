"""A bot from PostgreSQL: the same answers as from a folder, built by one replica for all."""

from __future__ import annotations

import pickle
import threading

import pytest
from fakes import WordHashEncoder

from intentmatch.core.errors import ArtefactError, DatabaseError, RegistryError, UnknownNameError
from intentmatch.core.types import Registry
from intentmatch.matching import loader
from intentmatch.matching.matcher import Matcher

ORDERS = "language: en\nintents:\n  status: {utterances: [where is my order, track my parcel]}\n"
CANCEL = "language: en\nintents:\n  cancel: {utterances: [cancel my order, call off my purchase]}\n"
FILES = {"orders.yaml": f"include: more/\n{ORDERS}", "more/cancel.yaml": CANCEL}


def write(address, files, expected="*"):
    from intentmatch.storage.postgres.database import Database
    from intentmatch.storage.postgres.registries import RegistryStore

    contents = {name: text.encode() for name, text in files.items()}
    return RegistryStore(Database(address)).write(contents, author="ann", note="test", expected=expected)


@pytest.fixture
def bot(postgres_address):
    write(postgres_address, FILES, expected=None)
    return postgres_address


@pytest.fixture
def builds(monkeypatch):
    """The registries that were built in this process."""
    made: list[Registry] = []
    real = loader.build

    def build(registry, *arguments, **options):
        made.append(registry)
        return real(registry, *arguments, **options)

    monkeypatch.setattr(loader, "build", build)
    return made


def test_bot_answers_as_its_folder_does(bot, tmp_path):
    for name, text in FILES.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    here, there = Matcher.load(tmp_path), Matcher.load(bot)

    assert there.registry.fingerprint == here.registry.fingerprint
    assert [intent.name for intent in there.registry] == [intent.name for intent in here.registry]
    assert there.match("track my parcel").intent == "status"
    assert there.path is None
    assert there.address.bot == bot.partition("?")[0].rpartition("/")[2]


def test_places_name_the_bot_and_its_file(bot):
    matcher = Matcher.load(bot)

    assert matcher.registry["cancel"].location.path == f"{matcher.address.bot}/more/cancel.yaml"


def test_second_replica_loads_what_the_first_has_built(bot, builds):
    first, second = Matcher.load(bot), Matcher.load(bot)

    assert len(builds) == 1
    assert second.artefact.fingerprint == first.artefact.fingerprint
    assert second.match("cancel my order").intent == "cancel"


def test_replicas_that_start_at_once_build_once(bot, builds):
    found: list[Matcher] = []
    threads = [threading.Thread(target=lambda: found.append(Matcher.load(bot))) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)

    assert (len(found), len(builds)) == (3, 1)


def test_other_settings_are_another_build(bot, builds):
    Matcher.load(bot)
    other = Matcher.load(bot, threshold=0.9)

    assert len(builds) == 2
    assert other.settings.threshold == {"default": 0.9}


def test_settings_of_the_process_are_its_own(bot, builds):
    Matcher.load(bot)

    assert Matcher.load(bot, threads=1, inbox="misses.sqlite").settings.inbox == "misses.sqlite"
    assert len(builds) == 1


def test_damaged_build_is_made_again(bot, builds):
    from intentmatch.storage.postgres.database import Database

    Matcher.load(bot)
    with Database(bot).rows() as connection:
        changed = connection.execute(
            "UPDATE intentmatch.artefacts SET content = 'x' WHERE bot = current_setting('app.bot')"
        )
        assert changed.rowcount == 1
    assert Matcher.load(bot).match("cancel my order").intent == "cancel"
    assert len(builds) == 2


def test_invalid_files_are_reported_with_their_place(bot):
    matcher = Matcher.load(bot)
    write(bot, {"orders.yaml": "intents: {status: {}}\n"})

    with pytest.raises(RegistryError, match=f"{matcher.address.bot}/orders.yaml:1"):
        matcher.reload()
    assert matcher.match("track my parcel").intent == "status"


def test_missing_include_is_reported_and_no_file_of_the_machine_is_read(bot, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "secret.yaml").write_text(CANCEL)
    write(bot, {"orders.yaml": f"include: ../secret.yaml\n{ORDERS}"})

    with pytest.raises(RegistryError, match="there is no such file or folder"):
        Matcher.load(bot)


def test_confined_bot_names_no_file_of_the_machine(bot, tmp_path):
    write(bot, {"orders.yaml": f"settings: {{cache: {tmp_path}}}\n{ORDERS}"})

    with pytest.raises(RegistryError, match="confined"):
        Matcher.load(bot, confine=True)


def test_unknown_bot_and_signature(bot, postgres):
    with pytest.raises(UnknownNameError, match="unknown bot 'nobody'"):
        Matcher.load(postgres.url(more="/nobody"))
    with pytest.raises(ArtefactError, match="not a signed artefact"):
        Matcher.load(bot, require_signature="key.pem")


def test_pickled_matcher_loads_the_same_bot_and_shows_no_password(bot, postgres):
    name = bot.partition("?")[0].rpartition("/")[2]
    matcher = Matcher.load(postgres.tcp_url(more=f"/{name}"))

    assert pickle.loads(pickle.dumps(matcher)).match("cancel my order").intent == "cancel"
    assert "s3cret" not in repr(matcher._reloader.source)


def test_vectors_of_slow_encoders_are_shared(bot, tmp_path):
    """A second machine, with an empty cache of its own, encodes nothing."""
    from intentmatch.storage.postgres.database import Database

    texts: list[str] = []

    class Counting(WordHashEncoder):
        name = "counting:of-a-test"

        def encode(self, some, *, kind="utterance"):
            texts.extend(some)
            return super().encode(some, kind=kind)

    Matcher.load(bot, encoder=Counting(), cache=str(tmp_path / "one"))
    count = len(texts)
    with Database(bot).rows() as connection:
        connection.execute("DELETE FROM intentmatch.artefacts WHERE bot = current_setting('app.bot')")
    Matcher.load(bot, encoder=Counting(), cache=str(tmp_path / "two"))

    assert count > 0
    assert len(texts) - count <= 1  # the self-test


def test_lost_database_at_the_start_is_told_without_the_password():
    pytest.importorskip("psycopg", reason="needs the extra postgres")
    with pytest.raises(DatabaseError) as caught:
        Matcher.load("postgres://ann:hunter2secret@127.0.0.1:1/db/shop")
    assert "hunter2secret" not in str(caught.value)
    assert "postgres://ann@127.0.0.1:1/db/shop" in str(caught.value)
