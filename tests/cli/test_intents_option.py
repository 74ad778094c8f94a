"""`-i/--intents` and the positional INTENTS: the same for every command that takes a registry.

The tests walk the list of commands: a new command has to stand in WORDS, or in NO_REGISTRY.
"""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import click
import pytest
from click.testing import CliRunner, Result
from postgres_server import Server

from intentmatch.cli.commands import cli
from intentmatch.cli.options import INTENTS_HELP

YAML = """\
language: en
intents:
  status: {utterances: [where is my order, track my parcel, has it been shipped yet]}
  cancel: {utterances: [cancel my order, I do not want it any more, call off my purchase]}
"""

# What a command needs besides the registry, to finish quickly and without leaving the folder.
WORDS = {
    "match": ["cancel my order"],
    "chat": [],
    "validate": [],
    "lint": [],
    "format": [],
    "add": ["status", "any news", "--yes"],
    "move": ["track my parcel", "cancel", "--yes"],
    "rename": ["status", "state", "--yes"],
    "remove": ["track my parcel", "--yes"],
    "revisions": [],
    "inbox show": ["misses.sqlite"],
    "review": ["misses.sqlite", "--report"],
    "inbox apply": ["misses.sqlite", "--cluster", "1", "--ignore"],
    "inbox erase": ["misses.sqlite", "--text", "hello"],
    "eval": ["--folds", "2"],
    "diff": ["HEAD", "--folds", "2"],
    "replay": ["log.jsonl", "--candidate", "HEAD:shop"],
    "drift": ["log.jsonl"],
    "tune": [],
    "explain-thresholds": [],
    "build": ["-o", "out.intentmatch"],
    "serve": ["--show-config"],
    "export": ["--format", "csv", "-o", "out.csv"],
    "encoders": ["--compare", "static"],
}
# `mcp` and `studio` would wait for an agent or a browser, `grow` asks a model, `restore` needs the id of a commit, and
# `adapt` a transformer: their options are compared.
NOT_RUN = {"adapt", "grow", "mcp", "restore", "studio"}
NO_REGISTRY = {
    "init",
    "schema",
    "export-onnx",
    "distill",
    "distill-acts",
    "distill-answers",
    "distill-context",
    "distill-values",
    "measure-languages",
    "import",
    "formats",
    "guide",
    "languages",
    "push",
    "pull",
    "log",
    "migrate",
    "deploy ray",
    "keys add",
    "keys list",
    "keys revoke",
}
# Their other positional arguments leave no place for a positional registry.
OPTION_ONLY = {
    "match",
    "add",
    "move",
    "rename",
    "remove",
    "replay",
    "drift",
    "revisions",
    "restore",
    "inbox show",
    "inbox apply",
    "inbox erase",
    "review",
    "grow",
    "encoders",
}
POSITIONAL = sorted({*WORDS, *NOT_RUN} - OPTION_ONLY)


def commands(group: click.Group = cli, prefix: str = "") -> Iterator[tuple[str, click.Command]]:
    """Every command with its name; those of a group inside as "inbox show"."""
    with click.Context(group) as context:
        for name in group.list_commands(context):
            command = group.get_command(context, name)
            assert command is not None
            if isinstance(command, click.Group):
                yield from commands(command, f"{prefix}{name} ")
            else:
                yield f"{prefix}{name}", command


COMMANDS = dict(commands())


