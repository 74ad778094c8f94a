"""All commands in a terminal of 80 columns: no line is wider, no header is cut and no word is broken.

The same command is run once as in a pipe, where lines have any length, and once as in a terminal. What is data for
another program or for copying (JSON, YAML, a diff) is shown as it is.
"""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterator
from pathlib import Path

import click
import pytest
from click.testing import CliRunner

from intentmatch.cli.commands import cli
from intentmatch.cli.render import output
from intentmatch.cli.render.layout import cells

SHIPPED = Path(__file__).parents[2] / "intents"
MESSAGES = [
    "أين طلبي الآن من فضلك",
    "איפה ההזמנה שלי",
    "今天天气怎么样，我想知道明天会不会下雨，谢谢",
    "ฉันต้องการยกเลิกคำสั่งซื้อ",
    "मेरा ऑर्डर कहाँ है",
    "where is my parcel and can you please cancel the whole order for me right now because I do not need it any more",
]
CHAT = "\n".join([*MESSAGES, "/why", "/slots", "/context nothing", "/help", "/bla"])
# A source line with its number, or the caret below it: cut to the width, not wrapped.
EXCERPT = re.compile(r"^ +\d* \| ")
# A setting that `tune` offers for copying into the YAML.
YAML_COMMENT = re.compile("# tune: ")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A folder with the registry of many scripts, an edited copy, the shipped intents, and an inbox.

    All are named relative to the working folder: how wide a line is must not depend on where the clone lies.
    """
    with pytest.MonkeyPatch.context() as patch:
        path = tmp_path_factory.mktemp("eighty")
        patch.chdir(path)
        patch.setenv("INTENTMATCH_CACHE", str(path / "cache"))
        patch.setenv("COLUMNS", "80")
        scripts = Path(__file__).with_name("scripts.yaml").read_text(encoding="utf-8")
        for name, text in {"scripts": scripts, "edited": scripts.replace("包裹什么时候能送到, ", "")}.items():
            (path / name).mkdir()
            (path / name / "bot.yaml").write_text(text, encoding="utf-8")
        shutil.copytree(SHIPPED, path / "shipped")
        (path / "messages.txt").write_text("\n".join(MESSAGES), encoding="utf-8")
        CliRunner().invoke(cli, ["match", "-i", "scripts", "--set", "inbox=inbox.sqlite", *MESSAGES])
        yield path


@pytest.fixture(autouse=True)
def _one_cache(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Share a cache: the shipped intents are trained once."""
    monkeypatch.setenv("INTENTMATCH_CACHE", str(folder / "cache"))


def printed(words: list[str], typed: str | None, *, terminal: bool) -> str:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(output, "in_terminal", lambda *, err=False: terminal)
        done = CliRunner().invoke(cli, words, input=typed)
    assert done.exception is None or isinstance(done.exception, SystemExit), done.exception
    return click.unstyle(done.stdout + done.stderr)


def words_of(text: str) -> set[str]:
    """The words of a text; times differ between two runs, so all numbers are the same word."""
    lines = [line for line in text.splitlines() if not EXCERPT.match(line) and "──" not in line]
    found = re.sub(r"\d[\d,.]*", "0", "\n".join(lines)).replace("\u200e", "").split()
    return {word.strip(",") for word in found}


def is_spaced(word: str) -> bool:
    """Whether a script puts spaces between words; others may break between any two signs."""
    return not re.search("[\u0e00-\u0e7f\u2e80-\u9fff\uff00-\uffef]", word)


