"""The pipeline plugin, under the intent service of OpenVoiceOS."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("ovos_core", reason="needs ovos-core")
pytest.importorskip("ovos_plugin_manager", reason="needs the extra `ovos`")

from ovos_bus_client.message import Message
from ovos_bus_client.session import Session
from ovos_core.intent_services.service import IntentService
from ovos_plugin_manager.pipeline import OVOSPipelineFactory
from ovos_utils.fakebus import FakeBus

from intentmatch import IntentMatchError
from intentmatch.integrations.ovos import NAME, IntentPipeline

EXAMPLE = Path(__file__).parents[2] / "examples" / "ovos"
LEVELS = ("high", "medium", "low")
INTENTS = """\
settings: {threshold: 0.3, margin: 0.4}
intents:
  order_status:
    title: {en: Where is my order?, de: Wo ist meine Bestellung?}
    response: {en: On its way., de: Unterwegs.}
    utterances: {en: [where is my order, track my order], de: [wo ist meine Bestellung]}
  cancel_order:
    title: {en: Cancel an order, de: Bestellung stornieren}
    metadata: {skill_id: shop.skill}
    utterances: {en: [cancel my order, stop my order], de: [meine Bestellung stornieren]}
  book:
    response: {en: "A table in {city}."}
    slots: {city: {values: [Rome, Munich], required: true, ask: {en: In which city?}}}
    utterances: {en: [book a table, reserve a table for tonight]}
  greet: {utterances: {en: [hello there]}}
"""


class Device:
    """The intent service with our plugin in it, and all that was said on its bus."""

    def __init__(self, plugin: IntentPipeline, bus: FakeBus) -> None:
        self.plugin = plugin
        self.bus = bus
        self.heard: list[Message] = []
        bus.on("message", lambda text: self.heard.append(Message.deserialize(text)))
        self.service = IntentService(bus, preload_pipelines=False)
        self.service.pipeline_plugins = {NAME: plugin}

    def hear(self, *utterances: str, session: str = "anna", lang: str = "en-US", levels: tuple[str, ...] = LEVELS):
        """What is said on the bus about an utterance."""
        self.heard.clear()
        pipeline = [f"{NAME}-{level}" for level in levels]
        context = {"session": Session(session, pipeline=pipeline).serialize()}
        self.bus.emit(Message("recognizer_loop:utterance", {"utterances": [*utterances], "lang": lang}, context))
        return {message.msg_type: message for message in self.heard}

    def said(self, *utterances: str, **more: str) -> str | None:
        """What is spoken."""
        speak = self.hear(*utterances, **more).get("speak")
        return speak and speak.data["utterance"]


@pytest.fixture
def device(tmp_path):
    file = tmp_path / "bot.yaml"
    file.write_text(INTENTS, encoding="utf-8")
    bus = FakeBus()
    device = Device(IntentPipeline(bus, {"intents": str(file), "settings": {"cache": "off"}}), bus)
    yield device
    device.service.shutdown()


def test_the_plugin_is_found_by_its_name():
    """By the entry point that the package has."""
    assert OVOSPipelineFactory.get_installed_pipeline_ids().count(NAME) == 1
    assert {f"{NAME}-{level}" for level in LEVELS} <= {*OVOSPipelineFactory.get_installed_pipeline_matcher_ids()}


def test_a_response_is_spoken(device):
    """The author's, once, in the language of the message; then it is over."""
    heard = device.hear("where is my order")

    assert heard["speak"].data == {"utterance": "On its way.", "expect_response": False, "lang": "en"}
    assert heard["intentmatch:order_status"].data["intent"] == "order_status"
    assert "ovos.utterance.handled" in heard
    assert "complete_intent_failure" not in heard
    assert [message.msg_type for message in device.heard].count("speak") == 1
    assert device.said("wo ist meine Bestellung") == "Unterwegs."


def test_a_skill_is_started(device):
    """The one that the intent names; it speaks for itself."""
    started = []
    device.bus.on("shop.skill:cancel_order", started.append)

    heard = device.hear("cancel my order")

    assert [(message.data["intent"], message.context["skill_id"]) for message in started] == [
        ("cancel_order", "shop.skill")
    ]
    assert "speak" not in heard
    assert "shop.skill.activate" in heard


def test_an_intent_without_response_is_told_and_nothing_said(device):
    """Whoever listens knows what to do."""
    heard = device.hear("hello there")

    assert "intentmatch:greet" in heard
    assert "speak" not in heard


def test_what_is_not_understood_goes_on(device):
    """To the stages behind, here to none."""
    heard = device.hear("quantum chromodynamics")

    assert "complete_intent_failure" in heard
    assert "speak" not in heard


