"""CLU's prediction API, checked against its documentation and its SDK."""

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
from intentmatch.server.protocols.clu import _resolved, _text_elements
from intentmatch.server.routes.schemas.problem_details import ProblemDetails

URL = "/language/:analyze-conversations?api-version=2023-04-01"


def task(text: str, language: str | None = None, **parameters: Any) -> dict:
    """A request as in the samples of the SDK."""
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


def test_response_has_the_documented_shape(protocol_client: TestClient) -> None:
    """All intents by name and score, best first."""
    answer = protocol_client.post(URL, json=task("hello you there", language="en"))
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


def test_out_of_scope_is_none_with_scores(protocol_client: TestClient, bot: Matcher) -> None:
    """Only the top intent changes."""
    prediction = predicted(protocol_client, "the price of tea in China")
    assert prediction["topIntent"] == "None"
    scores = {intent["category"]: intent["confidenceScore"] for intent in prediction["intents"]}
    assert list(scores.values()) == sorted(scores.values(), reverse=True)
    assert scores.pop("None") == 1 - max(scores.values())


def test_ambiguous_is_none(protocol_client: TestClient, answers: Callable[..., None]) -> None:
    """Both close intents are in the ranking."""
    answers(verdict="ambiguous", intent=None)
    prediction = predicted(protocol_client, "hello")
    assert prediction["topIntent"] == "None"
    assert prediction["intents"][0]["category"] == "greet"


@pytest.mark.parametrize("text", ["", "¿?", "x\0y"])
def test_empty_text_is_none(protocol_client: TestClient, text: str) -> None:
    assert predicted(protocol_client, text)["topIntent"] == "None"


def test_matched_intent_leads_even_with_low_confidence(
    protocol_client: TestClient, bot: Matcher, answers: Callable[..., None]
) -> None:
    answers(candidates=tuple(replace(each, confidence=0.3) for each in bot.match("hello").candidates))
    prediction = predicted(protocol_client, "hello")
    assert prediction["topIntent"] == prediction["intents"][0]["category"] == "greet"
    assert prediction["intents"][1] == {"category": "None", "confidenceScore": 0.7}


def test_entities_are_resolved_by_kind(protocol_client: TestClient, bot: Matcher, answers: Callable[..., None]) -> None:
    text = "a train to Berlin two tomorrow at five"
    day = Entity("day", "2026-12-01", "tomorrow", 22, 30)
    answers(intent="ride", entities=(BERLIN, TWO, day, Entity("word", "at", "at", 31, 33)))
    city, seats, date, word = predicted(protocol_client, text, stringIndexType="UnicodeCodePoint")["entities"]
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
def test_positions_count_in_the_requested_unit(
    protocol_client: TestClient, answers: Callable[..., None], kind: str | None, offset: int, length: int
) -> None:
    """Text elements, code points or UTF-16."""
    text = "👋e\u0301 cafe\u0301!"
    answers(entities=(Entity("place", "café", text[4:9], 4, 9),))
    (entity,) = predicted(protocol_client, text, **({"stringIndexType": kind} if kind else {}))["entities"]
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
def test_text_elements_follow_unicode_8(text: str, elements: int) -> None:
    """Marks, Korean syllables, line ends and flags are joined; emoji are not."""
    assert _text_elements(text) == elements


@given(text=st.text("aé \u0301\u0308\r\n\t가각각\u0915\u093f漢"))
def test_text_elements_agree_with_the_regex_library(text: str) -> None:
    """Except for emoji, the rules have not changed since Unicode 8."""
    assert _text_elements(text) == len(regex.findall(r"\X", text))


def test_language_is_used(protocol_client: TestClient) -> None:
    """An empty code is ignored; an invalid one is the caller's mistake."""
    assert protocol_client.post(URL, json=task("hello", language="de")).json()["result"]["detectedLanguage"] == "de"
    assert protocol_client.post(URL, json=task("hello", language="")).status_code == 200
    answer = protocol_client.post(URL, json=task("hello", language="deutsch"))
    assert (answer.status_code, answer.json()["error"]["code"]) == (400, "InvalidArgument")


