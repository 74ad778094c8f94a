"""CLU's prediction, held against what its documentation shows and its SDK reads."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
import regex
from fastapi import Request
from hypothesis import given
from hypothesis import strategies as st
from speaking import BERLIN, KEY, TWO, client
from starlette.testclient import TestClient

from intentmatch import Matcher
from intentmatch.core.errors import UnknownNameError
from intentmatch.core.result import Entity
from intentmatch.server.bots.bot import Bot
from intentmatch.server.middleware.problems import ProblemError
from intentmatch.server.protocols.clu import _text_elements
from intentmatch.server.routes.schemas.problem_details import ProblemDetails

URL = "/language/:analyze-conversations?api-version=2023-04-01"


def task(text: str, language: str | None = None, **parameters: Any) -> dict:
    """A request as the SDK's samples have it."""
    item = {"participantId": "1", "id": "1", "modality": "text", "language": language, "text": text}
    return {
        "kind": "Conversation",
        "analysisInput": {"conversationItem": item, "isLoggingEnabled": False},
        "parameters": {"projectName": "shop", "deploymentName": "production", "verbose": True, **parameters},
    }


def predicted(client: TestClient, text: str, **parameters: Any) -> dict:
    """The prediction for a text."""
    answer = client.post(URL, json=task(text, **parameters))
    assert answer.status_code == 200
    return answer.json()["result"]["prediction"]


def test_a_text_is_predicted(speaker: TestClient) -> None:
    """The documented shape: all intents by name and score, the best first."""
    answer = speaker.post(URL, json=task("hello you there", language="en"))
    assert answer.json().keys() == {"kind", "result"}
    assert answer.json()["kind"] == "ConversationResult"
    result = answer.json()["result"]
    assert (result["query"], result["detectedLanguage"]) == ("hello you there", "en")
    prediction = result["prediction"]
    assert (prediction["topIntent"], prediction["projectKind"]) == ("greet", "Conversation")
    assert prediction["entities"] == []
    categories = [intent["category"] for intent in prediction["intents"]]
    assert (categories[0], sorted(categories)) == ("greet", ["None", "bye", "greet", "ride"])
    assert all(0 <= intent["confidenceScore"] <= 1 for intent in prediction["intents"])


def test_out_of_scope_is_none_and_the_scores_stay(speaker: TestClient, bot: Matcher) -> None:
    """Below the cut only the top intent changes; the intents are ranked by their scores."""
    prediction = predicted(speaker, "the price of tea in China")
    assert prediction["topIntent"] == "None"
    scores = {intent["category"]: intent["confidenceScore"] for intent in prediction["intents"]}
    assert list(scores.values()) == sorted(scores.values(), reverse=True)
    assert scores.pop("None") == 1 - max(scores.values())


def test_ambiguous_is_none_too(speaker: TestClient, answers: Callable[..., None]) -> None:
    """CLU has no word for it; the two that are close stand in the ranking."""
    answers(verdict="ambiguous", intent=None)
    prediction = predicted(speaker, "hello")
    assert prediction["topIntent"] == "None"
    assert prediction["intents"][0]["category"] == "greet"


@pytest.mark.parametrize("text", ["", "¿?", "a\0b"])
def test_nothing_to_understand_is_none(speaker: TestClient, text: str) -> None:
    """An empty text is answered too."""
    assert predicted(speaker, text)["topIntent"] == "None"


def test_the_matched_intent_leads_whatever_is_left_for_none(
    speaker: TestClient, bot: Matcher, answers: Callable[..., None]
) -> None:
    """A matched intent with a small confidence is still the top intent and the first in the list."""
    answers(candidates=tuple(replace(each, confidence=0.3) for each in bot.match("hello").candidates))
    prediction = predicted(speaker, "hello")
    assert prediction["topIntent"] == prediction["intents"][0]["category"] == "greet"
    assert prediction["intents"][1] == {"category": "None", "confidenceScore": 0.7}


def test_entities_have_their_kinds_resolved(speaker: TestClient, bot: Matcher, answers: Callable[..., None]) -> None:
    """A list names its key, a number and a date their values; a slot of the bot's own kind only its text."""
    text = "a train to Berlin two tomorrow at five"
    day = Entity("day", "2026-12-01", "tomorrow", 22, 30)
    answers(intent="ride", entities=(BERLIN, TWO, day, Entity("word", "at", "at", 31, 33)))
    city, seats, date, word = predicted(speaker, text, stringIndexType="UnicodeCodePoint")["entities"]
    assert city == {
        "category": "city",
        "text": "Berlin",
        "offset": 11,
        "length": 6,
        "confidenceScore": 1.0,
        "extraInformation": [{"extraInformationKind": "ListKey", "key": "BER"}],
    }
    assert seats["resolutions"] == [{"resolutionKind": "NumberResolution", "numberKind": "Integer", "value": 2}]
    assert date["resolutions"] == [
        {
            "resolutionKind": "DateTimeResolution",
            "dateTimeSubKind": "Date",
            "timex": "2026-12-01",
            "value": "2026-12-01",
        }
    ]
    assert word == {"category": "word", "text": "at", "offset": 31, "length": 2, "confidenceScore": 1.0}


