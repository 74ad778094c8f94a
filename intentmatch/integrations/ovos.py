"""A pipeline plugin for OpenVoiceOS: it matches utterances, asks about ambiguous ones, and speaks the responses.

Configure it in `mycroft.conf`, below `intents`:

    "intentmatch-pipeline-plugin": {"intents": "~/intents", "high": 0.9, "medium": 0.7}

and name its stages in `intents.pipeline`: `intentmatch-pipeline-plugin-high`, `-medium` and `-low`. An intent with
`metadata: {skill_id: SKILL}` starts that skill with the bus message `SKILL:NAME`. Any other intent is announced as
`intentmatch:NAME`, and its response is spoken.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from intentmatch import Dialogue, IntentMatchError, Matcher, MemoryStore, MissingExtraError, Turn

try:
    from ovos_bus_client.message import Message
    from ovos_bus_client.session import SessionManager
    from ovos_plugin_manager.templates.pipeline import ConfidenceMatcherPipeline, IntentHandlerMatch
except ModuleNotFoundError as error:
    raise MissingExtraError("The pipeline plugin for OpenVoiceOS", "ovos") from error

NAME = "intentmatch-pipeline-plugin"
_OWN = "intentmatch"
_ASK = "intentmatch.ask"
_SECONDS = 300.0


class IntentPipeline(ConfidenceMatcherPipeline):  # type: ignore[misc] # the framework is not installed where types are checked
    """Three pipeline stages over one `Dialogue`: high confidence, medium confidence, and questions to the user."""

    def __init__(self, bus: Any = None, config: dict[str, Any] | None = None) -> None:
        """Load the intents. Raises `IntentMatchError` if the configuration names none, or if they are invalid."""
        super().__init__(bus, config)
        if "intents" not in self.config:
            raise IntentMatchError(f"mycroft.conf: set intents.{NAME}.intents to the file or folder of the intents")
        matcher = Matcher.load(Path(self.config["intents"]).expanduser(), **self.config.get("settings", {}))
        self.dialogue = Dialogue(matcher, patience=_SECONDS)
        self._high, self._medium = self.config.get("high", 0.9), self.config.get("medium", 0.7)
        self._unasked = MemoryStore()
        self._topics = [_ASK, *(f"{_OWN}:{intent.name}" for intent in matcher.registry if not _skill(intent.metadata))]
        for topic in self._topics:
            self.bus.on(topic, self._speak)

    def match_high(self, utterances: list[str], lang: str, message: Message) -> IntentHandlerMatch | None:
        """Match with high confidence, and answers to the plugin's own question."""
        return self._match(utterances, lang, message, self._high)

    def match_medium(self, utterances: list[str], lang: str, message: Message) -> IntentHandlerMatch | None:
        """Match with medium confidence."""
        return self._match(utterances, lang, message, self._medium)

    def match_low(self, utterances: list[str], lang: str, message: Message) -> IntentHandlerMatch | None:
        """Match with any confidence, and ask about ambiguous utterances."""
        return self._match(utterances, lang, message, 0.0)

    def shutdown(self) -> None:
        """Remove the handlers from the bus."""
        for topic in self._topics:
            self.bus.remove(topic, self._speak)

    def _match(self, utterances: list[str], lang: str, message: Message, least: float) -> IntentHandlerMatch | None:
        session = str(SessionManager.get(message).session_id)
        turn = self._take(utterances, lang, message, session)
        if not turn.understood or _confidence(turn) < least:
            return None
        # This stage answers, so that the question of the turn is asked after all.
        self._unasked.pop(session)
        data = {
            "intent": turn.intent,
            "slots": dict(turn.slots),
            "confidence": turn.result and turn.result.confidence,
            "reply": turn.text,
            "language": turn.language,
            "expect_response": turn.asks,
        }
        if turn.intent is None:
            return IntentHandlerMatch(_ASK, data, utterance=turn.message)
        skill = _skill(self.dialogue.matcher.registry[turn.intent].metadata)
        return IntentHandlerMatch(f"{skill or _OWN}:{turn.intent}", data, skill_id=skill, utterance=turn.message)

    def _take(self, utterances: list[str], lang: str, message: Message, session: str) -> Turn:
        """Return the turn of a message; the first stage takes it, and the later stages reuse it."""
        # Kept on the message object, because its data and context are sent over the bus.
        kept: dict[str, Any] = vars(message).setdefault(_OWN, {})
        if not kept and self._unasked.pop(session):
            # Another plugin answered before the stage that asks our question was reached.
            self.dialogue.forget(session)
        text = next((text for text in utterances if text), None)
        turn = self.dialogue.take(text, session, language=lang, turn=kept)
        if turn.asks:
            self._unasked.put(session, _ASK, _SECONDS)
        return turn

    def _speak(self, message: Message) -> None:
        """Speak the reply, if any, and report that the utterance is handled."""
        if message.data.get("reply"):
            spoken = {"utterance": message.data["reply"], "expect_response": message.data["expect_response"]}
            language = message.data["language"] or message.data.get("lang")
            self.bus.emit(message.forward("speak", {**spoken, "lang": language}))
        self.bus.emit(message.forward("ovos.utterance.handled"))


def _skill(metadata: Any) -> str | None:
    skill = metadata.get("skill_id")
    return None if skill is None else str(skill)


def _confidence(turn: Turn) -> float:
    """Return the confidence, from 0 to 1, that the utterance is for this plugin."""
    if turn.answers:
        # Entities of earlier messages do not make this one an answer.
        found = any(turn.message[entity.start : entity.end] == entity.text for entity in turn.entities)
        return 1.0 if turn.intent or turn.declined or found else 0.0
    if turn.result is None or (turn.choices and turn.pending is None):
        return 0.0
    return turn.result.score if turn.result.confidence is None else turn.result.confidence