@pytest.mark.parametrize("headers", [{"Ocp-Apim-Subscription-Key": KEY}, {"Authorization": f"Bearer {KEY}"}])
def test_valid_key_is_accepted(guarded: TestClient, headers: dict) -> None:
    """As subscription key or as token."""
    assert guarded.post(URL, json=task("hello"), headers=headers).status_code == 200


@pytest.mark.parametrize("headers", [{}, {"Ocp-Apim-Subscription-Key": "wrong"}, {"Authorization": KEY}])
def test_wrong_key_is_refused(guarded: TestClient, headers: dict) -> None:
    """The answer does not show it."""
    answer = guarded.post(URL, json=task("hello"), headers=headers)
    assert answer.status_code == 401
    assert answer.json().keys() == {"error"}
    assert answer.json()["error"]["code"] == "Unauthorized"
    assert "wrong" not in answer.json()["error"]["message"].replace("wrong API endpoint", "")


def test_project_names_the_bot(bot: Matcher, monkeypatch: pytest.MonkeyPatch) -> None:
    names = []

    async def bot_named(only: Bot, request: Request, name: str | None) -> Bot:
        names.append(name)
        if name != "shop":
            raise ProblemError(ProblemDetails.for_status(404, str(UnknownNameError("bot", str(name), ["shop"]))))
        return only

    monkeypatch.setattr(Bot, "bot_named", bot_named)
    caller = client(bot)
    assert caller.post(URL, json=task("hello")).status_code == 200
    answer = caller.post(URL, json=task("hello", projectName="shpo"))
    assert names == ["shop", "shpo"]
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
def test_mistakes_are_located(protocol_client: TestClient, change: dict, target: str) -> None:
    answer = protocol_client.post(URL, json={**task("hello"), **change})
    error = answer.json()["error"]
    assert (answer.status_code, error["code"]) == (400, "InvalidArgument")
    assert target in {detail["target"] for detail in error["details"]}


@pytest.mark.parametrize(
    ("kind", "value", "expected"),
    [
        (
            "money",
            {"amount": 5, "currency": "EUR"},
            {"resolutionKind": "CurrencyResolution", "ISO4217": "EUR", "value": 5},
        ),
        ("temperature", {"amount": 21, "unit": "C"}, {"resolutionKind": "TemperatureResolution", "unit": "Celsius"}),
        ("temperature", {"amount": 21, "unit": None}, {"unit": "Unspecified", "value": 21}),
        ("ordinal", 2, {"resolutionKind": "OrdinalResolution", "offset": "2", "relativeTo": "Start"}),
        ("ordinal", -1, {"offset": "0", "relativeTo": "End"}),
        ("duration", "PT5M", {"resolutionKind": "DateTimeResolution", "dateTimeSubKind": "Duration", "timex": "PT5M"}),
        ("datetime", "2026-11-22", {"dateTimeSubKind": "Date", "timex": "2026-11-22"}),
        ("datetime", "2026-11-22T08:00", {"dateTimeSubKind": "DateTime", "value": "2026-11-22 08:00"}),
        (
            "datetime",
            {"from": "2026-11-23", "to": "2026-11-29"},
            {"resolutionKind": "TemporalSpanResolution", "begin": "2026-11-23", "end": "2026-11-29"},
        ),
    ],
)
def test_values_of_several_parts_have_resolutions(kind: Any, value: Any, expected: dict[str, Any]) -> None:
    (found,) = _resolved(value, kind)["resolutions"]
    assert {key: found[key] for key in expected} == expected


@pytest.mark.parametrize(("kind", "value"), [("money", "5"), ("temperature", 5), ("email", "a@b.example")])
def test_other_values_have_no_resolution(kind: Any, value: Any) -> None:
    assert _resolved(value, kind) == {}
