"""intentmatch as a Bot Framework `Recognizer`, in the place of LUIS: `IntentRecognizer(Dialogue(matcher))`.

For bots that there are; Microsoft's successor of Bot Framework has its adapter in `intentmatch.integrations.agents365`.
"""

from __future__ import annotations

from typing import Any

from intentmatch import Candidate, Dialogue, Entity, MissingExtraError, Turn
from intentmatch.integrations.activities import button, chosen, conversation, is_own

try:
    from botbuilder.core import CardFactory, IntentScore, MessageFactory, Recognizer, RecognizerResult, TurnContext
    from botbuilder.dialogs.choices import Channel
    from botbuilder.schema import ActionTypes, Activity, ActivityTypes, CardAction, HeroCard
except ModuleNotFoundError as error:
    raise MissingExtraError("The adapter for Bot Framework", "botbuilder") from error

NONE = "None"
"""The intent of a message that is not understood, or not yet: while the user is asked something."""


class IntentRecognizer(Recognizer):  # type: ignore[misc]  # its package has no types
    """Recognises what an activity asks for, once a turn.

    The top intent of a result is what the user wants, with all that it needs; otherwise it is `NONE`. In `properties`,
    `turn` is the `Turn`, and `reply` is the activity to send where there is something to say: the question that comes
    before an intent, or the intent's response from the YAML.

        result = await recognizer.recognize(context)
        if "reply" in result.properties:
            await context.send_activity(result.properties["reply"])
    """

    def __init__(self, dialogue: Dialogue) -> None:
        self.dialogue = dialogue

    async def recognize(self, turn_context: TurnContext) -> RecognizerResult:
        """What the message of a turn asks for; `NONE` for what is no message, or the bot's own."""
        activity = turn_context.activity
        turn = Turn("")
        if activity.type == ActivityTypes.message and not is_own(activity):
            turn = await self.dialogue.atake(
                _said(activity),
                conversation(activity),
                chosen=chosen(activity),
                language=activity.locale,
                turn=turn_context.turn_state,
            )
        reply = {} if turn.reply is None else {"reply": _reply(turn, activity)}
        return RecognizerResult(
            text=turn.message, intents=_intents(turn), entities=_entities(turn), properties={"turn": turn, **reply}
        )


def _said(activity: Activity) -> str | None:
    """The text without the mention of the bot that groups have in it."""
    text: str | None = activity.text
    bot = activity.recipient.id if activity.recipient is not None else None
    for entity in activity.entities or ():
        match entity.additional_properties:
            case {"mentioned": {"id": str(who)}, "text": str(mention)} if text and who == bot:
                text = text.replace(mention, "")
    return text


def _intents(turn: Turn) -> dict[str, IntentScore]:
    """The intent with the highest score is the turn's."""
    if turn.intent is not None and turn.answers:
        return {turn.intent: IntentScore(score=1.0)}  # the user said so, when asked
    ranked = {candidate.intent: _score(candidate) for candidate in turn.result.candidates} if turn.result else {}
    top = turn.intent or NONE
    most = 1.0 if turn.intent is None else ranked[top]
    others = {name: IntentScore(score=min(score, most)) for name, score in ranked.items() if name != top}
    return {top: IntentScore(score=most), **others}


def _score(candidate: Candidate) -> float:
    sure = candidate.score if candidate.confidence is None else candidate.confidence
    return min(1.0, max(0.0, float(sure)))


def _entities(turn: Turn) -> dict[str, Any]:
    """Values by slot, and beside them, as LUIS has it, where in a message of the user they stand."""
    values: dict[str, Any] = {}
    instances: dict[str, Any] = {}
    for entity in turn.entities:
        values.setdefault(entity.slot, []).append(entity.value)
        instances.setdefault(entity.slot, []).append(_instance(entity))
    return {"$instance": instances, **values}


def _instance(entity: Entity) -> dict[str, Any]:
    return {"type": entity.slot, "text": entity.text, "startIndex": entity.start, "endIndex": entity.end}


def _reply(turn: Turn, to: Activity) -> Activity:
    """A question has buttons where the channel has them."""
    if not turn.choices or not Channel.supports_card_actions(to.channel_id, len(turn.choices)):
        return MessageFactory.text(turn.text)
    buttons = [CardAction(type=ActionTypes.message_back, **button(choice)) for choice in turn.choices]
    return MessageFactory.attachment(CardFactory.hero_card(HeroCard(buttons=buttons)), text=turn.reply)
