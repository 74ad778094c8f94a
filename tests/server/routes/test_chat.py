"""Conversations over HTTP."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from pathlib import Path

import fakeredis
import pytest
from starlette.testclient import TestClient

from intentmatch import Matcher, MemoryStore
from intentmatch.inbox import Inbox
from intentmatch.integrations.redis import RedisStore
from intentmatch.server import create_app
from intentmatch.server.process.logs import messages_log

INTENTS = """\
settings: {threshold: 0.35, margin: 0.5}
intents:
  order_status:
    title: {en: Where is my order?, de: Wo ist meine Bestellung?}
    response: {en: On its way., de: Unterwegs.}
    utterances: {en: [where is my order, track my order], de: [wo ist meine Bestellung]}
  cancel_order:
    title: {en: Cancel an order, de: Bestellung stornieren}
    response: {en: Cancelled.}
    utterances: {en: [cancel my order, stop my order], de: [meine Bestellung stornieren]}
  book:
    response: {en: "A table in {city}."}
    slots: {city: {values: [Rome, Munich], required: true, ask: {en: In which city?}}}
    utterances: {en: [book a table]}
  erase:
    title: {en: Erase everything}
    confirm: true
    response: {en: Erased.}
    utterances: {en: [wipe the whole database]}
  pay:
    when: checkout
    utterances: {en: [put it on my card]}
