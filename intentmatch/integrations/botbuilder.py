"""A Bot Framework `Recognizer` in place of LUIS: `IntentRecognizer(Dialogue(matcher))`.

For existing bots. The adapter for Bot Framework's successor is `intentmatch.integrations.agents365`.
"""

from __future__ import annotations

from typing import Any

from intentmatch import Candidate, Dialogue, Entity, MissingExtraError, Turn
from intentmatch.integrations.activities import button, chosen, conversation, delivery, is_own
from intentmatch.integrations.deliveries import Deliveries

try:
    from botbuilder.core import CardFactory, IntentScore, MessageFactory, Recognizer, RecognizerResult, TurnContext
    from botbuilder.dialogs.choices import Channel
    from botbuilder.schema import ActionTypes, Activity, ActivityTypes, CardAction, HeroCard
except ModuleNotFoundError as error:
    raise MissingExtraError("The adapter for Bot Framework", "botbuilder") from error

NONE = "None"
"""Name of the top intent if a message is out of scope, or while a question to the user is pending."""
_KEY = "intentmatch.recognized"


class IntentRecognizer(Recognizer):  # type: ignore[misc]  # its package has no types
    """Recognizes the intent of an activity, once per turn.

    The top intent of a result is the user's intent, once its required slots are filled; otherwise it is `NONE`. In
    `properties`, `turn` is the `Turn`, and `reply`, if present, is the activity to send: a question to the user, or
    the intent's response from the YAML.

        result = await recognizer.recognize(context)
        if "reply" in result.properties:
            await context.send_activity(result.properties["reply"])
    """

    def __init__(self, dialogue: Dialogue) -> None:
        self.dialogue = dialogue
        self._deliveries = Deliveries()

    async def recognize(self, turn_context: TurnContext) -> RecognizerResult:
        """Recognize the intent of a turn's message.

        It is `NONE`, without text and reply, for other activities, for the bot's own messages and for a message that is
        delivered again.
        """
        activity = turn_context.activity
        turn = Turn("")
        if activity.type == ActivityTypes.message and not is_own(activity):
            # A turn may ask several times, which is no new delivery.
            event = None if _KEY in turn_context.turn_state else delivery(activity)
            with self._deliveries.once(event) as is_new:
                if is_new:
                    turn_context.turn_state[_KEY] = True
                    turn = await self._take(turn_context)
        reply = {} if turn.reply is None else {"reply": _reply(turn, activity)}
        return RecognizerResult(
            text=turn.message, intents=_intents(turn), entities=_entities(turn), properties={"turn": turn, **reply}
        )

    async def _take(self, turn_context: TurnContext) -> Turn:
        activity = turn_context.activity
        return await self.dialogue.atake(
            _text(activity),
            conversation(activity),
            chosen=chosen(activity),
            language=activity.locale,
            turn=turn_context.turn_state,
        )


def _text(activity: Activity) -> str | None:
    """Return the text without mentions of the bot, which messages in groups contain."""
    text: str | None = activity.text
    bot = activity.recipient.id if activity.recipient is not None else None
    for entity in activity.entities or ():
        match entity.additional_properties:
            case {"mentioned": {"id": str(who)}, "text": str(mention)} if text and who == bot:
                text = text.replace(mention, "")
    return text


def _intents(turn: Turn) -> dict[str, IntentScore]:
    """Return scores by intent; the turn's own intent, or `NONE`, has the highest."""
    if turn.intent is not None and turn.answers:
        return {turn.intent: IntentScore(score=1.0)}  # the user chose it when asked
    ranked = {candidate.intent: _score(candidate) for candidate in turn.result.candidates} if turn.result else {}
    top = turn.intent or NONE
    highest = 1.0 if turn.intent is None else ranked[top]
    # Clients take the highest score for the top intent: after a question, another one may have scored more.
    others = {name: IntentScore(score=min(score, highest)) for name, score in ranked.items() if name != top}
    return {top: IntentScore(score=highest), **others}


def _score(candidate: Candidate) -> float:
    score = candidate.score if candidate.confidence is None else candidate.confidence
    return min(1.0, max(0.0, float(score)))


def _entities(turn: Turn) -> dict[str, Any]:
    """Return values by slot and, under `$instance` as in LUIS, their positions in the message."""
    values: dict[str, Any] = {}
    instances: dict[str, Any] = {}
    for entity in turn.entities:
        values.setdefault(entity.slot, []).append(entity.value)
        instances.setdefault(entity.slot, []).append(_instance(entity))
    return {"$instance": instances, **values}


def _instance(entity: Entity) -> dict[str, Any]:
    return {"type": entity.slot, "text": entity.text, "startIndex": entity.start, "endIndex": entity.end}


def _reply(turn: Turn, to: Activity) -> Activity:
    """Build the reply; a question has buttons if the channel supports so many, otherwise numbers."""
    if not turn.choices or not Channel.supports_card_actions(to.channel_id, len(turn.choices)):
        return MessageFactory.text(turn.text)
    buttons = [CardAction(type=ActionTypes.message_back, **button(choice)) for choice in turn.choices]
    return MessageFactory.attachment(CardFactory.hero_card(HeroCard(buttons=buttons)), text=turn.reply)
