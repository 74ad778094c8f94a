"""What Microsoft's two frameworks have in common."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from intentmatch import Choice
from intentmatch.integrations.activities import button, chosen, conversation, is_own

ANNA, BOT = SimpleNamespace(id="anna"), SimpleNamespace(id="bot")


def activity(**more: object) -> SimpleNamespace:
    place = SimpleNamespace(id="room")
    said = {"from_property": ANNA, "recipient": BOT, "channel_id": "teams", "conversation": place, "value": None}
    return SimpleNamespace(**{**said, **more})


def test_a_bot_knows_itself():
    """And takes nobody for itself where a channel names no one."""
    assert is_own(activity(from_property=BOT))
    assert not is_own(activity())
    assert not is_own(activity(from_property=None))
    assert not is_own(activity(recipient=None))


def test_users_in_one_room_have_conversations_of_their_own():
    """Those whom a channel does not name share one."""
    assert conversation(activity()) == "teams/room/anna"
    assert conversation(activity(from_property=None)) == "teams/room/"


def test_a_pressed_button_is_known_by_what_it_sends():
    """As it was made here, and not as others make theirs."""
    made = button(Choice("im:question:1", "Track it", "status"))

    assert (made["title"], made["text"], made["display_text"]) == ("Track it",) * 3
    assert chosen(activity(value=made["value"])) == "im:question:1"


@pytest.mark.parametrize("value", [None, "im:question:1", {}, {"choice": 1}, {"choice": "theirs"}])
def test_what_others_send_is_no_choice(value):
    """Whatever it is."""
    assert chosen(activity(value=value)) is None
