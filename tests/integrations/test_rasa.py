"""The component for Rasa, in graphs that Rasa builds from a config.yml, and in a bot that is trained."""

from __future__ import annotations

import asyncio
import os
import shutil
from pathlib import Path
from typing import Any

import pytest

# Set before the import, which would otherwise access the network.
os.environ["LITELLM_LOCAL_MODEL_COST_MAP"] = "True"
os.environ["RASA_TELEMETRY_ENABLED"] = "false"

pytest.importorskip("rasa.engine", reason="needs the extra `rasa`")

import rasa.model_training
from contracts.order_bot import EXAMPLES, GatedEncoder, order_dialogue
from programs import serving
from rasa.core.agent import Agent
from rasa.core.channels.channel import UserMessage
from rasa.core.http_interpreter import RasaNLUHttpInterpreter
from rasa.engine.constants import PLACEHOLDER_MESSAGE, PLACEHOLDER_TRACKER
from rasa.engine.graph import ExecutionContext
from rasa.engine.recipes.default_recipe import DefaultV1Recipe
from rasa.engine.runner.dask import DaskGraphRunner
from rasa.engine.storage.local_model_storage import LocalModelStorage
from rasa.shared.nlu.training_data.message import Message
from rasa.utils.endpoints import EndpointConfig

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
    """A component with the bot of `order_bot`."""
    return IntentMatchClassifier(order_dialogue().matcher, "language")


class Pipeline:
    """The graph that Rasa builds from a `pipeline:`."""

    def __init__(self, folder: Path, pipeline: list[dict[str, Any]]) -> None:
        config = {"recipe": "default.v1", "language": "en", "pipeline": pipeline}
        model = DefaultV1Recipe().graph_config_for_recipe(config, {})
        schema = model.predict_schema.minimal_graph_schema([model.nlu_target])
        self.target = model.nlu_target
        self.runner = DaskGraphRunner.create(schema, LocalModelStorage.create(folder), ExecutionContext(schema))

    def parse(self, text: str | None, metadata: object = None) -> dict[str, Any]:
        """What Rasa knows of a message after the pipeline."""
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


def test_rasa_finds_component_by_name(pipeline):
    """The default folder is `intents`."""
    parsed = pipeline.parse("where is my order")

    assert parsed["intent"] == {"name": "order_status", "confidence": 1.0}
    assert parsed["intent_ranking"][0] == parsed["intent"]
    assert parsed["entities"] == []


def test_entities_have_the_form_of_rasa(pipeline):
    """With the name of the component as extractor."""
    (entity,) = pipeline.parse("regnet es in Wien")["entities"]

    assert entity == {
        "entity": "city",
        "value": "Vienna",
        "start": 13,
        "end": 17,
        "confidence_entity": 1.0,
        "extractor": "IntentMatchClassifier",
    }


def test_entities_of_other_extractors_are_kept(component):
    other = {"entity": "size", "value": "XL"}

    found = processed(component, text="remember my name", entities=[other])["entities"]

    assert found == [other]


@pytest.mark.parametrize("text", ["order", "quantum chromodynamics"])
def test_ambiguous_and_out_of_scope_become_fallback_intent(pipeline, text):
    """First in the ranking, as after a FallbackClassifier; the nearest intents follow."""
    parsed = pipeline.parse(text)
    names = [candidate["name"] for candidate in parsed["intent_ranking"]]

    assert parsed["intent"]["name"] == "nlu_fallback"
    assert parsed["intent_ranking"][0] == parsed["intent"]
    assert {"order_status", "cancel_order"} <= set(names[1:])
    assert all(0 <= candidate["confidence"] <= 1 for candidate in parsed["intent_ranking"])


@pytest.mark.parametrize("text", ["", " ", None])
def test_message_without_text_has_no_intent(component, text):
    """Such as a picture."""
    parsed = processed(component, text=text)

    assert (parsed["intent"], parsed["intent_ranking"]) == ({"name": None, "confidence": 0.0}, [])


def test_slash_intent_is_left_to_rasa(pipeline):
    """Buttons send `/intent`."""
    assert pipeline.parse("/weather")["intent"] == {"name": "weather", "confidence": 1.0}


def test_language_in_metadata_is_a_hint():
    """Metadata may hold anything; invalid codes are ignored."""
    asked = []

    class Spy:
        matcher = order_dialogue().matcher

        async def amatch(self, text, **options):
            asked.append(options.get("language"))
            return await self.matcher.amatch(text, **options)

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


def test_messages_are_processed_one_by_one(component):
    component = IntentMatchClassifier(order_dialogue(encoder := GatedEncoder()).matcher, "language")
    encoder.encoded.clear()

    messages = asyncio.run(component.process([Message({"text": "where might it be"}), Message({"text": "stop it"})]))

    assert len(messages) == 2
    assert encoder.encoded == ["where might it be", "stop it"]


