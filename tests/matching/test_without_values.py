"""Values of slots alone do not decide the intent."""

from __future__ import annotations

import pytest

from intentmatch import Matcher

REGISTRY = """version: 1
slots:
  room: {values: [kitchen, cellar, living room]}
  code: {pattern: "[A-Z]{3}-\\\\d{4}", examples: [ABC-1234]}
intents:
  look_up:
    utterances: ["look up {code}", "find ticket {code}", "what is the state of {code}"]
  light_on:
    slots: {until: {type: date}}
    utterances: ["{room} on", "turn on the light in the {room}", "light in the kitchen until tomorrow"]
  hello:
    utterances: [hello there, good morning]
  bye:
    utterances: [goodbye, see you later]
"""

ROOMS = """version: 1
slots:
  room: {values: {kitchen: {de: [Küche]}, cellar: , attic: }}
intents:
  light_on:
    utterances: {en: ["{room} on", "light on in the {room}"]}
  light_off:
    utterances: {en: ["{room} off", "light off in the {room}"]}
  hello:
    utterances: {en: [hello there, good morning]}
"""


@pytest.fixture(scope="module")
def matcher(tmp_path_factory) -> Matcher:
    folder = tmp_path_factory.mktemp("values")
    (folder / "bot.yaml").write_text(REGISTRY, encoding="utf-8")
    return Matcher.load(folder, cache="off")


@pytest.mark.parametrize(
    "message", ["my neighbour hates ABC-1234", "write a poem about my kitchen", "who invented the living room"]
)
def test_a_message_that_shares_nothing_but_a_value_is_out_of_scope(matcher, message):
    result = matcher.match(message, language="en")

    assert result.verdict == "out_of_scope"
    if result.candidates[0].score >= result.trace.threshold:
        assert "without the values of its slots" in result.trace.reason
        assert "without_values" in [stage.name for stage in result.trace.stages]


def test_trace_says_that_only_a_value_is_shared(matcher):
    result = matcher.match("who invented the living room", language="en")

    assert "without the values of its slots" in result.trace.reason
    assert "without_values" in [stage.name for stage in result.trace.stages]


@pytest.mark.parametrize(
    ("message", "code"),
    [("could you find ticket KLM-9987", "KLM-9987"), ("please find ticket zqx-0077 for me", "zqx-0077")],
)
def test_a_message_that_is_in_scope_but_for_its_value_is_matched(matcher, message, code):
    result = matcher.match(message, language="en")

    assert result.intent == "look_up"
    assert [(one.slot, one.value) for one in result.entities] == [("code", code)]


def test_the_value_of_a_message_does_not_decide_whether_it_matches(matcher):
    """Codes that no line has, in 25 messages."""
    codes = [
        f"{letters}-{1000 + 377 * number}" for number, letters in enumerate(["QXZ", "JWK", "VVQ", "ZJX", "KQW"] * 5)
    ]
    matched = [matcher.match(f"could you look up {code} please", language="en").intent for code in codes]

    assert matched.count("look_up") >= 24


def test_an_authors_threshold_holds_without_values_too(tmp_path):
    strict = REGISTRY.replace("  look_up:", "  look_up:\n    threshold: 0.95")
    (tmp_path / "bot.yaml").write_text(strict, encoding="utf-8")

    result = Matcher.load(tmp_path, cache="off").match("could you find ticket KLM-9987", language="en")

    assert result.verdict == "out_of_scope"


@pytest.mark.parametrize(
    ("message", "intent"),
    [
        ("could you look up ABC-1234", "look_up"),
        ("please turn on the light in the cellar", "light_on"),
        ("light in the kitchen until monday please", "light_on"),
        ("ABC-1234 please", "look_up"),
    ],
)
def test_a_message_with_other_words_around_a_value_is_matched(matcher, message, intent):
    assert matcher.match(message, language="en").intent == intent


@pytest.mark.parametrize("message", ["cellar", "the kitchen, please", "Küche"])
def test_a_value_alone_that_several_intents_take_is_asked_about(tmp_path, message):
    (tmp_path / "rooms.yaml").write_text(ROOMS, encoding="utf-8")
    result = Matcher.load(tmp_path, cache="off").match(message)

    assert (result.verdict, {one.intent for one in result.rivals}) == ("ambiguous", {"light_on", "light_off"})


def test_a_message_without_values_is_matched_as_before(matcher):
    result = matcher.match("good morning to you", language="en")

    assert result.intent == "hello"
    assert "without_values" not in [stage.name for stage in result.trace.stages]
