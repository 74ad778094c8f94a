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


def test_each_intent_has_its_function(routes):
    """One function may answer several, and stays what it was."""

    @routes.intent("greet", "leave")
    def both() -> str:
        return "said"

    assert routes.handler(Turn("hello", "greet")) is both
    assert routes.handler(Turn("bye", "leave")) is both
    assert both() == "said"


def test_a_name_that_is_none_is_told_at_once(routes):
    """A typing mistake in a bot shows when it starts."""
    with pytest.raises(UnknownNameError, match="Did you mean 'greet'"):
        routes.intent("gret")


def test_what_is_not_understood_has_a_function(routes):
    """Nothing else gets there: no question, no empty message, no reply that is there already."""
    assert routes.handler(Turn("what")) is None

    @routes.fallback
    def sorry() -> None: ...

    assert routes.handler(Turn("what")) is sorry
    assert routes.handler(Turn("")) is None
    assert routes.handler(Turn("my order", reply="Did you mean:", choices=(Choice("im:1", "x", "x"),))) is None
    assert routes.handler(Turn("", reply="That question is over.")) is None


def test_an_intent_without_a_function_speaks_for_itself(routes):
    """Its response is in the turn; the fallback is not for it."""
    routes.fallback(lambda: None)

    assert routes.handler(Turn("hello", "greet", reply="Hi!")) is None
