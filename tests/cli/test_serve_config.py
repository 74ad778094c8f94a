"""Where the options of `serve` come from, and how `--show-config` prints them."""

from __future__ import annotations

import re
from pathlib import Path

import click
import pytest
from click.testing import CliRunner, Result

from intentmatch import Matcher
from intentmatch.artefact.store import save_artefact
from intentmatch.cli.commands import cli
from intentmatch.core.settings import PARSERS
from intentmatch.server.config import _GROUP_OF, ServerConfig

BOT = "settings: {top_k: 3}\nintents: {greet: {utterances: [hello, hi there]}}\n"


@pytest.fixture
def bot(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A file of intents; the environment only turns the cache off."""
    monkeypatch.setenv("INTENTMATCH_CACHE", "off")
    (tmp_path / "bot.yaml").write_text(BOT, encoding="utf-8")
    return tmp_path / "bot.yaml"


def run(*words: object, **environment: str) -> Result:
    return CliRunner().invoke(cli, ["serve", *map(str, words)], env=environment)


def shown(result: Result) -> dict[str, tuple[str, str]]:
    assert result.exit_code == 0, result.output
    rows = [re.split(r" {2,}", line.strip()) for line in result.stdout.splitlines() if line.strip()]
    return {name: (cells[0] if len(cells) > 1 else "", cells[-1]) for name, *cells in rows}


def test_show_config_lists_every_option_and_setting(bot: Path) -> None:
    table = shown(run(bot, "--show-config"))

    serve = cli.get_command(click.Context(cli), "serve")
    assert serve is not None
    options = {option.name for option in serve.params} - {"config", "show_config"}
    assert options | set(PARSERS) <= set(table)
    assert table["port"] == ("8080", "default")
    assert table["intents"] == (str(bot), "argument")
    assert table["top_k"] == ("3", f"{bot}:1")
    assert table["cache"] == ("off", "environment INTENTMATCH_CACHE")


def test_command_line_wins_over_environment_over_file(bot: Path, tmp_path: Path) -> None:
    file = tmp_path / "serve.yaml"
    file.write_text(
        "port: 1\nmax-text: 2\n\nmax_batch: 3\nwatch: yes\nsettings: [fuzzy=0.9, top_k=4]\n", encoding="utf-8"
    )
    environment = {"INTENTMATCH_SERVE_PORT": "4", "INTENTMATCH_SERVE_MAX_TEXT": "5"}

    table = shown(run(bot, "--config", file, "--port", 6, "--show-config", **environment))

    assert table["port"] == ("6", "argument")
    assert table["max_text"] == ("5", "environment INTENTMATCH_SERVE_MAX_TEXT")
    assert table["max_batch"] == ("3", f"{file}:4")
    assert table["watch"] == ("true", f"{file}:5")
    assert (table["fuzzy"], table["top_k"]) == (("0.9", "argument"), ("4", "argument"))


REPEATABLE = {
    "protocols": ("protocol", "protocols"),
    "cors_origins": ("cors-origin", "cors_origins", "origins"),
    "allowed_hosts": ("allowed-host", "allowed_hosts", "hosts"),
    "trusted_proxies": ("trusted-proxy", "trusted_proxies", "proxies"),
}
NAMES = [(option, name) for option, names in REPEATABLE.items() for name in names]


@pytest.mark.parametrize(("option", "name"), NAMES)
@pytest.mark.parametrize("value", ["one", "[one, two]"])
def test_file_takes_repeatable_flags_under_every_name(
    bot: Path, tmp_path: Path, option: str, name: str, value: str
) -> None:
    file = tmp_path / "serve.yaml"
    file.write_text(f"{name}: {value}\n", encoding="utf-8")
    table = shown(run(bot, "--config", file, "--show-config"))
    assert table[option] == (value.strip("[]").replace(",", ""), f"{file}:1")


@pytest.mark.parametrize(("option", "name"), NAMES)
def test_environment_takes_repeatable_flags_under_every_name(bot: Path, option: str, name: str) -> None:
    variable = f"INTENTMATCH_SERVE_{name.upper().replace('-', '_')}"
    table = shown(run(bot, "--show-config", **{variable: "one two"}))
    assert table[option] == ("one two", f"environment {variable}")


@pytest.mark.parametrize("name", ["set", "settings"])
def test_settings_may_come_from_file_and_environment(bot: Path, tmp_path: Path, name: str) -> None:
    file = tmp_path / "serve.yaml"
    file.write_text(f"{name}: [fuzzy=0.9, top_k=4]\n", encoding="utf-8")
    table = shown(run(bot, "--config", file, "--show-config"))
    assert (table["fuzzy"][0], table["top_k"][0]) == ("0.9", "4")
    table = shown(run(bot, "--show-config", **{f"INTENTMATCH_SERVE_{name.upper()}": "fuzzy=0.8 top_k=6"}))
    assert (table["fuzzy"][0], table["top_k"][0]) == ("0.8", "6")


def test_two_names_of_one_option_are_a_duplicate(bot: Path, tmp_path: Path) -> None:
    file = tmp_path / "serve.yaml"
    file.write_text("protocol: rasa\nprotocols: clu\n", encoding="utf-8")
    result = run(bot, "--config", file, "--show-config")
    assert (result.exit_code, "serve.yaml:2:1: error [duplicate-key]" in result.output) == (2, True)


def test_a_protocol_named_in_the_environment_is_loaded(bot: Path) -> None:
    result = run(bot, INTENTMATCH_SERVE_PROTOCOL="smtp")
    assert (result.exit_code, "unknown protocol 'smtp'" in result.output) == (2, True)


def test_every_default_comes_from_the_config() -> None:
    serve = cli.get_command(click.Context(cli), "serve")
    assert serve is not None
    config = ServerConfig()
    options = {option.name: option.default for option in serve.params if option.name in _GROUP_OF}
    # Keys come from files or the environment, and only `intentmatch studio` opens the studio to everybody.
    elsewhere = {"keys", "admin_keys", "author_keys", "open_studio"}
    assert options == {name: config.option(name) for name in _GROUP_OF if name not in elsewhere}


def test_environment_names_the_file_and_the_file_the_intents(bot: Path, tmp_path: Path) -> None:
    """So that a unit or a manifest needs no arguments."""
    file = tmp_path / "serve.yaml"
    file.write_text(f"intents: {bot}\nsettings: top_k=2\n", encoding="utf-8")

    table = shown(run("--show-config", INTENTMATCH_SERVE_CONFIG=str(file)))

    assert (table["intents"], table["top_k"]) == ((str(bot), f"{file}:1"), ("2", "argument"))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("prot: 1\n", "serve.yaml:1:1: error [unknown-option] there is no option `prot`"),
        ("max_txt: 1\n", "did you mean `max-text`?"),
        ("alowed_hots: 1\n", "did you mean `allowed-host`?"),
        ("prot: 1\n", "did you mean `port`?"),
        ("port: 80\nconfig: x\n", "serve.yaml:2:1: error [unknown-option]"),
        ("port: [1, 2]\n", "serve.yaml:1:1: error [option] `port` takes one value"),
        ("port: {a: 1}\n", "serve.yaml:1:7: error [option]"),
        ("settings: [[a]]\n", "serve.yaml:1:11: error [option]"),
        ("[port]: 1\n", "serve.yaml:1:1: error [unknown-option]"),
        ("- port\n", "serve.yaml:1:1: error [option]"),
        ("port: [\n", "error [yaml-syntax]"),
        ("port: many\n", "'many' is not a valid integer"),
        ("port: 99999\n", "99999 is not in the range"),
        ("port: 80\nport: 81\n", "serve.yaml:2:1: error [duplicate-key]"),
        ("\0", "serve.yaml:1:1: error [yaml-syntax]"),
    ],
)
def test_invalid_file_is_reported_with_its_place(bot: Path, tmp_path: Path, text: str, message: str) -> None:
    (tmp_path / "serve.yaml").write_text(text, encoding="utf-8")

    done = run(bot, "--config", tmp_path / "serve.yaml", "--show-config")

    assert (done.exit_code, message in done.output) == (2, True), done.output


def test_file_that_is_not_utf8_is_reported(bot: Path, tmp_path: Path) -> None:
    (tmp_path / "serve.yaml").write_bytes(b"\xff\xfe")
    done = run(bot, "--config", tmp_path / "serve.yaml", "--show-config")
    assert (done.exit_code, "serve.yaml:1:1: error [unreadable]" in done.output) == (2, True)


def test_empty_file_changes_nothing(bot: Path, tmp_path: Path) -> None:
    (tmp_path / "serve.yaml").write_text("# nothing yet\n", encoding="utf-8")
    assert run(bot, "--config", tmp_path / "serve.yaml", "--show-config").output == run(bot, "--show-config").output


def test_show_config_reads_the_settings_of_an_artefact(bot: Path, tmp_path: Path) -> None:
    built = tmp_path / "bot.intentmatch"
    save_artefact(Matcher.load(bot).artefact, built)

    assert shown(run(built, "--show-config"))["top_k"] == ("3", f"{bot}:1")


def test_show_config_counts_keys_without_showing_them(bot: Path, tmp_path: Path) -> None:
    (tmp_path / "keys").write_text("one\ntwo\n", encoding="utf-8")
    assert shown(run(bot, "--show-config"))["admin_keys"] == ("none", "default")

    result = run(
        bot, "--show-config", "--keys-file", tmp_path / "keys", INTENTMATCH_KEYS="no", INTENTMATCH_ADMIN_KEYS="boss"
    )
    table = shown(result)
    assert table["keys"] == ("set, 2 keys", str(tmp_path / "keys"))
    assert table["admin_keys"] == ("set, 1 key", "environment INTENTMATCH_ADMIN_KEYS")
    assert "boss" not in result.stdout


def test_show_config_prints_the_shared_settings_of_bots(tmp_path: Path) -> None:
    for name in ("bank", "shop"):
        (tmp_path / "bots" / name).mkdir(parents=True)
        (tmp_path / "bots" / name / "bot.yaml").write_text(BOT, encoding="utf-8")
    assert shown(run(tmp_path / "bots", "--show-config"))["top_k"] == ("5", "default")
    assert shown(run(tmp_path / "bots/shop", "--no-bots", "--show-config"))["top_k"][0] == "3"


@pytest.mark.parametrize("words", [["--preload", "shop"], ["--bots-memory", 5], ["--bots"], ["--body-seconds", 0]])
def test_options_of_bots_need_a_folder_of_bots(bot: Path, words: list[object]) -> None:
    result = run(bot, *words)
    assert (result.exit_code, "Traceback" in result.output) == (2, False)
