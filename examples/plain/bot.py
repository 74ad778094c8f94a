"""A bot in a terminal: it asks for what it needs, and which of two things is meant."""

from __future__ import annotations

from pathlib import Path

from intentmatch import Dialogue, Matcher, Turn

PARCELS = {"1234": "in Munich", "2001": "at your door"}


def order_status(turn: Turn) -> str:
    """What a bot does itself; all other intents are answered by the YAML."""
    number = turn.slots["order"]
    return f"{number}: {PARCELS.get(str(number), '?')}"


ACTIONS = {"order_status": order_status}


def answer(turn: Turn) -> str:
    """What to say: by a function of ours, by the YAML, or that we have no idea."""
    if turn.intent in ACTIONS:
        return ACTIONS[turn.intent](turn)
    return turn.text or "Sorry, I can only help with orders and opening hours."


def main() -> None:
    """Talk until the input ends."""
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
