"""Activities, as both of Microsoft's frameworks have them: who speaks where, and the buttons of a question."""

from __future__ import annotations

from typing import Any

from intentmatch import Choice, Dialogue

# Inside the value of a button, which Teams takes for JSON.
_CHOICE = "choice"


def is_own(activity: Any) -> bool:
    """Whether the bot itself has said this."""
    user, bot = activity.from_property, activity.recipient
    return user is not None and bot is not None and user.id == bot.id


def conversation(activity: Any) -> str:
    """This user in this place, for a `Dialogue`."""
    user = activity.from_property
    return f"{activity.channel_id}/{activity.conversation.id}/{user.id if user else ''}"


def chosen(activity: Any) -> str | None:
    """What the button says that was pressed, if the message comes from one of ours."""
    choice = activity.value.get(_CHOICE) if isinstance(activity.value, dict) else None
    return choice if Dialogue.is_choice(choice) else None


def button(choice: Choice) -> dict[str, Any]:
    """The fields of a `CardAction`; where a channel does not send back its value, the title is."""
    said = choice.title
    return {"title": said, "text": said, "display_text": said, "value": {_CHOICE: choice.id}}
