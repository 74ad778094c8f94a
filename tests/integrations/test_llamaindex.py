"""The example for LlamaIndex, inside the real router."""

from __future__ import annotations

import asyncio
import os
import runpy
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import pytest
from fakes import WordHashEncoder

from intentmatch import Intent, Matcher, Registry, Utterance

pytest.importorskip("llama_index.core", reason="needs the package `llama-index-core`")

from llama_index.core.base.base_selector import BaseSelector
from llama_index.core.tools import ToolMetadata

EXAMPLE = Path(__file__).parents[2] / "examples" / "llamaindex" / "bot.py"
CHOICES = [ToolMetadata("", name=name) for name in ("status", "unmute", "mute", "other")]


@pytest.fixture
def matcher() -> Matcher:
    intents = (
        Intent("status", (Utterance("where is my order"),)),
        Intent("mute", (Utterance("sound off now"),)),
        Intent("unmute", (Utterance("sound on now"),)),
        Intent("elsewhere", (Utterance("something different altogether"),)),
    )
    return Matcher.load(Registry(intents), encoder=WordHashEncoder(), cache="off", margin=0.4)


@pytest.fixture
def selector(matcher) -> BaseSelector:
    return runpy.run_path(str(EXAMPLE))["IntentSelector"](matcher, fallback="other")


@pytest.mark.parametrize(
    ("said", "expected"),
    [
        ("where is my order", [0]),
        ("sound now", [1, 2]),
        ("something different altogether", [3]),
        ("penguins", [3]),
        ("", [3]),
    ],
)
def test_the_choice_has_the_name_of_the_intent(selector, said, expected):
    """Several where it may mean either; the fallback where no choice has it. The same sync and async."""
    assert selector.select(CHOICES, said).inds == expected
    assert asyncio.run(selector.aselect(CHOICES, said)).inds == expected


def test_the_reason_is_that_of_the_matcher(selector):
    """For whoever looks into a router's log."""
    assert selector.select(CHOICES, "where is my order").reason.startswith("Matched: ")


def test_the_loop_goes_on(matcher, selector):
    """While a question is encoded."""
    went_on, encode = threading.Event(), matcher.encoder.encode

    def slow(*args: Any, **options: Any) -> Any:
        assert went_on.wait(10), "the loop stood still"
        return encode(*args, **options)

    matcher.encoder.encode = slow

    async def select() -> None:
        task = asyncio.create_task(selector.aselect(CHOICES, "some question"))
        await asyncio.sleep(0.05)
        went_on.set()
        await task

    asyncio.run(select())


def test_the_example_holds_a_conversation(tmp_path):
    """In both languages; what may mean either is answered by both engines."""
    done = subprocess.run(
        [sys.executable, str(EXAMPLE)], env={**os.environ, "PYTHONUTF8": "1"}, cwd=tmp_path,
        input="where is my order\nmeine Bestellung stornieren\nwhat do penguins eat\nmy order\n",
        capture_output=True, text=True, timeout=120, check=False,
    )  # fmt: skip

    assert done.returncode == 0, done.stderr
    first, second, third, fourth = done.stdout.split("> ")[1:-1]
    assert (first, second) == ("It is on its way.\n", "It is cancelled.\n")
    assert third == "I shall look into the handbook.\n"
    assert "It is on its way." in fourth
    assert "It is cancelled." in fourth
