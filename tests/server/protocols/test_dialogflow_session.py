"""Sessions over Dialogflow's API: contexts with lifespans, slots over several messages, and the fallback's texts."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from typing import Any

import fakeredis
import pytest
from speaking import client
from starlette.testclient import TestClient

from intentmatch import Matcher
from intentmatch.core.types import Intent, Registry, Slot, SlotValue, Utterance
from intentmatch.dialogue import MemoryStore
from intentmatch.dialogue.pending import WhichValue
from intentmatch.integrations.redis import RedisStore
from intentmatch.server.protocols.dialogflow_session import (
    DialogflowContext,
    DialogflowSession,
    DialogflowSessions,
    fallback_text,
    output_contexts,
)

SESSION = "projects/shop/agent/sessions/{}"

SIZE = Slot("size", "list", (SlotValue("small"), SlotValue("large")), required=True, questions={"": "Which size?"})
CITY = Slot("city", "list", (SlotValue("Rome"), SlotValue("Oslo")), required=True, questions={"": "Which city?"})


def intent(name: str, *lines: str, **more: Any) -> Intent:
    return Intent(name, tuple(Utterance(line, "en") for line in lines), **more)


REGISTRY = Registry(
    (
        intent(
            "order",
            "I want a pizza",
            "order a pizza please",
            responses={"": "A {size} pizza for {city}."},
            metadata={"output_contexts": {"Ordering": 2, "once": 1, "bad": "x"}},
            slots=(SIZE, CITY),
        ),
        intent("yes", "yes", "that is right", responses={"": "Good."}, when=("Ordering",)),
        intent("hello", "hello", "good morning", responses={"": "Hi!"}),
        intent("bye", "goodbye", "see you tomorrow", responses={"": "Bye!"}, metadata={"reset_contexts": True}),
        intent("stop", "stop it", "end of order", metadata={"output_contexts": {"ordering": 0}}),
        intent("sure", "I confirm the payment", "pay the bill now", confirm=True, slots=(SIZE,)),
    ),
    settings={"fallback": {"en": ["Sorry?", "Pardon?"], "de": "Wie bitte?"}},
    slots=(SIZE, CITY),
)


@pytest.fixture(scope="module")
def bot() -> Matcher:
    return Matcher.load(REGISTRY, cache="off")


@pytest.fixture(params=["memory", "redis"])
def store(request: pytest.FixtureRequest) -> MemoryStore | RedisStore:
    return MemoryStore() if request.param == "memory" else RedisStore(fakeredis.FakeRedis())


@pytest.fixture
def ask(bot: Matcher, store: MemoryStore | RedisStore) -> Iterator[Callable[..., dict]]:
    """Ask a server with its own store; return the query result."""
    with client(bot, protocols=["dialogflow"], store=store) as caller:
        yield lambda text, session="1", **parameters: asked(caller, text, session, **parameters)


def asked(caller: TestClient, text: str, session: str = "1", language: str = "en", **parameters: Any) -> dict:
    body = {"queryInput": {"text": {"text": text, "languageCode": language}}, "queryParams": parameters}
    answer = caller.post(f"/v2/{SESSION.format(session)}:detectIntent", json=body)
    assert answer.status_code == 200, answer.text
    return answer.json()["queryResult"]


def contexts(result: dict) -> dict[str, int]:
    return {each["name"].rpartition("/")[2]: each["lifespanCount"] for each in result["outputContexts"]}


def name(result: dict) -> str:
    return result["intent"]["displayName"]


def test_conversation_of_an_agent_needs_no_memory_of_the_client(ask: Callable[..., dict]) -> None:
    """Slots are asked for one after the other, then the contexts of the intent are active, each for its lifespan."""
    first = ask("I want a pizza")
    assert (name(first), first["fulfillmentText"], first["allRequiredParamsPresent"]) == ("order", "Which size?", False)
    assert contexts(first) == {}
    second = ask("large")
    assert (second["fulfillmentText"], second["allRequiredParamsPresent"]) == ("Which city?", False)
    assert second["parameters"] == {"size": "large", "city": ""}
    third = ask("to Rome")
    assert (name(third), third["fulfillmentText"]) == ("order", "A large pizza for Rome.")
    assert third["parameters"] == {"size": "large", "city": "Rome"}
    assert contexts(third) == {"ordering": 2, "once": 1}
    assert third["outputContexts"][0] == {
        "name": f"{SESSION.format(1)}/contexts/ordering",
        "lifespanCount": 2,
        "parameters": {"size": "large", "city": "Rome"},
    }
    fourth = ask("yes")
    assert (name(fourth), contexts(fourth)) == ("yes", {"ordering": 1})
    fifth = ask("yes")
    assert (name(fifth), contexts(fifth)) == ("yes", {})
    assert ask("yes")["intent"]["isFallback"]


def test_sessions_are_apart(ask: Callable[..., dict]) -> None:
    ask("I want a large pizza to Rome", "anna")

    assert name(ask("yes", "anna")) == "yes"
    assert ask("yes", "bob")["intent"]["isFallback"]


def test_server_with_the_same_store_knows_the_session(bot: Matcher, store: MemoryStore | RedisStore) -> None:
    """As with several workers and Redis."""
    with client(bot, protocols=["dialogflow"], store=store) as one, client(bot, store=store) as other:
        asked(one, "I want a pizza")
        assert asked(other, "small")["fulfillmentText"] == "Which city?"
        assert asked(one, "Oslo")["fulfillmentText"] == "A small pizza for Oslo."


def test_contexts_of_the_request_are_added_and_can_end(ask: Callable[..., dict]) -> None:
    """Names in any case, as Dialogflow returns them in lower case."""
    context = {"name": f"{SESSION.format(1)}/contexts/ordering", "lifespanCount": "3", "parameters": {"a": 1}}
    assert name(ask("yes", contexts=[context])) == "yes"
    result = ask("yes")
    assert (name(result), contexts(result)) == ("yes", {"ordering": 1})
    assert result["outputContexts"][0]["parameters"] == {"a": 1}
    assert ask("yes", contexts=[{**context, "lifespanCount": 0}])["intent"]["isFallback"]


@pytest.mark.parametrize("text", ["goodbye", "stop it"])
def test_intent_can_end_contexts(ask: Callable[..., dict], text: str) -> None:
    ask("I want a large pizza to Rome")
    assert contexts(ask(text)).get("ordering") is None
    assert ask("yes")["intent"]["isFallback"]


def test_request_can_reset_the_session(ask: Callable[..., dict]) -> None:
    ask("I want a large pizza to Rome")
    assert ask("yes", resetContexts=True)["intent"]["isFallback"]
    assert ask("yes")["intent"]["isFallback"]


def test_other_request_drops_the_question(ask: Callable[..., dict]) -> None:
    ask("I want a pizza")
    assert name(ask("hello")) == "hello"
    assert name(ask("large")) != "order"


def test_question_is_asked_three_times(ask: Callable[..., dict]) -> None:
    """Then the fallback answers."""
    ask("I want a pizza")
    assert [ask("quantum chromodynamics")["fulfillmentText"] for _ in range(3)] == [
        "Which size?",
        "Which size?",
        "Sorry?",
    ]


def test_user_can_cancel_while_a_slot_is_missing(ask: Callable[..., dict]) -> None:
    ask("I want a pizza")
    result = ask("I don't want a pizza")

    assert (name(result), result["cancelsSlotFilling"]) == ("order", True)
    assert contexts(result) == {}
    assert name(ask("large")) != "order"


def test_intent_to_confirm_is_not_asked_about(ask: Callable[..., dict]) -> None:
    ask("I want a pizza")
    ask("pay the bill now")
    result = ask("small")

    assert (name(result), result["allRequiredParamsPresent"]) == ("sure", True)


def test_fallback_says_its_texts_one_after_the_other(ask: Callable[..., dict]) -> None:
    texts = [ask("quantum chromodynamics")["fulfillmentText"] for _ in range(3)]

    assert texts == ["Sorry?", "Pardon?", "Sorry?"]
    assert ask("Quantenchromodynamik", "2", language="de-AT")["fulfillmentText"] == "Wie bitte?"


def test_broken_store_does_not_stop_the_bot(bot: Matcher, caplog: pytest.LogCaptureFixture) -> None:
    class Broken:
        def put(self, conversation: str, text: str, seconds: float) -> None:
            raise OSError("no store")

        def pop(self, conversation: str) -> str | None:
            raise OSError("no store")

    with client(bot, protocols=["dialogflow"], store=Broken()) as caller:
        assert asked(caller, "I want a large pizza to Rome")["fulfillmentText"] == "A large pizza for Rome."
    assert "cannot read a session" in caplog.text
    assert "cannot keep a session" in caplog.text


@pytest.mark.parametrize("value", ["1e999", "NaN"])
def test_context_parameters_that_json_cannot_hold_are_refused(bot: Matcher, value: str) -> None:
    context = '{"name": "x", "lifespanCount": 1, "parameters": {"a": ' + value + "}}"
    body = '{"queryInput": {"text": {"text": "hello"}}, "queryParams": {"contexts": [' + context + "]}}"
    with client(bot, protocols=["dialogflow"]) as caller:
        assert caller.post(f"/v2/{SESSION.format(1)}:detectIntent", content=body).status_code == 400


async def kept(text: str | None) -> DialogflowSession:
    """The session that is read if the store has this text."""
    store = MemoryStore()
    if text is not None:
        store.put("dialogflow a", text, 10)
    return await DialogflowSessions(store).read("a")


@pytest.mark.anyio
@pytest.mark.parametrize(
    "text", [None, "", "x", "[]", "{}", '{"version": 9}', '{"version": 1, "contexts": {"a": 1}}', '{"version": 1}']
)
async def test_invalid_session_is_a_new_one(text: str | None) -> None:
    assert await kept(text) == DialogflowSession()


@pytest.mark.anyio
async def test_session_is_kept_whole_and_read_without_removing_it() -> None:
    sessions = DialogflowSessions(MemoryStore())
    session = DialogflowSession({"a": DialogflowContext(2, {"x": [1]})}, WhichValue("order", "size", (), 1, "en"), 3)
    await sessions.write("a", session)

    assert await sessions.read("a") == await sessions.read("a") == session
    assert (await sessions.read("a")).stored
    assert await sessions.read("b") == DialogflowSession()


@pytest.mark.anyio
async def test_empty_session_is_not_kept_unless_it_replaces_one() -> None:
    store = MemoryStore()
    await DialogflowSessions(store).write("a", DialogflowSession())
    assert store.pop("dialogflow a") is None
    await DialogflowSessions(store).write("a", DialogflowSession(stored=True))
    assert store.pop("dialogflow a") is not None


@pytest.mark.anyio
async def test_huge_session_is_not_kept(caplog: pytest.LogCaptureFixture) -> None:
    store = MemoryStore()
    await DialogflowSessions(store).write("a", DialogflowSession({"a": DialogflowContext(1, {"x": "y" * 20_000})}))

    assert store.pop("dialogflow a") is None
    assert "more than 5000 characters" in caplog.text


def test_contexts_are_bounded() -> None:
    session = DialogflowSession()
    for number in range(60):
        session.activate(f"c{number}", 1)

    assert len(session.contexts) == 50


@pytest.mark.parametrize(
    ("metadata", "found"),
    [
        ({}, {}),
        ({"output_contexts": {"a": 2, "b": 0}}, {"a": 2, "b": 0}),
        ({"output_contexts": {"a": True, "b": "2", "c": 1.5}}, {}),
        ({"output_contexts": ["a"]}, {}),
    ],
)
def test_output_contexts_are_whole_numbers(metadata: dict, found: dict[str, int]) -> None:
    assert output_contexts(metadata) == found


@pytest.mark.parametrize(
    ("texts", "codes", "number", "text"),
    [
        ({}, ["en"], 0, ""),
        ({"en": ["a", "b"], "default": ["c"]}, ["en"], 3, "b"),
        ({"en": ["a"], "default": ["c"]}, ["de"], 0, "c"),
        ({"fr": ["d"]}, [], 0, "d"),
    ],
)
def test_fallback_text_of_a_language(texts: dict, codes: list[str], number: int, text: str) -> None:
    assert fallback_text(texts, codes, number) == text


def test_json_of_a_session_is_text(bot: Matcher) -> None:
    store = MemoryStore()
    with client(bot, protocols=["dialogflow"], store=store) as caller:
        asked(caller, "I want a pizza")

    assert json.loads(store.pop(f"dialogflow {SESSION.format(1)}") or "")["version"] == 1
