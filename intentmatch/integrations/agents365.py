"""Intents as routes of a Microsoft 365 agent: `IntentRouter(app, Dialogue(matcher))`, then `@router.intent("greet")`.

A message is matched before the turn's routes are tried, because route selectors are not async. The agent's own routes
(`@app.message("/help")`) go first. Messages out of scope, without a `@router.fallback`, go on to the routes of the
last rank, such as `@app.message()`.
"""

from __future__ import annotations

from typing import Any

from intentmatch import Dialogue, MissingExtraError, Turn
from intentmatch.integrations.activities import button, chosen, conversation, delivery, is_own
from intentmatch.integrations.routes import Routes

try:
    from microsoft_agents.activity import ActionTypes, Activity, ActivityTypes, CardAction, Channels, HeroCard
    from microsoft_agents.hosting.core import AgentApplication, MessageFactory, RouteRank, TurnContext, TurnState
except ModuleNotFoundError as error:
    raise MissingExtraError("The adapter for the Microsoft 365 Agents SDK", "agents365") from error

_KEY = "intentmatch.turn"


class IntentRouter(Routes):
    """Route messages of an `AgentApplication` by intent; functions get the context, the state and the `Turn`."""

    def __init__(self, app: AgentApplication[Any], dialogue: Dialogue) -> None:
        super().__init__(dialogue)
        app.before_turn(self._match)
        # After the agent's own routes, and before those that take every message.
        app.add_route(self._has_answer, self._answer, rank=RouteRank.LAST - 1)

    def turn(self, context: TurnContext) -> Turn | None:
        """Return the turn of this activity; None if it is not a message, or comes from the agent itself."""
        turn: Turn | None = context.turn_state.get(_KEY)
        return turn

    async def _match(self, context: TurnContext, _state: TurnState) -> bool:
        activity = context.activity
        if activity.type != ActivityTypes.message or is_own(activity):
            return True
        with self._deliveries.once(delivery(activity)) as is_new:
            if is_new:
                context.turn_state[_KEY] = await self.dialogue.atake(
                    activity.text,
                    conversation(activity),
                    chosen=chosen(activity),
                    language=activity.locale,
                    turn=context.turn_state,
                )
        # Without a further route, not even the agent's own answers it again.
        return is_new

    def _has_answer(self, context: TurnContext) -> bool:
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


def _reply(turn: Turn, to: Activity) -> Activity:
    """Build the reply; a question has buttons if the channel supports so many, otherwise numbers."""
    if not turn.choices or not Channels.supports_card_actions(to.channel_id, len(turn.choices)):
        return MessageFactory.text(turn.text or "")
    buttons = [CardAction(type=ActionTypes.message_back, **button(choice)) for choice in turn.choices]
    return MessageFactory.attachment(HeroCard(buttons=buttons).to_attachment(), text=turn.reply)
