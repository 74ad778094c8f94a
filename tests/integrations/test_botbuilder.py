"""intentmatch as the recognizer of a Bot Framework bot, through the framework's own test adapter and over HTTP."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

pytest.importorskip("botbuilder.dialogs", reason="needs the extra `botbuilder`")

from aiohttp import web
from aiohttp.test_utils import TestClient, TestServer
from botbuilder.core import ActivityHandler, Recognizer, RecognizerResult, TurnContext
from botbuilder.core.adapters import TestAdapter
from botbuilder.schema import Activity, ActivityTypes, Attachment, ChannelAccount, ConversationAccount
from chats import DID_YOU_MEAN, NUMBERED, TITLES, TOO_LATE, GatedEncoder, dialogue, example

from intentmatch import Dialogue, Intent, Matcher, Registry, Utterance
from intentmatch.integrations.botbuilder import NONE, IntentRecognizer


class Chat(ActivityHandler):
    """A bot that says what its recognizer says, and its users."""

    def __init__(self, own: Dialogue | None = None) -> None:
        self.encoder = GatedEncoder()
        self.recognizer = IntentRecognizer(own or dialogue(self.encoder))
        self.results: list[RecognizerResult] = []

    async def on_turn(self, turn_context: TurnContext) -> None:
        result = await self.recognizer.recognize(turn_context)
        self.results.append(result)
        if "reply" in result.properties:
            await turn_context.send_activity(result.properties["reply"])

    def hear(self, text: str | None, *, user: str = "anna", **activity: Any) -> list[Activity]:
        """What is said to a message."""
        return asyncio.run(self.ahear(text, user=user, **activity))

    async def ahear(self, text: str | None, *, user: str = "anna", **activity: Any) -> list[Activity]:
        """What is said to a message."""
        adapter = TestAdapter(self.on_turn)
        spoken = {"type": ActivityTypes.message, "channel_id": "webchat", "from_property": ChannelAccount(id=user)}
        await adapter.receive_activity(Activity(text=text, **{**spoken, **activity}))
        return adapter.activity_buffer

    def press(self, question: Activity, number: int, **activity: Any) -> list[Activity]:
        """What is said to a button of a message of the bot."""
        button = buttons(question)[number - 1]
        return self.hear(button.text, value=button.value, **activity)

    @property
    def top(self) -> str:
        """The intent that the last message was recognised as."""
        return self.results[-1].get_top_scoring_intent().intent


def buttons(reply: Activity) -> list[Any]:
    (card,) = reply.attachments
    assert card.content_type == "application/vnd.microsoft.card.hero"
    return card.content.buttons


def texts(replies: list[Activity]) -> list[str]:
    return [reply.text for reply in replies]


@pytest.fixture
def chat() -> Chat:
    return Chat()


def test_it_is_a_recognizer_as_any_other(chat):
    """A message makes a result with the scores of all intents, the best on top."""
    assert isinstance(chat.recognizer, Recognizer)

    chat.hear("where might my order be")
    (result,) = chat.results

    assert (result.text, chat.top) == ("where might my order be", "order_status")
    assert {"order_status", "cancel_order"} <= set(result.intents)
    assert all(0 <= intent.score <= result.intents["order_status"].score for intent in result.intents.values())
    assert result.properties["turn"].intent == "order_status"
    assert result.serialize()["intents"]["order_status"]["score"] > 0


def test_the_response_comes_from_the_yaml(chat):
    """In the language of the message."""
    assert texts(chat.hear("where is my order")) == ["On its way."]
    assert texts(chat.hear("wo bleibt meine bestellung")) == ["Unterwegs."]


def test_the_test_adapter_of_bot_framework_agrees(chat):
    """Its `test` compares what a bot says."""
    asyncio.run(TestAdapter(chat.on_turn).test("where is my order", "On its way."))
    with pytest.raises(AssertionError):
        asyncio.run(TestAdapter(chat.on_turn).test("where is my order", "Cancelled."))


def test_a_doubt_is_asked_about_with_buttons(chat):
    """And is no intent yet."""
    (question,) = chat.hear("my order")

    assert chat.top == NONE
    assert question.text == DID_YOU_MEAN
    assert [button.title for button in buttons(question)] == TITLES
    assert {button.type for button in buttons(question)} == {"messageBack"}


@pytest.mark.parametrize("channel", ["email", "test", "twilio-sms"])
def test_a_channel_without_buttons_gets_numbers(chat, channel):
    """Where the user types."""
    (question,) = chat.hear("my order", channel_id=channel)

    assert question.text == NUMBERED
    assert not question.attachments


def test_a_button_chooses(chat):
    """Once; then its question is over. What it sends as a text is of no account."""
    (question,) = chat.hear("my order")

    assert texts(chat.hear(None, value=buttons(question)[1].value)) == ["Cancelled."]
    assert chat.results[-1].intents["cancel_order"].score == 1.0
    assert chat.top == "cancel_order"
    (late,) = texts(chat.press(question, 1))
    assert late.startswith(TOO_LATE)
    assert chat.top == NONE


@pytest.mark.parametrize("value", ["im:1:1", {"choice": 7}, {"choice": "red"}, {"choice": ["im:"]}, 7, [], {}])
def test_a_value_of_someone_elses_chooses_nothing(chat, value):
    """Cards of the bot's own send values too; the text is what counts then."""
    chat.hear("my order")

    assert texts(chat.hear("2", value=value)) == ["Cancelled."]
    assert chat.hear(None, value=value) == []


