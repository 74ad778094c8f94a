"""Activities of Microsoft's two bot frameworks: who speaks in which conversation, and the buttons of a question."""

from __future__ import annotations

from typing import Any

from intentmatch import Choice, Dialogue

# Key of the choice in a button's value, which Teams requires to be a JSON object.
_CHOICE = "choice"


def is_own(activity: Any) -> bool:
    """Return whether the activity comes from the bot itself."""
    user, bot = activity.from_property, activity.recipient
    # A channel may echo the bot's own messages, which it would answer for ever.
    return user is not None and bot is not None and user.id == bot.id


def conversation(activity: Any) -> str:
    """Return the conversation key for a `Dialogue`: channel, place and user."""
    user = activity.from_property
    # With the user: in a group, the answer to a question is that of whom the bot asked.
    return f"{activity.channel_id}/{activity.conversation.id}/{user.id if user else ''}"


def delivery(activity: Any) -> str | None:
    """Return the id of an activity. Teams delivers an activity again if the bot takes more than 15 seconds.

    It is None for an activity without an id, and in the channel "test", where each test adapter counts anew.
    """
    if not activity.id or activity.channel_id == "test":
        return None
    return f"{activity.channel_id}/{activity.conversation.id}/{activity.id}"


def chosen(activity: Any) -> str | None:
    """Return the id of the choice if the activity comes from a button of ours, otherwise None."""
    choice = activity.value.get(_CHOICE) if isinstance(activity.value, dict) else None
    return choice if Dialogue.is_choice(choice) else None


def button(choice: Choice) -> dict[str, Any]:
    """Return the fields of a `CardAction`; channels that drop the value send the title back as text."""
    title = choice.title
    return {"title": title, "text": title, "display_text": title, "value": {_CHOICE: choice.id}}
