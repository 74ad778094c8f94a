"""Bots come and go, in a folder and in a database: nothing is lost, whoever else writes at the same time."""

from __future__ import annotations

import threading

import pytest
from authoring.conftest import TEXT

from intentmatch.authoring.bots import BotExistsError, Bots, LastBotError
from intentmatch.authoring.revisions import digest_of
from intentmatch.authoring.workspace import ANY, StaleRevisionError, Workspace
from intentmatch.core.errors import ChangedMeanwhileError, InputError, IntentMatchError, RegistryError, UnknownNameError
from intentmatch.registry.confinement import ReadLimits
from intentmatch.registry.editing.edits import AddUtterance

FILES = {"bot.yaml": TEXT}


class Place:
    """A folder or a database with one bot, `bot`."""

    def __init__(self, bots, workspace):
        self.bots, self.workspace = bots, workspace


@pytest.fixture
def address(new_database, monkeypatch, tmp_path):
    from intentmatch.storage.postgres.address import Address
    from intentmatch.storage.postgres.database import Database
    from intentmatch.storage.postgres.migrating import migrate
    from intentmatch.storage.postgres.registries import RegistryStore

    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    address = Address.parse(new_database())
    migrate(Database(address))
    RegistryStore(Database(address), "bot").write({"bot.yaml": TEXT.encode()}, author=None, note="", expected=None)
    return address


def in_database(address):
    from intentmatch.authoring.database_bots import DatabaseBots
    from intentmatch.authoring.database_workspace import DatabaseWorkspace

    return Place(DatabaseBots(address, ReadLimits.from_settings), lambda name: DatabaseWorkspace(address.of(name)))


@pytest.fixture(params=["folder", "database"])
def place(request):
    if request.param == "database":
        return in_database(request.getfixturevalue("address"))
    folder = request.getfixturevalue("bot").parent

    def found():
        return {entry.name: entry for entry in folder.iterdir() if (entry / "bot.yaml").is_file()}

    return Place(Bots(folder, found, ReadLimits.from_settings), lambda name: Workspace(folder / name))


def test_created_bot_has_its_files_a_revision_and_an_audit_entry(place):
    made = place.bots.create("shop", {"bot.yaml": TEXT, "sub/x.yaml": "intents: {x: {utterances: [y]}}\n"}, author="a")

    workspace = place.workspace("shop")
    assert set(workspace.files()) == {"bot.yaml", "sub/x.yaml"}
    assert made.digest == digest_of(workspace.files())
    assert [(one.author, one.note) for one in workspace.revisions()] == [("a", "Create the bot shop")]
    assert made.revision == workspace.revisions()[0]
    (entry,) = place.bots.audit()
    assert (entry.author, entry.what, entry.digest) == ("a", "Create the bot shop", made.digest)
    assert [one.what for one in workspace.audit()] == [entry.what]


@pytest.mark.parametrize("name", ["", "../x", ".hidden", "a/b", "ä", "x" * 101, "a:b", "a@b"])
def test_names_that_fit_no_url_are_refused(place, name):
    with pytest.raises(InputError, match="not a valid name"):
        place.bots.create(name, FILES, author="anna")


@pytest.mark.parametrize("files", [{"../x.yaml": TEXT}, {"x.txt": TEXT}, {"/tmp/x.yaml": TEXT}])
def test_files_outside_of_the_bot_are_refused(place, files):
    with pytest.raises(InputError):
        place.bots.create("shop", files, author="anna")
    assert place.bots.audit() == []
    with pytest.raises(UnknownNameError):
        place.bots.remove("shop", author="root", expected=ANY)


def test_invalid_files_are_refused_with_their_places(place):
    with pytest.raises(RegistryError) as caught:
        place.bots.create("shop", {"bot.yaml": "intents: {greet: {utterances: 7}}\n"}, author="anna")

    assert caught.value.problems[0].location.path.endswith("shop/bot.yaml")
    with pytest.raises(IntentMatchError):
        place.bots.create("shop", {}, author="anna")
    with pytest.raises(LastBotError):
        place.bots.remove("bot", author="root", expected=ANY)


