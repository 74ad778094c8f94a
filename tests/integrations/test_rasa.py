"""intentmatch as a component of a Rasa bot: in graphs that Rasa makes of a config.yml, and in a bot that is trained."""

from __future__ import annotations

import asyncio
import os
import shutil
from pathlib import Path
from typing import Any

import pytest

# Before the import: they would ask the network.
os.environ["LITELLM_LOCAL_MODEL_COST_MAP"] = "True"
os.environ["RASA_TELEMETRY_ENABLED"] = "false"

pytest.importorskip("rasa.engine", reason="needs the extra `rasa`")

import rasa.model_training
from chats import EXAMPLES, GatedEncoder
from chats import dialogue as any_dialogue
from rasa.core.agent import Agent
from rasa.core.channels.channel import UserMessage
from rasa.engine.constants import PLACEHOLDER_MESSAGE, PLACEHOLDER_TRACKER
from rasa.engine.graph import ExecutionContext
from rasa.engine.recipes.default_recipe import DefaultV1Recipe
from rasa.engine.runner.dask import DaskGraphRunner
from rasa.engine.storage.local_model_storage import LocalModelStorage
from rasa.shared.nlu.training_data.message import Message

from intentmatch.integrations.rasa import IntentMatchClassifier

COMPONENT = "intentmatch.integrations.rasa.IntentMatchClassifier"

INTENTS = """\
settings: {margin: 0.1}
intents:
  order_status:
    utterances: {en: [where is my order, track my order], de: [wo bleibt meine Bestellung]}
  cancel_order:
    utterances: {en: [cancel my order, I do not want my order any more], de: [Bestellung stornieren]}
  weather:
    slots:
      city: {values: {Paris: , Vienna: {de: [Wien]}}}
      day: {values: [today, tomorrow]}
    utterances: {en: ["will it rain in {city} [{day}]"], de: ["regnet es in {city}"]}
"""


@pytest.fixture
def component() -> IntentMatchClassifier:
    """A component with the bot that the tests of all frameworks share."""
    return IntentMatchClassifier(any_dialogue().matcher, "language")


class Pipeline:
    """What Rasa makes of a `pipeline:`."""

    def __init__(self, folder: Path, pipeline: list[dict[str, Any]]) -> None:
        config = {"recipe": "default.v1", "language": "en", "pipeline": pipeline}
        model = DefaultV1Recipe().graph_config_for_recipe(config, {})
        schema = model.predict_schema.minimal_graph_schema([model.nlu_target])
        self.target = model.nlu_target
        self.runner = DaskGraphRunner.create(schema, LocalModelStorage.create(folder), ExecutionContext(schema))

    def parse(self, text: str | None, metadata: object = None) -> dict[str, Any]:
        """What Rasa knows of a message then."""
        inputs = {PLACEHOLDER_MESSAGE: [UserMessage(text, metadata=metadata)], PLACEHOLDER_TRACKER: None}
        (message,) = asyncio.run(self.runner.run(inputs=inputs, targets=[self.target]))[self.target]
        return message.as_dict(only_output_properties=True)


