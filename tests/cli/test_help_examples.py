"""The examples of every command's help run, each in its own copy of a folder with the shipped intents."""

from __future__ import annotations

import importlib.util
import shlex
import shutil
import subprocess
import zipfile
from collections.abc import Iterator
from pathlib import Path

import click
import pytest
import yaml
from command_line import run
from postgres_server import PASSWORD, Server
from terminal import in_a_terminal

from intentmatch import Matcher
from intentmatch.cli.commands import cli
from intentmatch.inbox import Inbox

SHIPPED = Path(__file__).parents[2] / "intents"
# All that the examples need of the shipped intents; with all languages, those that measure would take long.
FILES = ("orders.yaml", "payments.yaml", "returns.yaml")
LANGUAGES = ("en", "de")
SHOP = """\
language: en
intents:
  order_status: {utterances: [where is my order, track my parcel, has it been shipped yet, when does it arrive]}
  order_cancel: {utterances: [cancel my order, I do not want it any more, call off my purchase, stop the shipment]}
  refund_status: {utterances: [where is my refund, when do I get my money back, is my refund on its way]}
"""
NLU = """\
nlu:
- intent: greet
  examples: |
    - hello
    - good morning
"""
ROUTES = """\
from types import SimpleNamespace as Route
router = Route(routes=[Route(name="greet", utterances=["hello"]), Route(name="leave", utterances=["good bye"])])
"""
TOPICS = (
    "pizza",
    "chess",
    "opera",
    "rain",
    "violins",
    "Mars",
    "tennis",
    "history",
    "cats",
    "poetry",
    "surfing",
    "tea",
    "jazz",
    "paint",
    "cars",
    "bees",
    "snow",
)

NOT_RUN = {
    "serve": "a server that does not end",
    "studio": "a server that does not end",
    "mcp": "a server that does not end",
    "grow": "needs a chat model",
    "deploy ray": "reads a cluster.yaml: tests/cli/test_deploy_command.py",
    "export-onnx": "needs a transformer",
    "distill": "needs a transformer and minutes",
    "distill-acts": "needs messages of logs and minutes",
    "distill-answers": "needs minutes",
    "distill-context": "needs a transformer and minutes",
    "measure-languages": "needs parallel text",
    "sentence_transformer:": "needs a transformer",
    "onnx:": "needs an exported transformer",
    "redis://": "needs a Redis server",
}
# Examples that ask something, and the replies.
TYPED = {
    "add": b"y\n",
    "move": b"y\n",
    "rename": b"y\n",
    "remove": b"y\n",
    "inbox": b"y\n",
    "chat": b"hello\n/why\n/quit\n",
}


def commands(group: click.Group = cli, prefix: str = "") -> Iterator[tuple[str, click.Command]]:
    with click.Context(group) as context:
        for name in group.list_commands(context):
            command = group.get_command(context, name)
            assert command is not None
            yield f"{prefix}{name}", command
            if isinstance(command, click.Group):
                yield from commands(command, f"{prefix}{name} ")


def examples() -> Iterator[tuple[str, str]]:
    """Each command line of each help, with the name of the command."""
    for name, command in commands():
        lines = [line.strip() for line in (command.help or "").splitlines()]
        yield from ((name, line) for line in lines if line.startswith("intentmatch ") and "COMMAND" not in line)


