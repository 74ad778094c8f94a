"""Which function answers a turn."""

from __future__ import annotations

import pytest
from fakes import WordHashEncoder

from intentmatch import Choice, Dialogue, Intent, Matcher, Registry, Turn, UnknownNameError, Utterance
from intentmatch.integrations.routes import Routes


@pytest.fixture
def routes() -> Routes:
    intents = (Intent("greet", (Utterance("hello"),)), Intent("leave", (Utterance("goodbye"),)))
    return Routes(Dialogue(Matcher.load(Registry(intents), encoder=WordHashEncoder(), cache="off")))


def test_function_answers_its_intents(routes):
    """One function may answer several intents, and stays callable."""

    @routes.intent("greet", "leave")
    def both() -> str:
        return "said"

    assert routes.handler(Turn("hello", "greet")) is both
    assert routes.handler(Turn("bye", "leave")) is both
    assert both() == "said"


def test_unknown_intent_is_refused_at_once(routes):
    """A misspelling is found when the bot starts."""
    with pytest.raises(UnknownNameError, match="Did you mean 'greet'"):
        routes.intent("gret")


def test_fallback_gets_messages_out_of_scope_only(routes):
    """Not questions, empty messages, or turns that have a reply already."""
    assert routes.handler(Turn("what")) is None

    @routes.fallback
    def sorry() -> None: ...

    assert routes.handler(Turn("what")) is sorry
    assert routes.handler(Turn("")) is None
    assert routes.handler(Turn("my order", reply="Did you mean:", choices=(Choice("im:1", "x", "x"),))) is None
    assert routes.handler(Turn("", reply="That question is over.")) is None


def test_intent_without_function_needs_none(routes):
    """Its response is in the turn; the fallback is not called."""
    routes.fallback(lambda: None)

    assert routes.handler(Turn("hello", "greet", reply="Hi!")) is None
