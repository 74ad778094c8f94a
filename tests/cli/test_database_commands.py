"""`push`, `pull`, `log` and `migrate`, and edits of a bot in PostgreSQL by command."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner
from command_line import SHOP, run

from intentmatch.cli import checkout
from intentmatch.cli.commands import cli
from intentmatch.core.errors import ChangedMeanwhileError


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "shop" / "more").mkdir(parents=True)
    (tmp_path / "shop" / "shop.yaml").write_text(SHOP)
    (tmp_path / "shop" / "more" / "bye.yaml").write_text("# comment\nintents: {bye: {utterances: {en: [bye now]}}}\n")
    return Path("shop")


@pytest.fixture
def pushed(folder, postgres_address):
    assert run("push", "shop", postgres_address, "-m", "first", "--author", "ann").exit_code == 0
    return postgres_address


def files(folder):
    return {file.relative_to(folder).as_posix(): file.read_bytes() for file in Path(folder).rglob("*.yaml")}


def test_push_and_pull_keep_every_byte(pushed, folder):
    done = run("pull", pushed, "copy")

    assert done.exit_code == 0, done.output
    assert files("copy") == files("shop")
    assert "revision 1 of postgres://postgres@/postgres/bot-" in done.output


def test_push_of_a_mounted_configmap_keeps_the_names_of_its_links(folder, postgres_address):
    """Kubernetes mounts links to a hidden folder, which a pull would not read."""
    mounted = Path("mounted")
    (mounted / "..2026_11_27").mkdir(parents=True)
    (mounted / "..2026_11_27" / "shop.yaml").write_text(SHOP)
    (mounted / "..data").symlink_to("..2026_11_27")
    (mounted / "shop.yaml").symlink_to("..data/shop.yaml")

    assert run("push", "mounted", postgres_address).exit_code == 0
    assert run("pull", postgres_address, "copy").exit_code == 0
    assert list(files("copy")) == ["shop.yaml"]


def test_push_from_a_folder_that_cannot_be_written(folder, postgres_address, monkeypatch):
    """Such as a config map: the revision is written, and the same files may be pushed again."""

    def refuse(*_args, **_options):
        raise OSError(30, "Read-only file system")

    with monkeypatch.context() as patched:
        patched.setattr(Path, "write_text", refuse)
        first = run("push", "shop", postgres_address)
        again = run("push", "shop", postgres_address)

    assert (first.exit_code, again.exit_code) == (0, 0)
    assert "needs --force" in first.stderr
    assert "revision 1 is the same already" in again.stdout
    (folder / "shop.yaml").write_text(SHOP.replace("cancel my order", "cancel it all"))
    assert run("push", "shop", postgres_address).exit_code == ChangedMeanwhileError.exit_code


def test_push_is_based_on_what_was_pulled(pushed, folder):
    run("pull", pushed, "copy")
    (folder / "shop.yaml").write_text(SHOP.replace("cancel my order", "cancel it all"))
    assert run("push", "shop", pushed).exit_code == 0
    (Path("copy") / "shop.yaml").write_text(SHOP.replace("cancel my order", "stop my order"))
    late = run("push", "copy", pushed)

    assert late.exit_code == 1
    assert "wrote revision 2" in late.output
    assert "--force" in late.output
    assert run("push", "copy", pushed, "--force").exit_code == 0
    assert "revision 3 is the same already" in run("push", "copy", pushed).output


def test_pull_keeps_changes_made_here(pushed, folder):
    (folder / "shop.yaml").write_text(SHOP + "# mine\n")
    done = run("pull", pushed, "shop")

    assert done.exit_code == 2
    assert "changed here" in done.output
    assert run("pull", pushed, "shop", "--force").exit_code == 0
    assert "# mine" not in (folder / "shop.yaml").read_text()


def test_pull_of_an_older_revision_removes_newer_files(pushed, folder):
    (folder / "new.yaml").write_text("intents: {new: {utterances: {en: [something new]}}}\n")
    run("push", "shop", pushed)
    assert run("pull", pushed, "shop", "--revision", "1").exit_code == 0

    assert sorted(files("shop")) == ["more/bye.yaml", "shop.yaml"]
    assert run("pull", pushed, "old", "-r", "9").exit_code == 2


def test_invalid_files_are_not_pushed(folder, postgres_address):
    (folder / "shop.yaml").write_text("intents: {a: {}}\n")
    done = run("push", "shop", postgres_address)

    assert done.exit_code == 2
    assert "shop/shop.yaml:1" in done.output
    assert run("log", postgres_address).exit_code == 2


def test_included_file_outside_is_refused(folder, postgres_address):
    Path("other.yaml").write_text("intents: {other: {utterances: {en: [other things]}}}\n")
    (folder / "shop.yaml").write_text(f"include: ../other.yaml\n{SHOP}")
    done = CliRunner(env={"INTENTMATCH_CONFINE": "false"}).invoke(cli, ["push", "shop", postgres_address])

    assert done.exit_code == 2
    assert "lies outside of shop" in done.output


def test_log_lists_revisions_and_shows_one(pushed, folder):
    (folder / "shop.yaml").write_text(SHOP.replace("cancel my order", "cancel it all"))
    run("push", "shop", pushed, "-m", "second")
    listed = [json.loads(line) for line in run("log", pushed, "--json").stdout.splitlines()]
    shown = run("log", pushed, "2").stdout

    assert [(one["revision"], one["note"]) for one in listed] == [(2, "second"), (1, "first")]
    assert listed[1]["author"] == "ann"
    assert "+    utterances: {en: [cancel it all" in shown
    assert "bye" not in shown
    assert "--- /dev/null" in run("log", pushed, "1").stdout
    assert run("log", pushed).stdout.splitlines()[1].split()[0] == "2"


def test_edit_becomes_a_revision(pushed):
    from intentmatch.authoring.database_workspace import DatabaseWorkspace
    from intentmatch.storage.postgres.address import address_of

    done = run("add", "bye", "see you", "--lang", "en", "-i", pushed, "--yes")

    assert done.exit_code == 0, done.output
    assert "Revision 2 of postgres://postgres@/postgres/bot-" in done.output
    assert json.loads(run("log", pushed, "--json").stdout.splitlines()[0])["note"] == "Add to bye"
    (entry,) = DatabaseWorkspace(address_of(pushed)).audit()
    assert (entry.what, entry.revision) == ("Add to bye", "2")
    run("pull", pushed, "copy")
    assert (Path("copy") / "more" / "bye.yaml").read_text().startswith("# comment\n")
    assert "see you" in (Path("copy") / "more" / "bye.yaml").read_text()


def test_new_file_of_an_edit_is_in_the_bot(pushed):
    done = run("add", "refund", "money back", "-l", "en", "--new", "--file", "pay.yaml", "-i", pushed, "--yes")
    run("pull", pushed, "copy")

    assert done.exit_code == 0, done.output
    assert "money back" in (Path("copy") / "pay.yaml").read_text()
    assert not Path("pay.yaml").exists()


def test_dry_run_writes_no_revision(pushed):
    assert run("add", "bye", "see you", "--lang", "en", "-i", pushed, "-n").exit_code == 0
    assert len(run("log", pushed, "--json").stdout.splitlines()) == 1


def test_edit_that_somebody_else_was_quicker_than_writes_nothing(pushed, folder, monkeypatch):
    real = checkout.Checkout.publish

    def late(self, note):
        (folder / "shop.yaml").write_text(SHOP.replace("cancel my order", "cancel it all"))
        run("push", "shop", pushed, "--author", "bob")
        return real(self, note)

    monkeypatch.setattr(checkout.Checkout, "publish", late)
    done = run("add", "bye", "see you", "--lang", "en", "-i", pushed, "--yes")

    assert done.exit_code == ChangedMeanwhileError.exit_code
    assert "bob wrote revision 2" in done.output
    assert "is written" not in done.output.replace("Revision 2 of", "")
    assert len(run("log", pushed, "--json").stdout.splitlines()) == 2


def test_checkout_is_private_and_removed(pushed, monkeypatch):
    seen = []
    real = checkout.Checkout.__init__

    def note(self, address):
        real(self, address)
        seen.append((self.folder, self.folder.parent.stat().st_mode & 0o777))

    monkeypatch.setattr(checkout.Checkout, "__init__", note)
    assert run("validate", pushed).exit_code == 0

    ((path, mode),) = seen
    assert mode == 0o700
    assert not path.exists()


def test_places_are_shown_below_the_bot(pushed):
    from intentmatch.storage.postgres.database import Database
    from intentmatch.storage.postgres.registries import RegistryStore

    store = RegistryStore(Database(pushed))
    store.write({"a.yaml": b"intents: {a: {}}\n"}, author=None, note="", expected="*")
    done = run("validate", pushed)

    assert done.exit_code == 2
    assert f"{store.bot}/a.yaml:1:" in done.output.replace("/tmp", "!")
    assert "!" not in done.output.replace("/tmp", "!")


def test_migrate_twice(postgres_address):
    assert run("migrate", postgres_address).output == "The tables are up to date.\n"


@pytest.mark.parametrize(
    "words", [["log", "mysql://x/y"], ["push", "shop", "shop"], ["pull", "postgres://h/d/a b", "x"]]
)
def test_invalid_address(folder, words):
    done = run(*words)

    assert done.exit_code == 2
    assert "postgres://" in done.output or "valid name" in done.output


@pytest.mark.parametrize(
    "words",
    [
        ["validate", "postgres://ann:hunter2@h/d/shop", "-i", "shop"],
        ["validate", "postgres://ann:hunter2@127.0.0.1:1/d/shop"],
        ["serve", "shop", "--show-config", "--store", "postgres://ann:hunter2@h/d"],
        ["push", "shop", "postgres://ann:hunter2@127.0.0.1:1/d/shop"],
        ["serve", "postgres://ann:hunter2@127.0.0.1:1/d/shop", "--show-config"],
    ],
)
def test_no_command_shows_a_password(folder, words):
    pytest.importorskip("psycopg", reason="needs the extra postgres")
    assert "hunter2" not in run(*words).output