@pytest.fixture(scope="module")
def clone(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A git clone with every file that an example names, and a cache of vectors."""
    with pytest.MonkeyPatch.context() as patch:
        folder = tmp_path_factory.mktemp("examples") / "clone"
        (folder / "intents").mkdir(parents=True)
        for name in FILES:
            registry = yaml.safe_load((SHIPPED / name).read_text(encoding="utf-8"))
            for intent in registry["intents"].values():
                intent["utterances"] = {code: intent["utterances"][code] for code in LANGUAGES}
            text = yaml.safe_dump(registry, allow_unicode=True, sort_keys=False)
            (folder / "intents" / name).write_text(text, encoding="utf-8")
        patch.chdir(folder)
        patch.setenv("INTENTMATCH_CACHE", str(folder.parent / "cache"))
        files = {
            "shop/shop.yaml": SHOP,
            "rasa-bot/nlu.yml": NLU,
            "messages.txt": "wo ist mein Paket?\ncancel my order\n",
            "log.txt": "any news of my parcel\n",
            "log.jsonl": '{"text": "any news of my parcel", "time": "2026-11-20T10:00:00Z"}\n',
            "messages.csv": "text,intent\nwhere is my order now,order_status\nquantum physics,out_of_scope\n",
            "routes.py": ROUTES,
            "cases.csv": "text,intent\nplease cancel my order,order_cancel\n",
        }
        for name, text in files.items():
            Path(name).parent.mkdir(exist_ok=True)
            Path(name).write_text(text, encoding="utf-8")
        with zipfile.ZipFile("agent.zip", "w") as archive:
            archive.write("rasa-bot/nlu.yml", "nlu.yml")
        identity = ["-c", "user.name=n", "-c", "user.email=n@example.org"]
        for words in (["init", "-q", "-b", "main"], ["add", "."], ["commit", "-qm", "first"]):
            subprocess.run(["git", *identity, *words], check=True)
        matcher, inbox = Matcher.load("shop"), Inbox("misses.sqlite")
        for topic in TOPICS:
            inbox.record(matcher.match(f"tell me about {topic}"))
        assert inbox.flush()
        assert [message.id for message in inbox.messages()] == list(range(1, 18))
        assert run("eval", "shop", "--json", "main.json").exit_code == 0
        assert run("build", "shop", "-o", "last.intentmatch").exit_code == 0
    return folder


@pytest.fixture
def bots(postgres: Server, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest) -> None:
    """The database `bots` on localhost, with seven revisions of the bot `shop`."""
    import psycopg

    from intentmatch.storage.postgres.database import Database
    from intentmatch.storage.postgres.keys import KeyStore
    from intentmatch.storage.postgres.migrating import migrate
    from intentmatch.storage.postgres.registries import RegistryStore

    for name, value in (("PGUSER", "postgres"), ("PGPASSWORD", PASSWORD), ("PGPORT", str(postgres.port))):
        monkeypatch.setenv(name, value)
    with psycopg.connect(postgres.url(), autocommit=True) as connection:
        connection.execute("DROP DATABASE IF EXISTS bots WITH (FORCE)")
        connection.execute("CREATE DATABASE bots")
    database = Database("postgres://localhost/bots/shop")
    migrate(database)
    for number in range(7):
        files = {"shop.yaml": f"# {number}\n{SHOP}".encode()}
        RegistryStore(database).write(files, author="ann", note=f"edit {number}", expected="*")
    if "keys revoke" in request.node.name:
        KeyStore(database).add("anna", "match")
    database.close()


@pytest.mark.parametrize(("name", "line"), [pytest.param(*example, id=example[1]) for example in examples()])
def test_example_runs(
    clone: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    request: pytest.FixtureRequest,
    name: str,
    line: str,
) -> None:
    for words, reason in NOT_RUN.items():
        if words in (name, *name.split()) or words in line:
            pytest.skip(reason)
    if "postgres://" in line:
        request.getfixturevalue("bots")
    if "xlsx" in line:
        _write_table(clone / "faq.xlsx")
    shutil.copytree(clone, tmp_path / "clone")
    monkeypatch.chdir(tmp_path / "clone")
    monkeypatch.setenv("INTENTMATCH_CACHE", str(clone.parent / "cache"))

    if name in ("revisions", "restore"):
        _write_revisions()

    for part in line.split(" && "):
        words = shlex.split(part.partition(" | ")[0])[1:]
        stdin = Path(words.pop()).read_text(encoding="utf-8") if "<" in words else None
        target = Path(words.pop()) if ">" in words else None
        words = [word for word in words if word not in "<>"]
        typed = typed_for(words)
        if typed:
            code, printed = in_a_terminal(*words, typed=typed)
            shown, errors = printed.decode(), printed.decode()
        else:
            done = run(*words, stdin=stdin)
            code, shown, errors = done.exit_code, done.stdout, done.stderr
        if target is not None:
            target.write_text(shown, encoding="utf-8")
        # 1: a gate failed; 3 and 4: verdicts of `match`.
        assert code in (0, 1, 3, 4), shown + errors
        assert "error:" not in errors
        assert "Error" not in errors


def _write_revisions() -> None:
    """Begin a history outside of git, where revisions have numbers, and write three more."""
    shutil.rmtree(".git")
    for words in (
        ["revisions", "--begin"],
        *(["add", "order_status", text, "-y", "-l", "en"] for text in ("1 2", "3 4", "5 6")),
    ):
        done = run(*words)
        assert done.exit_code == 0, done.stderr


def typed_for(words: list[str]) -> bytes:
    """The replies to an example that asks something; nothing for the others."""
    if {"--yes", "-y", "--dry-run", "-n"} & {*words} or (words[0] == "inbox" and words[1] != "apply"):
        return b""
    return b"stop\n" if words[:2] == ["inbox", "apply"] and "-c" not in words else TYPED.get(words[0], b"")


def test_skipped_examples_exist() -> None:
    """A reason to skip that fits no example is removed."""
    lines = [f"{name} {line}" for name, line in examples()]

    assert [words for words in NOT_RUN if not any(words in line for line in lines)] == []


def _write_table(path: Path) -> None:
    if importlib.util.find_spec("openpyxl") is None:
        pytest.skip("needs the extra [spreadsheets]")
    import openpyxl

    book = openpyxl.Workbook()
    sheet = book.active
    for row in (["Frage", "Thema"], ["wo ist mein Paket", "paket"], ["ich will stornieren", "storno"]):
        sheet.append(row)
    book.save(path)
