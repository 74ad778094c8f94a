"""The bot in a terminal, which needs nothing but intentmatch."""

from __future__ import annotations

from contracts.order_bot import EXAMPLES, talk_to_example

BOT = EXAMPLES / "plain" / "bot.py"


def last_reply(*lines: str) -> list[str]:
    """The lines that the bot answers to the last of these messages."""
    return talk_to_example("plain/bot.py", *lines, folder=BOT.parent).split("you> ")[-2].splitlines()


def test_slot_is_asked_for_and_looked_up():
    """A function of the bot finds the answer."""
    assert last_reply("where is my order") == ["bot> What is the number of your order?"]
    assert last_reply("where is my order", "1234") == ["bot> 1234: in Munich"]
    assert last_reply("wo ist meine Bestellung 2001") == ["bot> 2001: at your door"]
    assert last_reply("where is my order", "9999") == ["bot> 9999: ?"]


def test_ambiguous_message_is_asked_about():
    """A number or words choose; then the bot asks for the number of the order."""
    asked = last_reply("my order")

    assert asked[0] == "bot> Did you mean:"
    assert asked[-1] == "3. None of these"
    assert last_reply("my order", "Bestellung stornieren")[-1] == "bot> Which order shall I cancel?"
    assert last_reply("my order 1234", "cancel an order")[-1] == "bot> Order 1234 is cancelled."


def test_response_comes_from_yaml_and_out_of_scope_is_answered():
    assert last_reply("wann habt ihr offen?") == ["bot> Wir haben von 9 bis 18 Uhr offen."]
    assert last_reply("quantum chromodynamics")[0].startswith("bot> Sorry")
    assert last_reply("") == []


def test_example_has_at_most_forty_lines():
    """Blank lines do not count."""
    assert sum(bool(line.strip()) for line in BOT.read_text(encoding="utf-8").splitlines()) <= 40