def test_of_many_that_create_the_same_bot_one_wins(place):
    won = []

    def create(number):
        try:
            place.bots.create("shop", {"bot.yaml": TEXT.replace("hello", f"hello {number}")}, author=str(number))
            won.append(str(number))
        except BotExistsError:
            pass

    threads = [threading.Thread(target=create, args=(number,)) for number in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    (winner,) = won
    assert f"hello {winner}".encode() in place.workspace("shop").files()["bot.yaml"]
    assert [one.author for one in place.workspace("shop").revisions()] == [winner]


def test_removed_bot_comes_back_with_its_history(place):
    place.bots.create("shop", FILES, author="anna")
    place.workspace("shop").write([AddUtterance("greet", "good day")], author="anna", note="Day", expected=ANY)
    files = place.workspace("shop").files()

    gone = place.bots.remove("shop", author="root", expected=digest_of(files))

    with pytest.raises(UnknownNameError):
        place.bots.remove("shop", author="root", expected=ANY)
    assert [(one.id, one.name, one.time) for one in place.bots.removed()] == [(gone.id, "shop", gone.time)]
    back = place.bots.restore(gone.id, author="root")
    workspace = place.workspace("shop")
    assert workspace.files() == files
    assert [(one.author, one.note) for one in workspace.revisions()] == [
        ("root", "Restore the bot shop"),
        ("anna", "Day"),
        ("anna", "Create the bot shop"),
    ]
    assert back.digest == digest_of(files)
    assert place.bots.removed() == []
    whats = ["Restore the bot shop", "Remove the bot shop", "Create the bot shop"]
    assert [one.what for one in place.bots.audit()] == whats
    assert [one.what for one in workspace.audit()] == [whats[0], "Day", whats[2]]
    workspace.write([AddUtterance("greet", "evening")], author="anna", note="", expected=str(back.digest))


def test_bot_that_has_changed_is_not_removed(place):
    old = place.bots.create("shop", FILES, author="anna").digest
    place.workspace("shop").write([AddUtterance("greet", "good day")], author="bob", note="", expected=ANY)

    with pytest.raises(StaleRevisionError) as caught:
        place.bots.remove("shop", author="root", expected=str(old))

    assert "+    utterances: [hello, hi there, good day]" in (caught.value.theirs or "")
    assert place.workspace("shop").files()
    assert place.bots.removed() == []


def test_last_bot_and_unknown_bots_are_not_removed(place):
    with pytest.raises(LastBotError):
        place.bots.remove("bot", author="root", expected=ANY)
    with pytest.raises(UnknownNameError):
        place.bots.remove("shop", author="root", expected=ANY)
    with pytest.raises(UnknownNameError):
        place.bots.restore("../bot", author="root")


def test_name_that_is_taken_again_keeps_the_removed_bot(place):
    place.bots.create("shop", FILES, author="anna")
    first = place.bots.remove("shop", author="root", expected=ANY)
    place.bots.create("shop", FILES, author="anna")

    with pytest.raises(BotExistsError):
        place.bots.restore(first.id, author="root")
    with pytest.raises(BotExistsError):
        place.bots.create("shop", FILES, author="anna")
    second = place.bots.remove("shop", author="root", expected=ANY)
    assert {one.id for one in place.bots.removed()} == {first.id, second.id}


def test_edit_between_the_check_and_the_removal_refuses_it(address, monkeypatch):
    from intentmatch.authoring.database_workspace import DatabaseWorkspace

    place = in_database(address)
    place.bots.create("shop", FILES, author="anna")
    real = DatabaseWorkspace.prepare_removal

    def late(self, expected):
        files = real(self, expected)
        place.workspace("shop").write([AddUtterance("greet", "good day")], author="bob", note="", expected=ANY)
        return files

    monkeypatch.setattr(DatabaseWorkspace, "prepare_removal", late)
    with pytest.raises(ChangedMeanwhileError, match="changed meanwhile"):
        place.bots.remove("shop", author="root", expected=ANY)
    assert place.bots.removed() == []
    assert place.bots.audit()[0].what == "Create the bot shop"


def test_of_two_that_remove_the_last_two_bots_one_is_refused(address):
    place, outcomes = in_database(address), []
    place.bots.create("shop", FILES, author="anna")
    both = threading.Barrier(2, timeout=60)

    def remove(name):
        both.wait()
        try:
            outcomes.append(in_database(address).bots.remove(name, author="root", expected=ANY).name)
        except LastBotError:
            outcomes.append("")

    threads = [threading.Thread(target=remove, args=(name,)) for name in ("bot", "shop")]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(map(bool, outcomes)) == [False, True]


def test_inbox_comes_back_with_its_bot(address):
    from intentmatch.inbox import Inbox

    place = in_database(address)
    place.bots.create("shop", FILES, author="anna")
    inbox = Inbox(address.of("shop"))
    inbox.correct("first thing", "greet")
    gone = place.bots.remove("shop", author="root", expected=ANY)
    place.bots.create("shop", FILES, author="anna")
    assert Inbox(address.of("shop")).messages() == []
    place.bots.remove("shop", author="root", expected=ANY)
    place.bots.restore(gone.id, author="root")

    (message,) = Inbox(address.of("shop")).messages()
    assert (message.text, dict(message.corrections)) == ("first thing", {"greet": 1})