@pytest.mark.parametrize("answer", ["2", "cancel an order", "cancel"])
def test_a_number_or_words_choose_too(chat, answer):
    """For those who write on; whatever the answer would mean on its own, the intent is on top."""
    chat.hear("my order")

    assert texts(chat.hear(answer)) == ["Cancelled."]
    assert chat.top == "cancel_order"


def test_none_of_these_is_none(chat):
    """And nothing is said."""
    (question,) = chat.hear("my order")

    assert chat.press(question, 3) == []
    assert chat.top == NONE


def test_a_slot_is_asked_for(chat):
    """And is there with the intent, as the entities of LUIS are."""
    assert texts(chat.hear("take down my name")) == ["What is your name?"]
    assert (chat.top, chat.results[-1].entities) == (NONE, {"$instance": {}})
    assert texts(chat.hear("Anna")) == ["Hello, Anna!"]
    assert chat.top == "tell_name"
    assert chat.results[-1].entities == {
        "name": ["Anna"],
        "$instance": {"name": [{"type": "name", "text": "Anna", "startIndex": 0, "endIndex": 4}]},
    }


def test_what_is_not_understood_is_none(chat):
    """With nothing to say; what came nearest is told below it."""
    assert chat.hear("quantum chromodynamics") == []
    assert chat.top == NONE
    assert chat.results[-1].intents[NONE].score == 1.0
    assert len(chat.results[-1].intents) > 1


def test_an_intent_may_be_called_none():
    """As every LUIS app has one."""
    intents = (Intent(NONE, (Utterance("quantum"),)), Intent("greet", (Utterance("hello"), Utterance("good day"))))
    chat = Chat(Dialogue(Matcher.load(Registry(intents), encoder=GatedEncoder(), threshold=0.4, cache="off")))

    chat.hear("quantum")
    assert (chat.top, chat.results[-1].properties["turn"].intent) == (NONE, NONE)
    chat.hear("hello")
    assert chat.top == "greet"
    chat.hear("zebra")
    assert chat.top == NONE


@pytest.mark.parametrize(
    "activity",
    [
        {"text": ""},
        {"text": None},
        {"attachments": [Attachment(content_type="image/png", content_url="http://localhost/x.png")]},
        {"text": "where is my order", "type": ActivityTypes.message_update},
        {"text": "where is my order", "type": ActivityTypes.event},
        {"text": "where is my order", "user": "bot"},
        {"type": ActivityTypes.conversation_update},
        {"type": ActivityTypes.typing},
    ],
    ids=lambda activity: " ".join(f"{key}={value}" for key, value in activity.items() if key != "attachments"),
)
def test_what_is_not_said_to_the_bot_is_none(chat, activity):
    """Empty messages, what is edited, and the bot's own."""
    assert chat.hear(**{"text": None, **activity}) == []
    (result,) = chat.results
    assert (chat.top, list(result.intents), result.entities) == (NONE, [NONE], {"$instance": {}})


def test_users_and_places_do_not_answer_for_each_other(chat):
    """What waits for one is not answered by another, nor elsewhere."""
    (question,) = chat.hear("my order")

    assert chat.hear("2", user="bernd") == []
    (late,) = texts(chat.press(question, 2, user="bernd"))
    assert late.startswith(TOO_LATE)
    assert chat.hear("2", conversation=ConversationAccount(id="elsewhere")) == []
    assert chat.hear("2", channel_id="msteams") == []
    assert texts(chat.hear("2")) == ["Cancelled."]


