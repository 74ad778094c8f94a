"""Tokens of the examples: a missing one names its variable and where to get one."""

from __future__ import annotations

import ast
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from intentmatch.integrations.credentials import credential

EXAMPLES = Path(__file__).parents[2] / "examples"


def test_value_is_returned_without_spaces(monkeypatch):
    monkeypatch.setenv("SHOP_TOKEN", " abc\n")

    assert credential("SHOP_TOKEN", "ask") == "abc"


@pytest.mark.parametrize("value", [None, "", "  "])
def test_missing_value_names_variable_and_source(monkeypatch, value):
    monkeypatch.delenv("SHOP_TOKEN", raising=False)
    if value is not None:
        monkeypatch.setenv("SHOP_TOKEN", value)

    with pytest.raises(SystemExit) as ended:
        credential("SHOP_TOKEN", "ask the shop")
    assert ended.value.code == (
        "The environment variable SHOP_TOKEN is not set. To get its value, ask the shop.\n"
        "Then run: export SHOP_TOKEN=..."
    )


def test_program_ends_with_the_instruction_and_no_traceback():
    code = "from intentmatch.integrations.credentials import credential; credential('SHOP_TOKEN', 'ask the shop')"
    surroundings = {name: value for name, value in os.environ.items() if name != "SHOP_TOKEN"}
    done = subprocess.run(
        [sys.executable, "-c", code], env=surroundings, capture_output=True, text=True, timeout=60, check=False
    )

    assert done.returncode == 1
    assert done.stderr.startswith("The environment variable SHOP_TOKEN is not set.")
    assert "Traceback" not in done.stderr


CALLS = [
    (file.parent.name, node)
    for file in sorted(EXAMPLES.glob("*/*.py"))
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8")))
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "credential"
]


@pytest.mark.parametrize(("name", "call"), CALLS, ids=lambda value: value if isinstance(value, str) else "")
def test_instruction_of_an_example_has_a_place_to_go(name, call):
    """A page or a program, and the README names the variable."""
    variable, source = (ast.literal_eval(argument) for argument in call.args)

    assert re.search(r"https://|export |ngrok", source)
    assert variable in (EXAMPLES / name / "README.md").read_text(encoding="utf-8")


PROGRAMS = {
    "agents365": ("microsoft_agents.hosting.aiohttp", "CONNECTIONS__SERVICE_CONNECTION__SETTINGS__CLIENTID"),
    "aiogram": ("aiogram", "TELEGRAM_TOKEN"),
    "discord": ("discord", "DISCORD_TOKEN"),
    "slack": ("slack_bolt", "SLACK_BOT_TOKEN"),
    "telegram": ("telegram", "TELEGRAM_TOKEN"),
    "twilio": ("twilio", "TWILIO_WEBHOOK"),
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_example_without_its_token_says_what_is_missing(name, tmp_path):
    framework, variable = PROGRAMS[name]
    pytest.importorskip(framework, reason=f"needs {framework}")
    own = re.compile(r"CONNECTIONS__|\w+_TOKEN$|TWILIO_")
    surroundings = {key: value for key, value in os.environ.items() if not own.match(key)}
    done = subprocess.run(
        [sys.executable, str(EXAMPLES / name / "bot.py")], env={**surroundings, "INTENTMATCH_CACHE": "off"},
        cwd=tmp_path, capture_output=True, text=True, timeout=120, check=False,
    )  # fmt: skip

    assert done.returncode == 1
    assert f"The environment variable {variable} is not set." in done.stderr
    assert "Traceback" not in done.stderr


def test_no_example_reads_a_variable_that_may_be_missing():
    """`os.environ[...]` would end in a bare KeyError."""
    assert [str(file) for file in EXAMPLES.glob("**/*.py") if "os.environ[" in file.read_text(encoding="utf-8")] == []
    assert {name for name, _ in CALLS} >= {"aiogram", "discord", "slack", "telegram", "twilio"}