@pytest.mark.parametrize("answer", ["2", "Where is my order", "Cancel an order", "wo ist meine bestellung?"])
def test_a_doubt_is_asked_about_and_the_answer_taken(device, answer):
    """With the microphone open for it; by number and in words."""
    asked = device.hear("my order please")["speak"].data
    answered = device.hear(answer)

    assert asked["utterance"].startswith("Did you mean:\n1. ")
    assert asked["expect_response"] is True
    assert {"intentmatch:order_status", "shop.skill:cancel_order"} & answered.keys()


def test_a_slot_is_asked_for_and_filled(device):
    """The response comes with its value, which the skill gets too."""
    assert device.said("book a table") == "In which city?"

    answered = device.hear("rome", levels=("high",))

    assert answered["speak"].data["utterance"] == "A table in Rome."
    assert answered["intentmatch:book"].data["slots"] == {"city": "Rome"}


def test_questions_come_last_and_answers_first(device):
    """Other plugins may know at once what we would ask about; our own question is for us."""
    assert "complete_intent_failure" in device.hear("my order please", levels=("high", "medium"))
    device.hear("my order please")
    assert "complete_intent_failure" not in device.hear("1", levels=("high",))
    device.hear("book a table")
    assert "complete_intent_failure" in device.hear("quantum chromodynamics", levels=("high", "medium"))


def test_a_question_that_was_never_asked_waits_for_nothing(device):
    """The stage that asks was not reached."""
    device.hear("my order please", levels=("high",))

    assert "complete_intent_failure" in device.hear("1")


def test_stages_are_as_sure_as_they_are_told(device):
    """What is to the letter is sure; a part of it is for a later stage."""
    assert device.said("track my order", levels=("high",)) == "On its way."
    assert device.said("book", levels=("high",)) is None
    assert device.said("book") == "In which city?"


def test_sessions_do_not_know_of_each_other(device):
    """What one device asked, another does not answer."""
    device.hear("book a table", session="anna")

    assert device.said("Rome", session="bert") is None
    assert device.said("Rome", session="anna") == "A table in Rome."


def test_an_utterance_is_matched_once_for_all_stages(device, monkeypatch):
    """However many of them are asked, and in how many languages."""
    matcher = device.plugin.dialogue.matcher
    asked = []
    match = matcher.match
    monkeypatch.setattr(matcher, "match", lambda text, **more: asked.append(text) or match(text, **more))
    device.service.config = {"multilingual_matching": True}

    device.hear("quantum chromodynamics")

    assert asked == ["quantum chromodynamics"]


@pytest.mark.parametrize("utterances", [[], [""], ["  "]])
def test_silence_is_no_error(device, utterances):
    """It is for whoever comes next."""
    assert "complete_intent_failure" in device.hear(*utterances)


def test_of_several_hypotheses_the_first_that_says_something_counts(device):
    """As they come from speech recognition, the likeliest first."""
    assert device.said("", "where is my order", "book a table") == "On its way."


def test_a_language_is_a_hint(device):
    """Where the message tells none: for what we say ourselves."""
    device.hear("book a table")
    device.hear("quantum chromodynamics", lang="de-DE")

    assert device.said("meine Bestellung", lang="de-DE").startswith("Meinten Sie:")


def test_what_is_wrong_with_the_configuration_is_told(tmp_path):
    """The service logs it, and goes on without us."""
    with pytest.raises(IntentMatchError, match=r"intents\.intentmatch-pipeline-plugin\.intents"):
        IntentPipeline(FakeBus(), {})
    with pytest.raises(IntentMatchError, match="not-found"):
        IntentPipeline(FakeBus(), {"intents": str(tmp_path / "nowhere")})


def test_the_plugin_hears_nothing_after_it_was_stopped(device):
    """Handlers are gone from the bus."""
    device.plugin.shutdown()

    assert device.said("where is my order") is None


def test_the_example_holds_a_conversation(tmp_path):
    """As its README says, with its own files."""
    folder = tmp_path / "mycroft"
    folder.mkdir()
    told = (EXAMPLE / "mycroft.conf").read_text(encoding="utf-8")
    told = told.replace("~/.config/mycroft/bot.yaml", str(EXAMPLE / "bot.yaml"))
    (folder / "mycroft.conf").write_text(told, encoding="utf-8")

    done = subprocess.run(
        [sys.executable, EXAMPLE / "bot.py"],
        input="lights on\nbedroom\nthe lamp\n2\nspiel Musik\nquantum chromodynamics\n",
        capture_output=True,
        text=True,
        check=True,
        timeout=120,
        env={**os.environ, "XDG_CONFIG_HOME": str(tmp_path)},
    )

    for said in ("In which room?", "Light in the bedroom.", "Did you mean:", "(a skill plays music)", "knows that)"):
        assert f"bot> {said}" in done.stdout.replace("(nothing in the pipeline ", ""), done.stdout