@pytest.mark.parametrize(
    ("kind", "offset", "length"),
    [
        (None, 3, 4),
        ("TextElements_v8", 3, 4),
        ("TextElement_V8", 3, 4),
        ("UnicodeCodePoint", 4, 5),
        ("Utf16CodeUnit", 5, 5),
    ],
)
def test_places_count_in_what_was_asked_for(
    speaker: TestClient, answers: Callable[..., None], kind: str | None, offset: int, length: int
) -> None:
    """Text elements, code points or UTF-16; before an entity stands an emoji and a letter of two code points."""
    text = "👋e\u0301 cafe\u0301!"
    answers(entities=(Entity("place", "café", text[4:9], 4, 9),))
    (entity,) = predicted(speaker, text, **({"stringIndexType": kind} if kind else {}))["entities"]
    assert (entity["text"], entity["offset"], entity["length"]) == ("cafe\u0301", offset, length)


@pytest.mark.parametrize(
    ("text", "elements"),
    [
        ("", 0),
        ("abc", 3),
        ("\r\n", 1),
        ("\n\r", 2),
        ("\u0301", 1),
        ("\r\u0301", 2),
        ("각", 1),
        ("\u1100\u1161\u11a8", 1),
        ("가\u11a8나", 2),
        ("각가", 2),
        ("\U0001f1e9\U0001f1ea", 1),
        ("नमस्ते", 4),
        ("กำ", 1),
        ("👩\u200d👩", 2),
        ("👋🏽", 2),
        ("\u200b\u0301", 2),
    ],
)
def test_text_elements_are_those_of_unicode_8(text: str, elements: int) -> None:
    """Marks, Korean syllables, line ends and flags hold together; joined emoji did not yet."""
    assert _text_elements(text) == elements


@given(text=st.text("aé \u0301\u0308\r\n\t가각각\u0915\u093f漢"))
def test_text_elements_agree_with_a_library(text: str) -> None:
    """Where no emoji are concerned, the rules have not changed since."""
    assert _text_elements(text) == len(regex.findall(r"\X", text))


def test_the_language_is_heeded(speaker: TestClient) -> None:
    """A code goes to the bot; an empty one is none; what is no code is the caller's mistake."""
    assert speaker.post(URL, json=task("hello", language="de")).json()["result"]["detectedLanguage"] == "de"
    assert speaker.post(URL, json=task("hello", language="")).status_code == 200
    answer = speaker.post(URL, json=task("hello", language="deutsch"))
    assert (answer.status_code, answer.json()["error"]["code"]) == (400, "InvalidArgument")


@pytest.mark.parametrize("headers", [{"Ocp-Apim-Subscription-Key": KEY}, {"Authorization": f"Bearer {KEY}"}])
def test_a_key_opens(guarded: TestClient, headers: dict) -> None:
    """The subscription key, or the token of an identity."""
    assert guarded.post(URL, json=task("hello"), headers=headers).status_code == 200


@pytest.mark.parametrize("headers", [{}, {"Ocp-Apim-Subscription-Key": "wrong"}, {"Authorization": KEY}])
def test_a_wrong_key_is_refused(guarded: TestClient, headers: dict) -> None:
    """In CLU's shape; the key is in no answer."""
    answer = guarded.post(URL, json=task("hello"), headers=headers)
    assert answer.status_code == 401
    assert answer.json().keys() == {"error"}
    assert answer.json()["error"]["code"] == "Unauthorized"
    assert "wrong" not in answer.json()["error"]["message"].replace("wrong API endpoint", "")


def test_the_project_is_the_bot(bot: Matcher, monkeypatch: pytest.MonkeyPatch) -> None:
    """The bot is asked for by the project's name; one that there is not is not found."""
    asked = []

    async def bot_named(only: Bot, request: Request, name: str | None) -> Bot:
        asked.append(name)
        if name != "shop":
            raise ProblemError(ProblemDetails.for_status(404, str(UnknownNameError("bot", str(name), ["shop"]))))
        return only

    monkeypatch.setattr(Bot, "bot_named", bot_named)
    speaking = client(bot)
    assert speaking.post(URL, json=task("hello")).status_code == 200
    answer = speaking.post(URL, json=task("hello", projectName="shpo"))
    assert asked == ["shop", "shpo"]
    assert (answer.status_code, answer.json()["error"]["code"]) == (404, "NotFound")
    assert "Did you mean 'shop'?" in answer.json()["error"]["message"]


@pytest.mark.parametrize(
    ("change", "target"),
    [
        ({"kind": "ConversationalSummarizationTask"}, "kind"),
        ({"analysisInput": {}}, "analysisInput.conversationItem"),
        ({"analysisInput": {"conversationItem": {"text": None}}}, "analysisInput.conversationItem.text"),
        ({"parameters": {"deploymentName": "production"}}, "parameters.projectName"),
        ({"parameters": {"projectName": "p", "stringIndexType": "Bytes"}}, "parameters.stringIndexType"),
    ],
)
def test_what_is_wrong_is_named(speaker: TestClient, change: dict, target: str) -> None:
    """Each thing to put right has its place in the request."""
    answer = speaker.post(URL, json={**task("hello"), **change})
    error = answer.json()["error"]
    assert (answer.status_code, error["code"]) == (400, "InvalidArgument")
    assert target in {detail["target"] for detail in error["details"]}