@pytest.mark.parametrize(
    ("mention", "said"),
    [
        ({"type": "mention", "text": "<at>Bot</at>", "mentioned": {"id": "bot"}}, " where is my order"),
        ({"type": "mention", "text": "<at>Bot</at>", "mentioned": {"id": "bernd"}}, "<at>Bot</at> where is my order"),
        ({"type": "mention"}, "<at>Bot</at> where is my order"),
        ({"type": "mention", "text": 7, "mentioned": {"id": "bot"}}, "<at>Bot</at> where is my order"),
        ({"type": "mention", "text": "<at>Bot</at>", "mentioned": "bot"}, "<at>Bot</at> where is my order"),
        ({"type": "clientInfo", "locale": "en"}, "<at>Bot</at> where is my order"),
        ({}, "<at>Bot</at> where is my order"),
    ],
)
def test_a_mention_is_no_part_of_what_is_said(chat, mention, said):
    """If it is one of the bot."""
    activity = Activity().deserialize({"entities": [mention]})

    chat.hear("<at>Bot</at> where is my order", entities=activity.entities)

    assert chat.results[-1].text == said


def test_a_channel_need_not_tell_who_it_is(chat):
    """Neither the user nor the bot."""
    activity = Activity(type="message", text="where is my order", conversation=ConversationAccount(id="group"))

    asyncio.run(chat.on_turn(TurnContext(TestAdapter(), activity)))

    assert chat.top == "order_status"


def test_a_message_is_recognised_once(chat):
    """Several dialogs may ask in one turn; they get the same answer, and what waits is not taken for it twice."""
    seen = []

    async def twice(context: TurnContext) -> None:
        first, second = [await chat.recognizer.recognize(context) for _ in range(2)]
        seen.append(first.properties["turn"] is second.properties["turn"])

    chat.encoder.encoded.clear()
    asyncio.run(TestAdapter(twice).receive_activity("where might my order be"))

    assert seen == [True]
    assert chat.encoder.encoded == ["where might my order be"]


@pytest.mark.parametrize("locale", ["de-DE", "de", "DE_at"])
def test_the_locale_of_the_channel_is_a_hint(chat, locale):
    """For messages that do not tell a language."""
    assert texts(chat.hear("42 7")) == ["A number."]
    assert texts(chat.hear("42 7", locale=locale)) == ["Eine Zahl."]
    assert texts(chat.hear("where is my order", locale="??")) == ["On its way."]


def test_the_loop_goes_on_while_a_message_is_read(chat):
    """A slow model keeps nobody else waiting."""

    async def main() -> list[Activity]:
        chat.encoder.closed_for_a_moment()
        return await chat.ahear("where might my order be")

    assert texts(asyncio.run(main())) == ["On its way."]


def test_the_example_holds_a_conversation(monkeypatch):
    """Over HTTP, with a channel that takes the replies; in two languages, with a question of each kind."""
    monkeypatch.setenv("INTENTMATCH_CACHE", "off")
    bot = example("botbuilder/bot.py")
    said: list[dict[str, Any]] = []

    async def take(request: web.Request) -> web.Response:
        said.append(await request.json())
        return web.json_response({"id": "1"})

    async def main() -> None:
        channel = web.Application()
        channel.router.add_post("/v3/conversations/{conversation}/activities/{activity}", take)
        async with TestServer(channel) as service, TestClient(TestServer(bot.app)) as client:

            async def hear(text: str | None, value: object = None) -> str:
                said.clear()
                body = {
                    "type": "message",
                    "id": "1",
                    "text": text,
                    "value": value,
                    "channelId": "emulator",
                    "serviceUrl": str(service.make_url("/")),
                    "conversation": {"id": "group"},
                    "from": {"id": "anna"},
                    "recipient": {"id": "bot"},
                }
                async with client.post("/api/messages", json=body) as response:
                    assert response.status == 201
                return said[0]["text"] if said else ""

            assert await hear("my order") == DID_YOU_MEAN
            button = said[0]["attachments"][0]["content"]["buttons"][1]
            assert await hear(None, button["value"]) == "Your order is cancelled."
            assert await hear("where is my order?") == "Your order is on its way."
            assert await hear("regnet es?") == "In welcher Stadt?"
            assert await hear("Paris") == "In Paris scheint die Sonne."
            assert await hear("sing a song") == "Sorry, I can help with orders and the weather."
            assert await hear("") == ""

    asyncio.run(main())