"""


@pytest.fixture(scope="module")
def talkative(tmp_path_factory: pytest.TempPathFactory) -> Matcher:
    file = tmp_path_factory.mktemp("chat") / "bot.yaml"
    file.write_text(INTENTS, encoding="utf-8")
    return Matcher.load(file, cache="off")


@pytest.fixture
def bot(talkative: Matcher) -> Iterator[TestClient]:
    with TestClient(create_app(talkative), raise_server_exceptions=False) as client:
        yield client


def say(client: TestClient, text: str, conversation: str = "anna", **more: object) -> dict:
    answer = client.post("/chat", json={"text": text, "conversation": conversation, **more})
    assert answer.status_code == 200, answer.text
    return answer.json()


def test_clear_message_is_answered_at_once(bot: TestClient) -> None:
    turn = say(bot, "where is my order")

    assert (turn["intent"], turn["reply"], turn["text"], turn["understood"]) == (
        "order_status",
        "On its way.",
        "On its way.",
        True,
    )
    assert (turn["choices"], turn["asks_for"], turn["pending"], turn["entities"]) == ([], None, None, [])
    assert turn["result"] == bot.post("/match", json={"text": "where is my order"}).json() | {
        "trace": turn["result"]["trace"]
    }


@pytest.mark.parametrize("by", ["number", "button", "words"])
def test_ambiguous_message_is_asked_about(bot: TestClient, by: str) -> None:
    """The answer may be a number, a button or words."""
    question = say(bot, "my order please")
    choice = next(choice for choice in question["choices"] if choice["intent"] == "cancel_order")
    number = question["choices"].index(choice) + 1
    turn = {"number": {"text": str(number)}, "button": {"chosen": choice["id"]}, "words": {"text": choice["title"]}}[by]

    answered = bot.post("/chat", json={"conversation": "anna", **turn}).json()

    assert question["text"].startswith("Did you mean:\n1. ")
    assert (question["intent"], question["understood"], question["choices"][-1]["intent"]) == (None, True, None)
    assert (answered["intent"], answered["reply"], answered["result"]) == ("cancel_order", "Cancelled.", None)


def test_intent_with_confirm_is_asked_about(bot: TestClient) -> None:
    asked = say(bot, "wipe the whole database")
    declined = say(bot, "no thanks")
    yes = say(bot, "wipe the whole database")["choices"][0]
    confirmed = bot.post("/chat", json={"conversation": "anna", "chosen": yes["id"]}).json()

    assert (asked["intent"], asked["pending"], asked["reply"]) == (None, "erase", "Erase everything?")
    assert [choice["title"] for choice in asked["choices"]] == ["Yes", "No"]
    assert asked["result"]["confirm"] is True
    assert (declined["intent"], declined["pending"], declined["understood"]) == (None, "erase", True)
    assert declined["reply"] == "All right, I will not do that."
    assert (confirmed["intent"], confirmed["reply"]) == ("erase", "Erased.")


def test_missing_slot_is_asked_for_and_filled(bot: TestClient) -> None:
    question = say(bot, "book a table")
    answered = say(bot, "rome")

    assert (question["reply"], question["asks_for"], question["pending"]) == ("In which city?", "city", "book")
    assert (answered["intent"], answered["reply"]) == ("book", "A table in Rome.")
    assert [entity["value"] for entity in answered["entities"]] == ["Rome"]


def test_hypotheses_from_speech_are_a_message(bot: TestClient, caplog: pytest.LogCaptureFixture) -> None:
    def heard(*hypotheses: tuple[str, float]) -> dict:
        given = [{"text": text, "weight": weight} for text, weight in hypotheses]
        return bot.post("/chat", json={"conversation": "anna", "hypotheses": given}).json()

    with caplog.at_level(logging.INFO, messages_log.name):
        question = heard(("xkqzw vvbrt", 0.2), ("book a table", 0.8))
    answered = heard(("rome", 0.6), ("roam", 0.4))

    assert (question["message"], question["asks_for"]) == ("book a table", "city")
    assert question["result"]["message"] == "book a table"
    assert [record.fields["text"] for record in caplog.records if record.name == messages_log.name] == ["book a table"]  # type: ignore[attr-defined]
    assert (answered["intent"], answered["reply"]) == ("book", "A table in Rome.")


@pytest.mark.parametrize("body", [{}, {"text": None}, {"text": None, "hypotheses": None}, {"text": ""}])
def test_button_needs_no_text(bot: TestClient, body: dict) -> None:
    yes = say(bot, "wipe the whole database")["choices"][0]
    turn = bot.post("/chat", json={"conversation": "anna", "chosen": yes["id"], **body}).json()

    assert turn["intent"] == "erase"


def test_conversations_are_separate(bot: TestClient) -> None:
    say(bot, "book a table", "anna")

    assert say(bot, "Rome", "bert")["intent"] is None
    assert say(bot, "Rome", "anna")["intent"] == "book"


def test_language_and_context_are_used(bot: TestClient) -> None:
    assert say(bot, "", chosen="im:gone:1", language="de_AT")["reply"].startswith("Diese Frage ist vorbei.")
    assert say(bot, "put it on my card")["intent"] is None
    assert say(bot, "put it on my card", context=["checkout"])["intent"] == "pay"


def test_empty_text_leaves_the_question_open(bot: TestClient) -> None:
    """Such as a sticker."""
    say(bot, "book a table")
    nothing = bot.post("/chat", json={"conversation": "anna"}).json()

    assert (nothing["understood"], nothing["reply"], nothing["result"]) == (False, None, None)
    assert say(bot, "Rome")["intent"] == "book"


@pytest.mark.parametrize(
    ("body", "location"),
    [
        ({"text": "hello"}, "body.conversation"),
        ({"text": "hello", "conversation": ""}, "body.conversation"),
        ({"text": 7, "conversation": "anna"}, "body.text"),
        ({"text": "a" * 2001, "conversation": "anna"}, "body.text"),
        ({"text": "hello", "conversation": "anna", "chosen": 1}, "body.chosen"),
        ({"text": "hello", "hypotheses": [{"text": "hi", "weight": 1}], "conversation": "anna"}, "body.text"),
        ({"hypotheses": [{"text": "hi", "weight": 0}], "conversation": "anna"}, "body.hypotheses.0.weight"),
        ({"hypotheses": [{"text": "a" * 2001, "weight": 1}], "conversation": "anna"}, "body.hypotheses.0.text"),
        ({"text": "hello", "conversation": "anna", "language": "english!"}, "body"),
        ({"text": "hello", "conversation": "anna", "user": 1}, "body.user"),
    ],
)
def test_invalid_request_is_a_problem(bot: TestClient, body: dict, location: str) -> None:
    answer = bot.post("/chat", json=body)

    assert answer.status_code == 422
    assert answer.json()["errors"][0]["location"] == location


def test_chat_needs_a_key_if_the_app_has_any(talkative: Matcher) -> None:
    with TestClient(create_app(talkative, keys=["a-good-key"])) as client:
        body = {"text": "hello", "conversation": "anna"}

        assert client.post("/chat", json=body).status_code == 401
        assert client.post("/chat", json=body, headers={"x-api-key": "a-good-key"}).status_code == 200


class _SizedStore(MemoryStore):
    """A store that is false in a condition while it is empty."""

    def __len__(self) -> int:
        return len(self._kept)


@pytest.mark.parametrize("shared", [MemoryStore, _SizedStore, lambda: RedisStore(fakeredis.FakeRedis())])
def test_processes_share_conversations_through_a_store(talkative: Matcher, shared) -> None:
    store = shared()
    with TestClient(create_app(talkative, store=store)) as one, TestClient(create_app(talkative, store=store)) as two:
        assert say(one, "book a table")["asks_for"] == "city"
        assert say(two, "Munich")["intent"] == "book"


def test_misses_go_to_the_inbox_but_answers_do_not(talkative: Matcher, tmp_path: Path) -> None:
    file = tmp_path / "bot.yaml"
    file.write_text(INTENTS, encoding="utf-8")
    with TestClient(create_app(Matcher.load(file, cache="off", inbox=tmp_path / "inbox.sqlite"))) as client:
        for text in ("book a table", "Munich", "quantum chromodynamics"):
            say(client, text)

    assert [message.text for message in Inbox(tmp_path / "inbox.sqlite").messages()] == ["quantum chromodynamics"]


def test_log_marks_messages_that_follow_a_turn(bot: TestClient, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.INFO, messages_log.name):
        for text in ("book a table in Rome", "and in Munich?"):
            assert say(bot, text)["intent"] == "book"

    assert [getattr(record, "fields", {}).get("follow_up") for record in caplog.records] == [None, True]


def test_log_names_the_bot_of_each_message(several: Path, caplog: pytest.LogCaptureFixture) -> None:
    with TestClient(create_app(several)) as client, caplog.at_level(logging.INFO, messages_log.name):
        for bot in ("bank", "shop"):
            client.post(f"/bots/{bot}/match", json={"text": "hello"})

    records = [record for record in caplog.records if record.name == messages_log.name]
    assert [record.fields["bot"] for record in records] == ["bank", "shop"]  # type: ignore[attr-defined]
    assert [record.getMessage().partition(" ")[0] for record in records] == ["bank:", "shop:"]


def test_bots_have_separate_conversations(several: Path) -> None:
    for name in ("bank", "shop"):
        (several / name / "bot.yaml").write_text(INTENTS, encoding="utf-8")
    with TestClient(create_app(several)) as client:

        def chat(bot: str, text: str) -> dict:
            return client.post(f"/bots/{bot}/chat", json={"text": text, "conversation": "anna"}).json()

        assert chat("shop", "book a table")["asks_for"] == "city"
        assert chat("bank", "Munich")["intent"] is None
        assert chat("shop", "Munich")["intent"] == "book"