@pytest.fixture
def pipeline(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Pipeline:
    monkeypatch.setenv("INTENTMATCH_CACHE", "off")
    (tmp_path / "intents").mkdir()
    (tmp_path / "intents" / "bot.yaml").write_text(INTENTS, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    return Pipeline(tmp_path, [{"name": COMPONENT}])


def processed(component: IntentMatchClassifier, **data: Any) -> dict[str, Any]:
    (message,) = asyncio.run(component.process([Message(data)]))
    return message.as_dict(only_output_properties=True)


def test_rasa_finds_the_component_by_its_name(pipeline):
    """The folder `intents` is the one that is read if config.yml names none."""
    parsed = pipeline.parse("where is my order")

    assert parsed["intent"] == {"name": "order_status", "confidence": 1.0}
    assert parsed["intent_ranking"][0] == parsed["intent"]
    assert parsed["entities"] == []


def test_entities_are_rasas(pipeline):
    """With the name of the component, as Rasa's own extractors have it."""
    (entity,) = pipeline.parse("regnet es in Wien")["entities"]

    assert entity == {
        "entity": "city",
        "value": "Vienna",
        "start": 13,
        "end": 17,
        "confidence_entity": 1.0,
        "extractor": "IntentMatchClassifier",
    }


def test_entities_of_other_extractors_stay(component):
    """A pipeline may have several."""
    other = {"entity": "size", "value": "XL"}

    found = processed(component, text="remember my name", entities=[other])["entities"]

    assert found == [other]


@pytest.mark.parametrize("text", ["order", "quantum chromodynamics"])
def test_what_is_in_doubt_or_out_of_scope_is_the_fallback(pipeline, text):
    """As after a FallbackClassifier: first in the ranking, before what came nearest."""
    parsed = pipeline.parse(text)
    names = [candidate["name"] for candidate in parsed["intent_ranking"]]

    assert parsed["intent"]["name"] == "nlu_fallback"
    assert parsed["intent_ranking"][0] == parsed["intent"]
    assert {"order_status", "cancel_order"} <= set(names[1:])
    assert all(0 <= candidate["confidence"] <= 1 for candidate in parsed["intent_ranking"])


@pytest.mark.parametrize("text", ["", " ", None])
def test_no_text_is_no_intent(component, text):
    """A picture, say."""
    parsed = processed(component, text=text)

    assert (parsed["intent"], parsed["intent_ranking"]) == ({"name": None, "confidence": 0.0}, [])


def test_what_rasa_says_itself_stays(pipeline):
    """`/intent` comes from buttons."""
    assert pipeline.parse("/weather")["intent"] == {"name": "weather", "confidence": 1.0}


def test_the_language_of_the_metadata_is_a_hint():
    """For messages that tell none; whatever else clients write there."""
    asked = []

    class Spy:
        matcher = any_dialogue().matcher

        async def amatch(self, text, **given):
            asked.append(given.get("language"))
            return await self.matcher.amatch(text, **given)

    component = IntentMatchClassifier(Spy(), "lang")
    for metadata in (
        {"lang": "de-DE"},
        {"lang": "??"},
        {"lang": ""},
        {"lang": 7},
        {"language": "de"},
        {},
        None,
        "de",
        [],
    ):
        assert processed(component, text="42 7", metadata=metadata)["intent"]["name"] == "number"

    assert asked == ["de-DE", "??", None, "", None, None, None, None, None, None, None]


def test_several_messages_are_processed(component):
    """Each on its own, once."""
    component = IntentMatchClassifier(any_dialogue(encoder := GatedEncoder()).matcher, "language")
    encoder.encoded.clear()

    messages = asyncio.run(component.process([Message({"text": "where might it be"}), Message({"text": "stop it"})]))

    assert len(messages) == 2
    assert encoder.encoded == ["where might it be", "stop it"]


def test_the_loop_goes_on_while_a_message_is_read():
    """A slow model keeps nobody else waiting."""
    component = IntentMatchClassifier(any_dialogue(encoder := GatedEncoder()).matcher, "language")

    async def main() -> list[Message]:
        encoder.closed_for_a_moment()
        return await component.process([Message({"text": "where might my order be"})])

    (message,) = asyncio.run(main())
    assert message.get("intent")["name"] == "order_status"


def test_the_example_is_trained_and_holds_a_conversation(tmp_path, monkeypatch):
    """By Rasa itself: its rules, its form and its TwoStageFallback work with what intentmatch finds."""
    monkeypatch.setenv("INTENTMATCH_CACHE", "off")
    shutil.copytree(EXAMPLES / "rasa", tmp_path / "bot")
    monkeypatch.chdir(tmp_path / "bot")

    async def main() -> dict[str, list[dict[str, Any]]]:
        trained = await rasa.model_training.train("domain.yml", "config.yml", ["data"])
        agent = Agent.load(trained.model)
        said = [
            "hello",
            "my order",
            "/order_status",
            "storniere meine Bestellung",
            "regnet es?",
            "Paris",
            "sing",
            "la la",
        ]
        return {text: await agent.handle_text(text) for text in said}

    replies = asyncio.run(main())

    asked = replies.pop("my order")
    assert [button["payload"] for button in asked[0]["buttons"]] == ["/order_status", "/out_of_scope"]
    replies.pop("sing")
    assert {text: [reply["text"] for reply in said] for text, said in replies.items()} == {
        "hello": ["Hello!"],
        "/order_status": ["Your order is on its way."],
        "storniere meine Bestellung": ["Your order is cancelled."],
        "regnet es?": ["In which city?"],
        "Paris": ["It is sunny in Paris."],
        "la la": ["Sorry, I can help with orders and the weather."],
    }
