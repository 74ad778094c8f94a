"""Messages that mean nothing, and messages that only look so."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml

from intentmatch import Intent, Matcher, Registry, Utterance
from intentmatch.evaluation.noise import ALPHABETS, noise_messages
from intentmatch.reading.noise import NoiseDetector, randomness
from intentmatch.reading.text import ReadText
from intentmatch.text.normalize import clean

MESSAGES = yaml.safe_load(Path(__file__).with_name("noise.yaml").read_text(encoding="utf-8"))
WORDS = frozenset({"where", "is", "my", "order", "please", "cancel", "the", "subscription", "bestellung", "👍"})
DETECTOR = NoiseDetector(WORDS, ("en", "de"))


def reason(message: str, detector: NoiseDetector = DETECTOR) -> str:
    return detector.reason(ReadText(clean(message)), ReadText(clean(message)))


@pytest.mark.parametrize(
    ("message", "why"), [(message, why) for why, messages in MESSAGES["noise"].items() for message in messages]
)
def test_noise_is_recognised_with_its_reason(message, why):
    assert why in reason(message)


@pytest.mark.parametrize("message", MESSAGES["messages"])
def test_real_messages_are_no_noise(message):
    assert reason(message) == ""


@pytest.mark.parametrize("message", ["plaese wxkqz bvrtkq", "subscrpition", "bestelulng"])
def test_message_with_a_known_or_mistyped_word_is_no_noise(message):
    detector = NoiseDetector(WORDS | {"plaese"}, ("en",))

    assert reason(message, detector) == ""


def test_mistyped_word_of_the_registry_is_recognised_by_its_distance():
    """The letters alone look random: only the nearness to a word of the registry speaks for the message."""
    assert reason("strxnieqvn", NoiseDetector(frozenset(), ("en",)))
    assert reason("strxnieqvn", NoiseDetector(frozenset({"strxniequn"}), ("en",))) == ""


def test_symbol_of_an_utterance_is_no_noise():
    assert reason("🦄", NoiseDetector(frozenset({"🦄"}), ("en",))) == ""
    assert reason("🦄", NoiseDetector(frozenset({"super🦄"}), ("en",))) == ""
    assert reason("%%", NoiseDetector(frozenset({"10%"}), ("en",)))


def test_lone_stop_word_of_another_language_is_noise_unless_an_utterance_has_it():
    assert reason("und", NoiseDetector(frozenset(), ("en",))) == "the message has only stop words."
    assert reason("und", NoiseDetector(frozenset({"und"}), ("en",))) == ""
    # Own stop words say nothing alone, even if an utterance has them.
    assert reason("the", NoiseDetector(frozenset({"the"}), ("en",))) == "the message has only stop words."


def test_several_stop_words_of_other_languages_are_words():
    assert reason("und das", NoiseDetector(frozenset(), ("en",))) == ""


def test_words_between_tags_are_judged_as_a_message():
    assert reason("<p>please cancel</p>") == ""
    assert reason("<p>ring me tomorrow</p>") == ""


@pytest.mark.parametrize(
    ("kind", "script", "least"),
    [
        *(("letters", script, 0.85) for script in ALPHABETS),
        ("syllables", "Latin", 0.7),
        ("syllables", "Cyrillic", 0.75),
    ],
)
def test_most_random_letters_and_syllables_are_recognised(kind, script, least):
    messages = noise_messages(kind, 200, seed=11, script=script)

    assert sum(map(bool, map(reason, messages))) >= least * len(messages)


@pytest.mark.parametrize(
    ("kind", "least"), [("keyboard", 1), ("base64", 1), ("markup", 1), ("emoji", 1), ("repeated", 0.9)]
)
def test_other_noise_is_recognised(kind, least):
    messages = noise_messages(kind, 200, seed=11)

    assert sum(map(bool, map(reason, messages))) >= least * len(messages)


def test_randomness_grows_with_each_random_word_and_ignores_codes():
    assert randomness("wkxq") < randomness("wkxq bvtrz") < randomness("wkxq bvtrz pqkfh")
    assert randomness("wkxq 12345 AB-1 x@y.z") == randomness("wkxq")
    assert randomness("12345") == randomness("") == 0.0
    assert randomness("where is my order") < 0.0


def test_words_of_unknown_or_mixed_scripts_count_nothing():
    assert randomness("ქართული") == 0.0
    assert randomness("aбвxжq") == 0.0


@pytest.fixture(scope="module")
def matcher() -> Matcher:
    intents = [
        Intent("status", tuple(Utterance(text, "en") for text in ("where is my order", "track my parcel", "the"))),
        Intent("cancel", tuple(Utterance(text, "en") for text in ("cancel my order", "stop it please", "asdfgh 👍"))),
    ]
    return Matcher.load(Registry(tuple(intents)), cache="off")


def test_noise_is_out_of_scope_before_it_is_encoded(matcher):
    result = matcher.match("qkfvhskt pnvx")

    assert (result.verdict, result.candidates, result.trace.decided_by) == ("out_of_scope", (), "noise")
    assert result.trace.stages[-1].name == "noise"
    assert result.trace.reason == result.trace.stages[-1].says == "the message reads like no language."
    assert "encode" not in {stage.name for stage in result.trace.stages}


@pytest.mark.parametrize(("message", "intent"), [("the", "status"), ("asdfgh 👍", "cancel"), ("asdfghh 👍", "cancel")])
def test_message_that_is_or_nearly_is_an_utterance_is_no_noise(matcher, message, intent):
    """Also where the utterance itself looks like noise."""
    assert matcher.match(message).candidates[0].intent == intent


def test_many_messages_are_judged_as_one_by_one(matcher):
    messages = ["qkfvhskt pnvx", "where is my order", "and"]

    together = [(r.verdict, r.trace.decided_by) for r in matcher.match_many(messages)]
    assert together == [(r.verdict, r.trace.decided_by) for r in map(matcher.match, messages)]


def test_form_is_judged_as_typed_and_language_as_corrected():
    """Correcting a row of keys into a word does not make it a message; correcting a mistyped word does."""
    assert reason("asdfgh") == DETECTOR.reason(ReadText("asdfgh"), ReadText("order"))
    assert DETECTOR.reason(ReadText("qkfvhskt pnvx"), ReadText("where order")) == ""
    assert DETECTOR.reason(ReadText("qkfvhskt pnvx"), ReadText("qkfvhskt pnvx"))
