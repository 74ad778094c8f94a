"""The intent service of OpenVoiceOS in a terminal: no microphone, one skill, the intents of bot.yaml."""

from __future__ import annotations

from ovos_bus_client.message import Message
from ovos_core.intent_services.service import IntentService
from ovos_utils.fakebus import FakeBus
from ovos_utils.log import LOG


def main() -> None:
    """Read lines and print what OpenVoiceOS would speak."""
    LOG.set_level("CRITICAL")
    bus = FakeBus()
    bus.on("speak", lambda message: print("bot>", message.data["utterance"]))
    bus.on("my-music.skill:play_music", lambda message: print("bot> (a skill plays music)"))
    bus.on("complete_intent_failure", lambda message: print("bot> (nothing in the pipeline knows that)"))
    service = IntentService(bus)
    try:
        while line := input("you> "):
            bus.emit(Message("recognizer_loop:utterance", {"utterances": [line], "lang": "en-us"}))
    except EOFError:
        print()
    finally:
        service.shutdown()


if __name__ == "__main__":
    main()
