"""Activities of Microsoft's two bot frameworks."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from intentmatch import Choice
from intentmatch.integrations.activities import button, chosen, conversation, is_own

ANNA, BOT = SimpleNamespace(id="anna"), SimpleNamespace(id="bot")


def activity(**more: object) -> SimpleNamespace:
    place = SimpleNamespace(id="room")
    fields = {"from_property": ANNA, "recipient": BOT, "channel_id": "teams", "conversation": place, "value": None}
    return SimpleNamespace(**{**fields, **more})


def test_own_activity_is_recognised():
    """A channel may name neither the user nor the bot; then the activity is not the bot's own."""
    assert is_own(activity(from_property=BOT))
    assert not is_own(activity())
    assert not is_own(activity(from_property=None))
    assert not is_own(activity(recipient=None))


def test_users_in_one_room_have_conversations_of_their_own():
    """Users whom a channel does not name share one."""
    assert conversation(activity()) == "teams/room/anna"
    assert conversation(activity(from_property=None)) == "teams/room/"


def test_pressed_button_is_recognised_by_its_value():
    made = button(Choice("im:question:1", "Track it", "status"))

    assert (made["title"], made["text"], made["display_text"]) == ("Track it",) * 3
    assert chosen(activity(value=made["value"])) == "im:question:1"


@pytest.mark.parametrize("value", [None, "im:question:1", {}, {"choice": 1}, {"choice": "theirs"}])
def test_value_of_other_card_is_no_choice(value):
    assert chosen(activity(value=value)) is None
