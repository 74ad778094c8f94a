"""intentmatch as a component of a Rasa bot's own pipeline; over HTTP, `intentmatch serve` does the same.

    pipeline:
    - name: intentmatch.integrations.rasa.IntentMatchClassifier
      intents: intents/

It finds intents and entities, and decides itself what is not understood: no FallbackClassifier comes after it. Forms
ask for slots and TwoStageFallback for what is in doubt, as in any Rasa bot, so no `Dialogue` is needed here.
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
    """Classifies by the YAML at `intents`, which is read when the bot starts and is no part of the trained model.

    Where a channel or client tells the user's language, as a BCP-47 code in the metadata of a message, `language_key`
    is the key it has there.
    """

    def __init__(self, matcher: Matcher, language_key: str) -> None:
        self._matcher = matcher
        self._language_key = language_key

    @staticmethod
    def get_default_config() -> dict[str, Any]:
        """What config.yml need not say."""
        return {"intents": "intents", "language_key": "language"}

    @classmethod
    def create(
        cls,
        config: dict[str, Any],
        model_storage: ModelStorage,
        resource: Resource,
        execution_context: ExecutionContext,
    ) -> IntentMatchClassifier:
        """Called by Rasa with what config.yml says. Raises `RegistryError` where the YAML is wrong."""
        return cls(Matcher.load(config["intents"]), config["language_key"])

    async def process(self, messages: list[Message]) -> list[Message]:
        """Set intent, ranking and entities of messages."""
        for message in messages:
            result = await self._match(message)
            intent, ranking = _decided(result)
            message.set(INTENT, intent, add_to_output=True)
            message.set(INTENT_RANKING_KEY, ranking, add_to_output=True)
            found = self.add_extractor_name([_entity(entity) for entity in result.entities])
            message.set(ENTITIES, [*message.get(ENTITIES, []), *found], add_to_output=True)
        return messages

    async def _match(self, message: Message) -> MatchResult:
        text = message.get(TEXT) or ""
        metadata = message.get(METADATA)
        language = metadata.get(self._language_key) if isinstance(metadata, dict) else None
        if isinstance(language, str):
            # Clients write there what they like; what is no language code is no reason not to understand the message.
            with suppress(IntentMatchError):
                return await self._matcher.amatch(text, language=language)
        return await self._matcher.amatch(text)


def _decided(result: MatchResult) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """The intent and the ranking; what was not decided for one intent is as Rasa's FallbackClassifier has it."""
    ranking = [{"name": candidate.intent, "confidence": _confidence(candidate)} for candidate in result.candidates]
    if result.verdict == "matched":
        return ranking[0], ranking
    if not result.message.strip():
        return {"name": None, "confidence": 0.0}, ranking
    # Where nothing was even scored there is no cut, and nothing could be surer.
    cut = 1.0 if result.trace.threshold is None else result.trace.threshold
    fallback = {"name": DEFAULT_NLU_FALLBACK_INTENT_NAME, "confidence": min(1.0, max(0.0, cut))}
    return fallback, [fallback, *ranking]


def _confidence(candidate: Candidate) -> float:
    sure = candidate.score if candidate.confidence is None else candidate.confidence
    return min(1.0, max(0.0, float(sure)))


def _entity(entity: Entity) -> dict[str, Any]:
    return {
        "entity": entity.slot,
        "value": entity.value,
        "start": entity.start,
        "end": entity.end,
        "confidence_entity": 1.0,  # slots are found or not
    }
