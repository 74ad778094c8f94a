"""Payloads of Rasa's buttons over Rasa's HTTP API, compared with what Rasa's `RegexMessageHandler` makes of them."""

from __future__ import annotations

from typing import Any

import pytest
from starlette.testclient import TestClient


def parse(client: TestClient, text: str) -> dict[str, Any]:
    answer = client.post("/model/parse", json={"text": text})
    assert answer.status_code == 200
    return answer.json()


@pytest.mark.parametrize("text", ["/greet", " /greet \n", "/affirm", "/restart", "/EXTERNAL_reminder"])
def test_payload_is_the_intent_that_it_names(protocol_client: TestClient, text: str) -> None:
    """Also an intent with buttons and no utterances, which only the bot's domain has, and one of Rasa's own."""
    parsed = parse(protocol_client, text)
    intent = {"name": text.strip().removeprefix("/"), "confidence": 1.0}
    assert parsed == {"text": text.strip(), "intent": intent, "entities": [], "intent_ranking": [intent]}


def test_json_holds_entities(protocol_client: TestClient) -> None:
    """A list is one entity for each item; bounds are those of the JSON."""
    text = '/ride{"city": ["Rome", "Oslo"], "seats": 2, "day": {"at": null}}'
    parsed = parse(protocol_client, text)
    assert (parsed["intent"]["name"], parsed["intent"]["confidence"]) == ("ride", 1.0)
    found = [(entity["entity"], entity["value"]) for entity in parsed["entities"]]
    assert found == [("city", "Rome"), ("city", "Oslo"), ("seats", 2), ("day", {"at": None})]
    assert {(entity["start"], entity["end"]) for entity in parsed["entities"]} == {(5, len(text))}
    assert {entity["extractor"] for entity in parsed["entities"]} == {"RegexMessageHandler"}


@pytest.mark.parametrize(
    "wrong",
    [
        "{city: Rome}",
        '{"city": "Rome"',
        '{"city"} more',
        '{"city": NaN}',
        '{"city": 1e999}',
        '{"city": "\\ud800"}',
        '{"city": ' + "[" * 1900 + "}",
        "{}",
    ],
)
def test_invalid_json_gives_no_entities(protocol_client: TestClient, wrong: str) -> None:
    """The intent counts all the same."""
    parsed = parse(protocol_client, f"/ride{wrong}")
    assert (parsed["intent"], parsed["entities"]) == ({"name": "ride", "confidence": 1.0}, [])


@pytest.mark.parametrize(
    ("given", "confidence"), [("@0.7", 0.7), ("@1.5", 1.0), ("@0.5.5", 0.0), ('@0.7{"city": "Rome"}', 0.7)]
)
def test_payload_may_state_a_confidence(protocol_client: TestClient, given: str, confidence: float) -> None:
    parsed = parse(protocol_client, f"/ride{given}")
    assert parsed["intent"] == {"name": "ride", "confidence": confidence}
    assert len(parsed["entities"]) == given.count("{")


@pytest.mark.parametrize("text", ["/", "//", "/{}", "/@11", "/who won the cup", "/no/such", "and/or", "1/2"])
def test_other_text_with_a_slash_is_matched(protocol_client: TestClient, text: str) -> None:
    """As text of the user, as Rasa does with an intent that it does not know."""
    assert parse(protocol_client, text)["intent"]["name"] == "nlu_fallback"


def test_text_with_known_words_after_the_slash_is_matched(protocol_client: TestClient) -> None:
    assert parse(protocol_client, "/a train to Berlin")["intent"]["name"] == "ride"
