"""The pipeline plugin, in the intent service of OpenVoiceOS."""

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
from intentmatch.matching.snapshot import Snapshot

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
    """The intent service with the plugin, and all messages on its bus."""

    def __init__(self, plugin: IntentPipeline, bus: FakeBus) -> None:
        self.plugin = plugin
        self.bus = bus
        self.messages: list[Message] = []
        bus.on("message", lambda text: self.messages.append(Message.deserialize(text)))
        self.service = IntentService(bus, preload_pipelines=False)
        self.service.pipeline_plugins = {NAME: plugin}

    def send(self, *utterances: str, session: str = "anna", lang: str = "en-US", levels: tuple[str, ...] = LEVELS):
        """Emit an utterance; return the bus messages that follow, by type."""
        self.messages.clear()
        pipeline = [f"{NAME}-{level}" for level in levels]
        context = {"session": Session(session, pipeline=pipeline).serialize()}
        self.bus.emit(Message("recognizer_loop:utterance", {"utterances": [*utterances], "lang": lang}, context))
        return {message.msg_type: message for message in self.messages}

    def reply_to(self, *utterances: str, **more: str) -> str | None:
        """The text that is spoken, if any."""
        speak = self.send(*utterances, **more).get("speak")
        return speak and speak.data["utterance"]


@pytest.fixture
def device(tmp_path):
    file = tmp_path / "bot.yaml"
    file.write_text(INTENTS, encoding="utf-8")
    bus = FakeBus()
    device = Device(IntentPipeline(bus, {"intents": str(file), "settings": {"cache": "off"}}), bus)
    yield device
    device.service.shutdown()


def test_plugin_is_found_by_its_entry_point():
    assert OVOSPipelineFactory.get_installed_pipeline_ids().count(NAME) == 1
    assert {f"{NAME}-{level}" for level in LEVELS} <= {*OVOSPipelineFactory.get_installed_pipeline_matcher_ids()}


def test_response_is_spoken_once(device):
    """In the language of the message; then the utterance is handled."""
    messages = device.send("where is my order")

    assert messages["speak"].data == {"utterance": "On its way.", "expect_response": False, "lang": "en"}
    assert messages["intentmatch:order_status"].data["intent"] == "order_status"
    assert "ovos.utterance.handled" in messages
    assert "complete_intent_failure" not in messages
    assert [message.msg_type for message in device.messages].count("speak") == 1
    assert device.reply_to("wo ist meine Bestellung") == "Unterwegs."


def test_intent_starts_its_skill(device):
    """The skill speaks for itself."""
    started = []
    device.bus.on("shop.skill:cancel_order", started.append)

    messages = device.send("cancel my order")

    assert [(message.data["intent"], message.context["skill_id"]) for message in started] == [
        ("cancel_order", "shop.skill")
    ]
    assert "speak" not in messages
    assert "shop.skill.activate" in messages


def test_intent_without_response_is_announced_and_silent(device):
    messages = device.send("hello there")

    assert "intentmatch:greet" in messages
    assert "speak" not in messages


def test_utterance_out_of_scope_goes_to_next_stage(device):
    """There is none here."""
    messages = device.send("quantum chromodynamics")

    assert "complete_intent_failure" in messages
    assert "speak" not in messages


@pytest.mark.parametrize("answer", ["2", "Where is my order", "Cancel an order", "wo ist meine bestellung?"])
def test_ambiguous_utterance_is_asked_about(device, answer):
    """The microphone opens for the answer, by number or in words."""
    asked = device.send("my order please")["speak"].data
    answered = device.send(answer)

    assert asked["utterance"].startswith("Did you mean:\n1. ")
    assert asked["expect_response"] is True
    assert {"intentmatch:order_status", "shop.skill:cancel_order"} & answered.keys()


