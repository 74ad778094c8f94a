"""The bot in a terminal, which needs nothing but intentmatch."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

BOT = Path(__file__).parents[2] / "examples" / "plain" / "bot.py"


def said(*lines: str) -> list[str]:
    """What the bot answers to the last of these lines."""
    done = subprocess.run(
        [sys.executable, BOT], input="\n".join(lines) + "\n", capture_output=True, text=True, check=True, timeout=60
    )
    return done.stdout.split("you> ")[-2].splitlines()


def test_it_asks_for_what_it_needs_and_looks_it_up():
    """A slot is asked for, and a function of the bot's own has the answer."""
    assert said("where is my order") == ["bot> What is the number of your order?"]
    assert said("where is my order", "1234") == ["bot> 1234: in Munich"]
    assert said("wo ist meine Bestellung 2001") == ["bot> 2001: at your door"]
    assert said("where is my order", "9999") == ["bot> 9999: ?"]


def test_it_asks_what_is_meant():
    """Number and words both do, and the number of the order is asked for after that."""
    asked = said("my order")

    assert asked[0] == "bot> Did you mean:"
    assert asked[-1] == "3. None of these"
    assert said("my order", "Bestellung stornieren")[-1] == "bot> Which order shall I cancel?"
    assert said("my order 1234", "cancel an order")[-1] == "bot> Order 1234 is cancelled."


def test_it_answers_from_the_yaml_and_says_what_it_cannot():
    """In the language of the message."""
    assert said("wann habt ihr offen?") == ["bot> Wir haben von 9 bis 18 Uhr offen."]
    assert said("quantum chromodynamics")[0].startswith("bot> Sorry")
    assert said("") == []


def test_it_is_as_short_as_it_says():
    """Forty lines, without those between functions."""
    assert sum(bool(line.strip()) for line in BOT.read_text(encoding="utf-8").splitlines()) <= 40
