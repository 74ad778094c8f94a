"""A bot in a terminal that asks for missing slots and for the intent of ambiguous messages."""

from __future__ import annotations

from pathlib import Path

from intentmatch import Dialogue, Matcher, Turn

PARCELS = {"1234": "in Munich", "2001": "at your door"}


def order_status(turn: Turn) -> str:
    """Answer in code; the YAML answers all other intents."""
    number = turn.slots["order"]
    return f"{number}: {PARCELS.get(str(number), '?')}"


ACTIONS = {"order_status": order_status}


def answer(turn: Turn) -> str:
    """Return the reply of a function, of the YAML, or the fallback."""
    if turn.intent in ACTIONS:
        return ACTIONS[turn.intent](turn)
    return turn.text or "Sorry, I can only help with orders and opening hours."


def main() -> None:
    """Answer each line until the input ends."""
    bot = Dialogue(Matcher.load(Path(__file__).with_name("bot.yaml")))
    while True:
        try:
            turn = bot.take(input("you> "), "terminal")
        except EOFError:
            return
        if turn:
            print("bot>", answer(turn))


if __name__ == "__main__":
    main()