@pytest.fixture(scope="module")
def clone(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A git clone with a registry in `shop`, none in `intents`, and an inbox."""
    from intentmatch import Matcher
    from intentmatch.inbox import Inbox

    folder = tmp_path_factory.mktemp("clones") / "clone"
    (folder / "shop").mkdir(parents=True)
    (folder / "shop" / "shop.yaml").write_text(YAML, encoding="utf-8")
    logged = '{"text": "where is it", "time": "2026-11-20T10:00:00Z"}\n'
    (folder / "log.jsonl").write_text(logged, encoding="utf-8")
    inbox = Inbox(folder / "misses.sqlite")
    inbox.record(Matcher.load(folder / "shop", cache="off").match("do you ship to norway"))
    assert inbox.flush()
    identity = ["-c", "user.name=n", "-c", "user.email=n@example.org"]
    for words in (["init", "-q", "--template="], ["add", "shop"], ["commit", "-qm", "first"]):
        subprocess.run(["git", "-C", str(folder), *identity, *words], check=True)
    return folder


@pytest.fixture
def shop(clone: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The registry of the clone in a copy, which is the working directory."""
    shutil.copytree(clone, tmp_path, dirs_exist_ok=True)
    monkeypatch.chdir(tmp_path)
    return Path("shop")


def run(name: str, *more: str) -> Result:
    words = [*name.split(), *WORDS.get(name, []), *more]
    return CliRunner().invoke(cli, words, catch_exceptions=False, input="hello\n")


def found_nothing(done: Result) -> bool:
    """Whether a command ended with the error of a missing registry, which is a finding for `lint`."""
    return done.exit_code == 2 or "error [not-found]" in done.stdout


def test_every_command_is_listed_here() -> None:
    assert set(COMMANDS) == {*WORDS, *NOT_RUN, *NO_REGISTRY}


def option_of(name: str) -> list[click.Parameter]:
    return [parameter for parameter in COMMANDS[name].params if "-i" in parameter.opts]


@pytest.mark.parametrize("name", sorted(NO_REGISTRY))
def test_commands_without_registry_have_no_such_option(name: str) -> None:
    assert option_of(name) == []


@pytest.mark.parametrize("name", sorted({*WORDS, *NOT_RUN}))
def test_option_has_the_same_names_and_help_everywhere(name: str) -> None:
    (option,) = option_of(name)

    assert isinstance(option, click.Option)
    assert (option.opts, option.metavar, option.help) == (["-i", "--intents"], "PATH", INTENTS_HELP)
    shown = " ".join(run(name, "--help").stdout.split())
    assert "-i, --intents PATH" in shown
    assert "env var: INTENTMATCH_INTENTS; default: intents" in shown
    assert ("[INTENTS]" in shown or "OLD [NEW]" in shown) is (name in POSITIONAL)


@pytest.mark.parametrize("flag", ["-i", "--intents"])
@pytest.mark.parametrize("name", sorted(WORDS))
def test_option_names_the_registry(shop: Path, name: str, flag: str) -> None:
    done = run(name, flag, "shop")

    assert done.exit_code in (0, 1), done.output
    assert "error:" not in done.stderr


@pytest.mark.parametrize("name", sorted(set(POSITIONAL) - NOT_RUN))
def test_positional_names_the_registry(shop: Path, name: str) -> None:
    done = run(name, "shop")

    assert done.exit_code in (0, 1), done.output
    assert "error:" not in done.stderr


@pytest.mark.parametrize("name", sorted(WORDS))
def test_default_is_the_folder_intents(shop: Path, name: str) -> None:
    assert found_nothing(run(name))

    shop.rename("intents")
    # In the commit the folder has its old name.
    found = CliRunner().invoke(cli, ["diff", "HEAD:shop", "intents", "--folds", "2"]) if name == "diff" else run(name)
    assert found.exit_code in (0, 1), found.output


@pytest.mark.parametrize("name", sorted(WORDS))
def test_environment_replaces_the_default(shop: Path, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    monkeypatch.setenv("INTENTMATCH_INTENTS", "shop")

    assert run(name).exit_code in (0, 1)
    assert found_nothing(run(name, "-i", "no-such-folder"))


@pytest.fixture
def in_database(shop: Path, postgres_address: str, postgres: Server) -> str:
    """The same registry in PostgreSQL; its address has a password."""
    bot = postgres_address.partition("?")[0].rpartition("/")[2]
    address = postgres.tcp_url(more=f"/{bot}")
    assert CliRunner().invoke(cli, ["push", "shop", address]).exit_code == 0
    shutil.rmtree("shop")
    return address


@pytest.mark.parametrize("name", sorted(set(WORDS) - {"diff"}))
def test_address_names_a_registry_in_a_database(in_database: str, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    """Every command that takes a folder takes an address, and shows neither its password nor a private folder."""
    done = run(name, "-i", in_database)

    assert done.exit_code in (0, 1), done.output
    assert "error:" not in done.stderr
    assert "s3cret" not in done.output
    assert "/tmp/intentmatch-" not in done.output


def test_address_is_a_side_of_a_comparison(in_database: str) -> None:
    done = CliRunner().invoke(cli, ["diff", in_database, in_database, "--folds", "2"], catch_exceptions=False)

    assert done.exit_code == 0, done.output
    assert "/tmp/intentmatch-" not in done.output


@pytest.mark.parametrize("name", POSITIONAL)
def test_giving_both_is_an_error_that_says_so(shop: Path, name: str) -> None:
    done = run(name, "shop", "--intents", "shop/shop.yaml")

    argument = "NEW" if name == "diff" else "INTENTS"
    assert done.exit_code == 2
    assert done.stderr == (
        f"error: {argument} is given twice, as the argument 'shop' and as --intents 'shop/shop.yaml': "
        "remove one of them\n"
    )


def test_option_wins_over_the_configuration_file_of_serve(shop: Path) -> None:
    shutil.copytree("shop", "other")
    Path("serve.yaml").write_text("intents: no-such-folder\n", encoding="utf-8")

    done = run("serve", "--config", "serve.yaml", "-i", "other")

    assert done.exit_code == 0, done.output
    (line,) = [line for line in done.stdout.splitlines() if line.split()[:1] == ["intents"]]
    assert line.split() == ["intents", "other", "argument"]
