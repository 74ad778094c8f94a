"""Which tools a model is shown."""

from __future__ import annotations

import asyncio

import pytest
from fakes import WordHashEncoder

from intentmatch import Intent, Matcher, Registry, UnknownNameError, Utterance
from intentmatch.integrations.tools import Tools

NAMES = ["status", "cancel", "search"]


@pytest.fixture
def matcher() -> Matcher:
    intents = (
        Intent("status", (Utterance("where is my order"),)),
        Intent("cancel", (Utterance("cancel it please"),)),
        Intent("yes", (Utterance("yes"),)),
        Intent("mute", (Utterance("sound off now"),)),
        Intent("unmute", (Utterance("sound on now"),)),
    )
    registry = Registry(intents)
    return Matcher.load(registry, encoder=WordHashEncoder(), cache="off", margin=0.4, several_intents=True)


@pytest.mark.parametrize(
    ("message", "expected"),
    [
        ("where is my order", ["status"]),
        ("Where is my order? Cancel it please!", ["status", "cancel"]),
        ("sound now", ["mute", "unmute"]),
        ("penguins", []),
        ("", []),
    ],
)
def test_possible_intents_of_message(matcher, message, expected):
    """One intent, those of several clauses, two rivals, or none; the same async."""
    tools = Tools(matcher)

    assert sorted(tools.intents(message)) == sorted(expected)
    assert asyncio.run(tools.aintents(message)) == tools.intents(message)


@pytest.mark.parametrize(
    ("intents", "expected"),
    [
        (["status"], {"status", "search"}),
        (["status", "cancel"], {"status", "cancel", "search"}),
        (["yes"], set(NAMES)),
        ([], {"search"}),
    ],
)
def test_tool_belongs_to_the_intent_of_its_name(matcher, intents, expected):
    """A tool of no intent is always needed; all tools are needed if the intents have none, but not out of scope."""
    assert Tools(matcher).needed(NAMES, intents) == expected


def test_all_tools_are_needed_out_of_scope_if_asked_to(matcher):
    assert Tools(matcher, out_of_scope="all").needed(NAMES, []) == set(NAMES)
    with pytest.raises(UnknownNameError, match="unknown choice for out_of_scope 'any': known are all, none"):
        Tools(matcher, out_of_scope="any")


def test_table_gives_tools_to_intents(matcher):
    """An intent that the table lacks keeps the tool of its own name; a tool that does not exist is ignored."""
    tools = Tools(matcher, {"status": ["search", "status"], "yes": ["cancel"], "mute": ["gone"]})

    assert tools.needed(NAMES, ["status"]) == {"search", "status"}
    assert tools.needed(NAMES, ["yes"]) == tools.needed(NAMES, ["cancel"]) == {"cancel"}
    assert tools.needed(NAMES, ["mute"]) == set(NAMES)


def test_table_of_one_intent_hides_tools_of_others(matcher):
    """Out of scope, no tool of any intent is needed."""
    tools = Tools(matcher, {"status": ["status"]})

    assert tools.needed(NAMES, []) == {"search"}
    assert tools.needed(NAMES, ["status"]) == {"status", "search"}


def test_unknown_intent_in_table_is_refused(matcher):
    with pytest.raises(UnknownNameError, match="Did you mean 'status'"):
        Tools(matcher, {"statsu": []})