def test_event_loop_runs_while_message_is_encoded():
    component = IntentMatchClassifier(order_dialogue(encoder := GatedEncoder()).matcher, "language")

    work = component.process([Message({"text": "where might my order be"})])

    (message,) = asyncio.run(encoder.closed_until_loop_runs(work))
    assert message.get("intent")["name"] == "order_status"


def test_example_is_trained_and_holds_its_conversation(tmp_path, monkeypatch):
    """Rasa's own rules, form and TwoStageFallback work with the component's results."""
    monkeypatch.setenv("INTENTMATCH_CACHE", "off")
    shutil.copytree(EXAMPLES / "rasa", tmp_path / "bot")
    monkeypatch.chdir(tmp_path / "bot")

    async def main() -> dict[str, list[dict[str, Any]]]:
        trained = await rasa.model_training.train("domain.yml", "config.yml", ["data"])
        agent = Agent.load(trained.model)
        messages = [
            "hello",
            "my order",
            "/order_status",
            "storniere meine Bestellung",
            "regnet es?",
            "Paris",
            "sing",
            "la la",
        ]
        return {text: await agent.handle_text(text) for text in messages}

    replies = asyncio.run(main())

    asked = replies.pop("my order")
    assert [button["payload"] for button in asked[0]["buttons"]] == ["/order_status", "/out_of_scope"]
    replies.pop("sing")
    assert {text: [reply["text"] for reply in answers] for text, answers in replies.items()} == {
        "hello": ["Hello!"],
        "/order_status": ["Your order is on its way."],
        "storniere meine Bestellung": ["Your order is cancelled."],
        "regnet es?": ["In which city?"],
        "Paris": ["It is sunny in Paris."],
        "la la": ["Sorry, I can help with orders and the weather."],
    }


BUTTONS = {
    "domain.yml": [
        ("intents: [greet,", "intents: [affirm, greet,"),
        (
            'utter_cancel_order: [{text: "Your order is cancelled."}]',
            'utter_cancel_order: [{text: "Your order is cancelled.", buttons: [{title: OK, payload: /affirm}]}]\n'
            '  utter_affirm: [{text: "You are welcome."}]',
        ),
    ],
    "data/rules.yml": [("rules:\n", "rules:\n- rule: ok\n  steps: [{intent: affirm}, {action: utter_affirm}]\n")],
}
"""What the bot of the example gets: a button with the payload of an intent without utterances."""


def test_payloads_and_fallback_go_through_rasas_http_interpreter(tmp_path, monkeypatch):
    """`nlu:` of endpoints.yml: Rasa sends every text to the server, payloads of buttons and the fallback included."""
    monkeypatch.setenv("INTENTMATCH_CACHE", "off")
    monkeypatch.setenv("INTENTMATCH_KEYS", "a-key-of-the-test")
    shutil.copytree(EXAMPLES / "rasa", tmp_path / "bot")
    monkeypatch.chdir(tmp_path / "bot")
    for name, changes in BUTTONS.items():
        text = Path(name).read_text(encoding="utf-8")
        for old, new in changes:
            assert old in text
            text = text.replace(old, new)
        Path(name).write_text(text, encoding="utf-8")

    async def main(url: str) -> tuple[list[list[dict[str, Any]]], dict[str, Any]]:
        trained = await rasa.model_training.train("domain.yml", "config.yml", ["data"])
        interpreter = RasaNLUHttpInterpreter(EndpointConfig(url, token="a-key-of-the-test"))
        try:
            agent = Agent.load(trained.model, http_interpreter=interpreter)
            texts = [
                "storniere meine Bestellung",
                "/affirm",
                "my order",
                "/order_status",
                "sing a song",
                "/out_of_scope",
                "la la",
                "/out_of_scope",
                '/weather{"city": "Paris"}',
            ]
            said = [await agent.handle_text(text) for text in texts]
            return said, await interpreter.parse(UserMessage('/weather{"city": "Paris"}'))
        finally:
            await interpreter.session.close()

    with serving(EXAMPLES / "rasa" / "bot.yaml", "--protocol", "rasa") as url:
        said, parsed = asyncio.run(main(url))

    cancelled, affirmed, asked, status, _, rephrase, again, unknown, weather = said
    assert cancelled[0]["buttons"] == [{"title": "OK", "payload": "/affirm"}]
    assert [reply["text"] for reply in affirmed] == ["You are welcome."]
    assert [button["payload"] for button in asked[0]["buttons"]] == ["/order_status", "/out_of_scope"]
    assert [reply["text"] for reply in status] == ["Your order is on its way."]
    assert [reply["text"] for reply in rephrase] == ["Could you say it in other words?"]
    assert again[0]["buttons"][1]["payload"] == "/out_of_scope"
    assert [reply["text"] for reply in unknown] == ["Sorry, I can help with orders and the weather."]
    assert [reply["text"] for reply in weather] == ["It is sunny in Paris."]
    assert parsed["intent"] == {"name": "weather", "confidence": 1.0}
    assert [(one["entity"], one["value"]) for one in parsed["entities"]] == [("city", "Paris")]
