"""Intents as routes of a Microsoft 365 agent: `IntentRouter(app, Dialogue(matcher))`, then `@router.intent("greet")`.

A message is recognised before the turn's routes are asked, for their selectors cannot wait. What the agent has routes
of its own for (`@app.message("/help")`) goes there first; what is not understood, and has no `@router.fallback`, goes
on to the routes of the last rank, such as `@app.message()`.
"""

from __future__ import annotations

from typing import Any

from intentmatch import Dialogue, MissingExtraError, Turn
from intentmatch.integrations.routes import Routes

try:
    from microsoft_agents.activity import ActionTypes, Activity, ActivityTypes, CardAction, Channels, HeroCard
    from microsoft_agents.hosting.core import AgentApplication, MessageFactory, RouteRank, TurnContext, TurnState
except ModuleNotFoundError as error:
    raise MissingExtraError("The adapter for the Microsoft 365 Agents SDK", "agents365") from error

_KEY = "intentmatch.turn"
# Inside the value of a button, which Teams takes for JSON.
_CHOICE = "choice"


class IntentRouter(Routes):
    """Routes of an `AgentApplication` by intent: a function is called with the context, the state and the `Turn`."""

    def __init__(self, app: AgentApplication[Any], dialogue: Dialogue) -> None:
        super().__init__(dialogue)
        app.before_turn(self._recognise)
        app.add_route(self._answers, self._answer, rank=RouteRank.LAST - 1)

    def turn(self, context: TurnContext) -> Turn | None:
        """What comes of the message of this turn; None where the activity is no message, or one of the agent's own."""
        found: Turn | None = context.turn_state.get(_KEY)
        return found

    async def _recognise(self, context: TurnContext, _state: TurnState) -> bool:
        activity = context.activity
        if activity.type == ActivityTypes.message and not _is_own(activity):
            context.turn_state[_KEY] = await self.dialogue.atake(
                activity.text,
                _conversation(activity),
                chosen=_chosen(activity),
                language=activity.locale,
                turn=context.turn_state,
            )
        return True

    def _answers(self, context: TurnContext) -> bool:
        turn = self.turn(context)
        return turn is not None and (turn.reply is not None or self.handler(turn) is not None)

    async def _answer(self, context: TurnContext, state: TurnState) -> None:
        turn = self.turn(context)
        if turn is None:
            return
        handler = self.handler(turn)
        if handler is not None:
            await handler(context, state, turn)
        else:
            await context.send_activity(_reply(turn, context.activity))


def _is_own(activity: Activity) -> bool:
    return activity.recipient is not None and activity.recipient.id == activity.from_property.id


def _conversation(activity: Activity) -> str:
    return f"{activity.channel_id}/{activity.conversation.id}/{activity.from_property.id}"


def _chosen(activity: Activity) -> str | None:
    """What the button says that was pressed, if the message comes from one of ours."""
    choice = activity.value.get(_CHOICE) if isinstance(activity.value, dict) else None
    return choice if Dialogue.is_choice(choice) else None


def _reply(turn: Turn, to: Activity) -> Activity:
    """A question has buttons where the channel has them; where it does not send back what they say, the title is."""
    if not turn.choices or not Channels.supports_card_actions(to.channel_id, len(turn.choices)):
        return MessageFactory.text(turn.text or "")
    buttons = [
        CardAction(
            type=ActionTypes.message_back,
            title=choice.title,
            text=choice.title,
            display_text=choice.title,
            value={_CHOICE: choice.id},
        )
        for choice in turn.choices
    ]
    return MessageFactory.attachment(HeroCard(buttons=buttons).to_attachment(), text=turn.reply)
