"""A component for the pipeline of a Rasa bot. To use intentmatch over HTTP instead, run `intentmatch serve`.

    pipeline:
    - name: intentmatch.integrations.rasa.IntentMatchClassifier
      intents: intents/

The component finds intents and entities, and decides itself which messages are out of scope: do not add a
FallbackClassifier. Rasa's forms ask for slots and its TwoStageFallback asks about ambiguous messages, so the component
uses a `Matcher` and no `Dialogue`.
"""

from __future__ import annotations

from contextlib import suppress
from typing import Any

from intentmatch import Candidate, Entity, IntentMatchError, Matcher, MatchResult, MissingExtraError

try:
    from rasa.engine.graph import ExecutionContext, GraphComponent
    from rasa.engine.recipes.default_recipe import DefaultV1Recipe
    from rasa.engine.storage.resource import Resource
    from rasa.engine.storage.storage import ModelStorage
    from rasa.nlu.classifiers.classifier import IntentClassifier
    from rasa.nlu.extractors.extractor import EntityExtractorMixin
    from rasa.shared.constants import DEFAULT_NLU_FALLBACK_INTENT_NAME
    from rasa.shared.nlu.constants import ENTITIES, INTENT, INTENT_RANKING_KEY, METADATA, TEXT
    from rasa.shared.nlu.training_data.message import Message
except ModuleNotFoundError as error:
    raise MissingExtraError("The component for Rasa", "rasa") from error

_Part = DefaultV1Recipe.ComponentType


@DefaultV1Recipe.register([_Part.INTENT_CLASSIFIER, _Part.ENTITY_EXTRACTOR], is_trainable=False)
class IntentMatchClassifier(GraphComponent, IntentClassifier, EntityExtractorMixin):  # type: ignore[misc]
    """Classifies by the YAML at `intents`, which is read when the bot starts and is not part of the trained model.

    `language_key` names the key of a message's metadata in which a channel may report the user's language, as a
    BCP-47 code.
    """

    def __init__(self, matcher: Matcher, language_key: str) -> None:
        self._matcher = matcher
        self._language_key = language_key

    @staticmethod
    def get_default_config() -> dict[str, Any]:
        """Return the defaults for config.yml."""
        return {"intents": "intents", "language_key": "language"}

    @classmethod
    def create(
        cls,
        config: dict[str, Any],
        model_storage: ModelStorage,
        resource: Resource,
        execution_context: ExecutionContext,
    ) -> IntentMatchClassifier:
        """Create the component from the options in config.yml. Raises `RegistryError` if the YAML is invalid."""
        return cls(Matcher.load(config["intents"]), config["language_key"])

    async def process(self, messages: list[Message]) -> list[Message]:
        """Set the intent, the ranking and the entities of messages."""
        for message in messages:
            result = await self._match(message)
            intent, ranking = _intent_and_ranking(result)
            message.set(INTENT, intent, add_to_output=True)
            message.set(INTENT_RANKING_KEY, ranking, add_to_output=True)
            found = self.add_extractor_name([_entity(entity) for entity in result.entities])
            # Other extractors of the pipeline may have found some before.
            message.set(ENTITIES, [*message.get(ENTITIES, []), *found], add_to_output=True)
        return messages

    async def _match(self, message: Message) -> MatchResult:
        text = message.get(TEXT) or ""
        metadata = message.get(METADATA)
        language = metadata.get(self._language_key) if isinstance(metadata, dict) else None
        if isinstance(language, str):
            # Clients may send any text here; an invalid language code must not fail the message.
            with suppress(IntentMatchError):
                return await self._matcher.amatch(text, language=language)
        return await self._matcher.amatch(text)


def _intent_and_ranking(result: MatchResult) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """Return the intent and the ranking; ambiguous and out of scope look as from Rasa's FallbackClassifier."""
    ranking = [{"name": candidate.intent, "confidence": _confidence(candidate)} for candidate in result.candidates]
    if result.verdict == "matched":
        return ranking[0], ranking
    if not result.message.strip():
        return {"name": None, "confidence": 0.0}, ranking
    # Without a threshold nothing was scored, so the fallback is certain.
    threshold = 1.0 if result.trace.threshold is None else result.trace.threshold
    fallback = {"name": DEFAULT_NLU_FALLBACK_INTENT_NAME, "confidence": min(1.0, max(0.0, threshold))}
    return fallback, [fallback, *ranking]


def _confidence(candidate: Candidate) -> float:
    score = candidate.score if candidate.confidence is None else candidate.confidence
    return min(1.0, max(0.0, float(score)))


def _entity(entity: Entity) -> dict[str, Any]:
    return {
        "entity": entity.slot,
        "value": entity.value,
        "start": entity.start,
        "end": entity.end,
        "confidence_entity": 1.0,  # slots have no confidence of their own
    }