def test_missing_slot_is_asked_for(device):
    """The value is in the response and in the skill's data."""
    assert device.reply_to("book a table") == "In which city?"

    answered = device.send("rome", levels=("high",))

    assert answered["speak"].data["utterance"] == "A table in Rome."
    assert answered["intentmatch:book"].data["slots"] == {"city": "Rome"}


def test_questions_wait_for_last_stage_and_answers_match_in_first(device):
    """Other plugins may know the answer at once; answers to our question are for us."""
    assert "complete_intent_failure" in device.send("my order please", levels=("high", "medium"))
    device.send("my order please")
    assert "complete_intent_failure" not in device.send("1", levels=("high",))
    device.send("book a table")
    assert "complete_intent_failure" in device.send("quantum chromodynamics", levels=("high", "medium"))


def test_unasked_question_is_dropped(device):
    """The stage that asks was not reached."""
    device.send("my order please", levels=("high",))

    assert "complete_intent_failure" in device.send("1")


def test_stages_have_configured_confidence(device):
    """The utterance itself has high confidence, a part of it less."""
    assert device.reply_to("track my order", levels=("high",)) == "On its way."
    assert device.reply_to("book", levels=("high",)) is None
    assert device.reply_to("book") == "In which city?"


def test_sessions_have_conversations_of_their_own(device):
    device.send("book a table", session="anna")

    assert device.reply_to("Rome", session="bert") is None
    assert device.reply_to("Rome", session="anna") == "A table in Rome."


def test_utterance_is_matched_once_for_all_stages(device, monkeypatch):
    """And for all languages."""
    asked = []
    match = Snapshot.match
    monkeypatch.setattr(Snapshot, "match", lambda self, text, **more: asked.append(text) or match(self, text, **more))
    device.service.config = {"multilingual_matching": True}

    device.send("quantum chromodynamics")

    assert asked == ["quantum chromodynamics"]


@pytest.mark.parametrize("utterances", [[], [""], ["  "]])
def test_silence_goes_to_next_stage(device, utterances):
    assert "complete_intent_failure" in device.send(*utterances)


def test_first_nonempty_hypothesis_counts(device):
    """Speech recognition gives the likeliest first."""
    assert device.reply_to("", "where is my order", "book a table") == "On its way."


def test_language_of_session_decides_where_utterance_does_not(device):
    device.send("book a table")
    device.send("quantum chromodynamics", lang="de-DE")

    assert device.reply_to("meine Bestellung", lang="de-DE").startswith("Meinten Sie:")


def test_invalid_configuration_raises(tmp_path):
    """The service logs the error and continues without the plugin."""
    with pytest.raises(IntentMatchError, match=r"intents\.intentmatch-pipeline-plugin\.intents"):
        IntentPipeline(FakeBus(), {})
    with pytest.raises(IntentMatchError, match="not-found"):
        IntentPipeline(FakeBus(), {"intents": str(tmp_path / "nowhere")})


def test_stopped_plugin_has_no_handlers(device):
    device.plugin.shutdown()

    assert device.reply_to("where is my order") is None


def test_example_holds_its_conversation(tmp_path):
    """As its README says, with its own files."""
    folder = tmp_path / "mycroft"
    folder.mkdir()
    config = (EXAMPLE / "mycroft.conf").read_text(encoding="utf-8")
    config = config.replace("~/.config/mycroft/bot.yaml", str(EXAMPLE / "bot.yaml"))
    (folder / "mycroft.conf").write_text(config, encoding="utf-8")

    done = subprocess.run(
        [sys.executable, EXAMPLE / "bot.py"],
        input="lights on\nbedroom\nthe lamp\n2\nspiel Musik\nquantum chromodynamics\n",
        capture_output=True,
        text=True,
        check=True,
        timeout=120,
        env={**os.environ, "XDG_CONFIG_HOME": str(tmp_path)},
    )

    for reply in ("In which room?", "Light in the bedroom.", "Did you mean:", "(a skill plays music)", "knows that)"):
        assert f"bot> {reply}" in done.stdout.replace("(nothing in the pipeline ", ""), done.stdout
