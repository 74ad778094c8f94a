"""Completion by Tab: through click's own protocol always, and in bash, zsh and fish where they are installed."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from click.shell_completion import CompletionItem, ShellComplete

from intentmatch.cli.commands import cli
from intentmatch.cli.options import INTENTS_VARIABLE

BOT = """\
intents:
  order_status:
    title: Where is my order?
    utterances: {en: ["where is my {item}"], de: [wo ist meine Bestellung]}
    slots: {item: {values: [order, parcel]}}
  order_cancel: {when: shopping, utterances: {en: [cancel my order]}}
  greeting: {utterances: {en: [hello]}}
"""


@pytest.fixture
def bot(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with the registry `intents`, in which the test runs."""
    (tmp_path / "intents").mkdir()
    (tmp_path / "intents" / "bot.yaml").write_text(BOT, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv(INTENTS_VARIABLE, raising=False)
    return tmp_path


def completed(*words: str) -> list[CompletionItem]:
    """What Tab offers behind these words; the last one is incomplete."""
    shell = ShellComplete(cli, {}, "intentmatch", "_INTENTMATCH_COMPLETE")
    return shell.get_completions(list(words[:-1]), words[-1])


def values(*words: str) -> list[str]:
    return [item.value for item in completed(*words)]


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (["ev"], ["eval"]),
        (["inbox", "a"], ["apply"]),
        (["eval", "--fold"], ["--folds"]),
        (["add", "or"], ["order_status", "order_cancel"]),
        (["move", "hello", "order_s"], ["order_status"]),
        (["rename", "gr"], ["greeting"]),
        (["remove", "gr"], ["greeting"]),
        (["remove", "--from", "gr", "--help"], ["--help"]),
        (["match", "--allow", "g"], ["greeting"]),
        (["match", "--context", ""], ["shopping"]),
        (["match", "--language", ""], ["de", "en"]),
        (["inbox", "apply", "--intent", "order_c"], ["order_cancel"]),
        (["lint", "--format", "s"], ["sarif"]),
        (["import", "--format", "rasa"], ["rasa"]),
        (["export", "--format", "sema"], ["semantic-router"]),
        (["guide", "thr"], ["thresholds"]),
        (["lint", "--set", "thres"], ["threshold="]),
        (["tune", "--encoder", "st"], ["static"]),
    ],
    ids=" ".join,
)
def test_names_are_completed(bot: Path, words: list[str], expected: list[str]):
    assert values(*words) == expected


def test_intents_are_described_by_their_titles(bot: Path):
    assert [item.help for item in completed("add", "order_s")] == ["Where is my order?"]


def test_registry_named_before_is_the_one_that_is_read(bot: Path):
    (bot / "other.yaml").write_text("intents: {elsewhere: {utterances: {en: [hi]}}}\n", encoding="utf-8")

    assert values("add", "-i", "other.yaml", "") == ["elsewhere"]


def test_environment_names_the_registry(bot: Path, monkeypatch: pytest.MonkeyPatch):
    (bot / "other.yaml").write_text("intents: {elsewhere: {utterances: {en: [hi]}}}\n", encoding="utf-8")
    monkeypatch.setenv(INTENTS_VARIABLE, "other.yaml")

    assert values("add", "") == ["elsewhere"]


@pytest.mark.parametrize("words", [["lint", "int"], ["lint", "-i", "int"], ["diff", "int"], ["eval", "--html", "x"]])
def test_shell_completes_files(bot: Path, words: list[str]):
    assert [(item.type, item.value) for item in completed(*words)] == [("file", words[-1])]


@pytest.mark.parametrize("text", [None, "intents: [", "intents: {}"])
def test_registry_that_cannot_be_read_completes_nothing(bot: Path, text: str | None):
    if text is None:
        shutil.rmtree("intents")
    else:
        Path("intents/bot.yaml").write_text(text, encoding="utf-8")

    assert values("add", "") == []
    assert "de" in values("match", "--language", "d"), "the languages of the embedded encoder"


def test_mistake_elsewhere_in_the_registry_does_not_matter(bot: Path):
    with Path("intents/bot.yaml").open("a", encoding="utf-8") as file:
        file.write("  wrong: {utterance: []}\n")

    assert values("add", "order_c") == ["order_cancel"]


SHELLS = {
    "bash": (
        'eval "$(_INTENTMATCH_COMPLETE=bash_source intentmatch)"; COMP_WORDS=(intentmatch {words}); '
        'COMP_CWORD={place}; _intentmatch_completion intentmatch; printf "%s\\n" "${{COMPREPLY[@]}}"'
    ),
    # The functions that would draw on the screen print what they are given.
    "zsh": (
        "autoload -U compinit; compinit -u -D; "
        'eval "$(_INTENTMATCH_COMPLETE=zsh_source intentmatch)"; words=(intentmatch {words}); CURRENT={next}; '
        "compadd() {{ print -l -- ${{(P)@[-1]}} }}; _describe() {{ print -l -- ${{(P)3%%:*}} }}; "
        "_intentmatch_completion"
    ),
    "fish": '_INTENTMATCH_COMPLETE=fish_source intentmatch | source; complete -C "intentmatch {words}"',
}


@pytest.mark.parametrize(
    ("words", "expected"),
    [("guide thr", "thresholds"), ("add order_c", "order_cancel"), ("add order_s", "order_status")],
)
@pytest.mark.parametrize("shell", SHELLS)
def test_completion_works_in_the_shell(bot: Path, shell: str, words: str, expected: str):
    if shutil.which(shell) is None:
        pytest.skip(f"{shell} is not installed")
    program = bot / "bin" / "intentmatch"
    program.parent.mkdir()
    program.write_text(f"#!{sys.executable}\nfrom intentmatch.cli import main\nmain()\n", encoding="utf-8")
    program.chmod(0o755)
    place = len(words.split())
    script = SHELLS[shell].format(words=words, place=place, next=place + 1)
    environment = {**os.environ, "PATH": f"{program.parent}{os.pathsep}{os.environ['PATH']}", "HOME": str(bot)}

    done = subprocess.run(
        [shell, "-c", script], capture_output=True, text=True, timeout=60, check=False, env=environment, cwd=bot
    )

    assert expected in [line.split("\t")[0].split(":")[0] for line in done.stdout.split("\n")], (
        done.stdout + done.stderr
    )