EVERYWHERE = [
    ["match", *MESSAGES],
    ["match", "--why", *MESSAGES],
    ["validate", "--format", "full"],
    ["lint", "--format", "full"],
    ["explain-thresholds"],
    ["build", "-o", "built.intentmatch", "--quiet"],
    ["export", "--format", "rasa", "-o", "rasa", "--force"],
    ["chat"],
]
# On a small registry only. How often progress is shown depends on the machine, so it is left out.
MEASURING = [
    ["eval", "--folds", "2", "--quiet"],
    ["tune", "--quiet"],
]
ELSEWHERE = [
    ["eval", "scripts", "--folds", "2", "--learning-curve", "--fail-under", "99", "--quiet"],
    ["diff", "scripts", "edited", "--folds", "3", "--messages", "messages.txt", "--quiet"],
    ["import", "scripts"],
    ["import", "messages.txt"],
    ["inbox", "show", "inbox.sqlite", "-i", "scripts"],
    ["match", "-i", "nowhere", "x"],
    ["match", "-i", "scripts", "--set", "encoder=berta", "x"],
    ["lint", "--rules"],
    ["encoders"],
    ["formats"],
    ["languages"],
    ["languages", "pl"],
    ["guide"],
    ["guide", "cli"],
    ["init", "new/intents", "--name", "new", "--languages", "en,de", "--start", "shop"],
]


def check(words: list[str], typed: str | None = None) -> None:
    wide, shown = printed(words, typed, terminal=False), printed(words, typed, terminal=True)

    assert [line for line in shown.splitlines() if cells(line) > 80 and not YAML_COMMENT.search(line)] == []
    if words[0] == "guide":
        return  # Markdown in a pipe, rendered in a terminal
    known = {part for word in words_of(wide) for part in (word, word.strip("“”"))}
    assert sorted(word for word in words_of(shown) - known if is_spaced(word) and word.strip("“”") not in known) == []


@pytest.mark.parametrize("words", [*EVERYWHERE, *MEASURING], ids=" ".join)
def test_output_for_many_scripts_fits(folder: Path, words: list[str]):
    check([*words, "-i", "scripts"], CHAT if words[0] == "chat" else None)


@pytest.mark.parametrize("words", EVERYWHERE, ids=" ".join)
def test_output_for_the_shipped_intents_fits(folder: Path, words: list[str]):
    check([*words, "-i", "shipped"], CHAT if words[0] == "chat" else None)


@pytest.mark.parametrize("words", ELSEWHERE, ids=" ".join)
def test_output_of_other_commands_fits(folder: Path, words: list[str]):
    if words[0] == "init":
        shutil.rmtree(folder / "new", ignore_errors=True)
        printed_words = [*words[:1], "other/intents", *words[2:]]
        assert [line for line in printed(printed_words, None, terminal=True).splitlines() if cells(line) > 80] == []
        return
    check(words)


def commands(group: click.Group = cli, prefix: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    yield prefix
    with click.Context(group) as context:
        for name in group.list_commands(context):
            command = group.get_command(context, name)
            if isinstance(command, click.Group):
                yield from commands(command, (*prefix, name))
            else:
                yield (*prefix, name)


@pytest.mark.parametrize("words", [*commands()], ids=" ".join)
def test_help_fits(words: tuple[str, ...], monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("COLUMNS", "80")

    shown = CliRunner().invoke(cli, [*words, "--help"], terminal_width=80).stdout

    assert [line for line in shown.splitlines() if cells(line) > 80] == []


@pytest.mark.parametrize("count", [1, 2])
def test_counts_are_in_the_singular_where_needed(tmp_path: Path, count: int):
    intents = "".join(f"  intent{n}: {{utterances: {{en: [hello number {n}]}}}}\n" for n in range(count))
    (tmp_path / "bot.yaml").write_text(f"intents:\n{intents}", encoding="utf-8")
    bot, target = str(tmp_path), str(tmp_path / "built.intentmatch")
    commands = (
        ["validate", bot],
        ["lint", bot],
        ["build", bot, "-o", target],
        ["match", "-i", bot, "hello", "--why"],
        ["chat", bot],
        ["explain-thresholds", bot],
        ["eval", bot, "--folds", "2"],
        ["export", bot, "--format", "csv", "-o", str(tmp_path / "out.csv"), "--force"],
        ["import", bot],
    )

    shown = "\n".join(printed(words, "/reload\n" if words[0] == "chat" else None, terminal=False) for words in commands)

    wrong = re.findall(
        r"(?<![\d.,-])1 (?:\w+ )?(?:intents|utterances|sentences|messages|cases|problems|errors|lines)\b", shown
    )
    assert wrong == []
    assert shown.count(f"{count} intent" + ("s" if count > 1 else "")) >= 4
