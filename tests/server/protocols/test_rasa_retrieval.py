"""Retrieval intents over Rasa's HTTP API, compared with the output of Rasa's response selector."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import pytest
from speaking import client
from starlette.testclient import TestClient

from intentmatch import Matcher
from intentmatch.core.result import Candidate, MatchResult, Trace
from intentmatch.core.types import Intent, Registry, Utterance
from intentmatch.matching.snapshot import Snapshot
from intentmatch.server.protocols.rasa_retrieval import decided, groups_of, ranking, response_selector

NAMES = ("greet", "faq/ask_hours", "faq/ask_price")
GROUPS = groups_of(NAMES)


def intent(name: str, *lines: str, response: str | None = None) -> Intent:
    return Intent(name, tuple(Utterance(line) for line in lines), responses={"": response} if response else {})


REGISTRY = Registry(
    (
        intent("greet", "hello", "hi there", "good morning", response="Hello!"),
        intent(
            "faq/ask_hours", "when are you open", "your opening hours", "when do you close", response="From 9 to 5."
        ),
        intent("faq/ask_price", "what does a ticket cost", "the price of a ticket", "is it expensive"),
    )
)


@pytest.fixture(scope="module")
def shop() -> Iterator[TestClient]:
    with client(Matcher.load(REGISTRY, cache="off"), protocols=["rasa"]) as caller:
        yield caller


def parse(caller: TestClient, text: str) -> dict:
    answer = caller.post("/model/parse", json={"text": text})
    assert answer.status_code == 200
    return answer.json()


def result(verdict: str, *confidences: tuple[str, float | None], rivals: int = 0) -> MatchResult:
    """A result with candidates of these confidences, or of score 0.5 without a confidence."""
    candidates = tuple(Candidate(name, 0.5, confidence=confidence) for name, confidence in confidences)
    trace = Trace((), "dense", 0.5, "", "")
    name = candidates[0].intent if verdict == "matched" else None
    return MatchResult("x", verdict, name, 0.5, None, candidates, candidates[:rivals], "en", None, trace)


def test_intent_is_the_part_before_the_slash(shop: TestClient) -> None:
    """The full name, the chosen response and the ranking of the selector are there as from Rasa."""
    parsed = parse(shop, "when are you open tomorrow")

    assert parsed["intent"]["name"] == "faq"
    assert parsed["intent"]["full_retrieval_intent_name"] == "faq/ask_hours"
    assert parsed["intent"] == parsed["intent_ranking"][0]
    assert [entry["name"] for entry in parsed["intent_ranking"]] == ["faq", "greet"]
    assert parsed["response_selector"].keys() == {"all_retrieval_intents", "faq"}
    assert parsed["response_selector"]["all_retrieval_intents"] == ["faq"]
    selected = parsed["response_selector"]["faq"]
    assert selected["response"] == {
        "responses": [{"text": "From 9 to 5."}],
        "confidence": selected["ranking"][0]["confidence"],
        "intent_response_key": "faq/ask_hours",
        "utter_action": "utter_faq/ask_hours",
    }
    assert [entry["intent_response_key"] for entry in selected["ranking"]] == ["faq/ask_hours", "faq/ask_price"]


def test_other_intents_are_answered_as_before(shop: TestClient) -> None:
    """The selector answers too, as in Rasa, unless the message equals an utterance and has no other candidates."""
    parsed = parse(shop, "hello you")

    assert parsed["intent"]["name"] == "greet"
    assert "full_retrieval_intent_name" not in parsed["intent"]
    assert parsed["response_selector"]["faq"]["response"]["intent_response_key"] in NAMES
    assert parse(shop, "hello")["response_selector"] == {"all_retrieval_intents": ["faq"]}


def test_out_of_scope_message_is_the_fallback(shop: TestClient) -> None:
    parsed = parse(shop, "quantum chromodynamics")

    assert parsed["intent_ranking"][0]["name"] == parsed["intent"]["name"] == "nlu_fallback"


def test_empty_message_selects_nothing(shop: TestClient) -> None:
    parsed = parse(shop, " ")

    assert (parsed["intent"]["name"], parsed["intent_ranking"]) == (None, [])
    assert parsed["response_selector"] == {"all_retrieval_intents": ["faq"]}


def test_intent_without_response_answers_its_name(shop: TestClient) -> None:
    selected = parse(shop, "what does a ticket cost")["response_selector"]["faq"]

    assert selected["response"]["responses"] == [{"text": "faq/ask_price"}]


@pytest.mark.parametrize(
    ("names", "groups"),
    [
        (["a", "b"], {}),
        (["faq/a", "faq/b", "x"], {"faq/a": "faq", "faq/b": "faq"}),
        (["faq/a/b"], {"faq/a/b": "faq"}),
        (["/a", "a/", "/"], {}),
        (["faq", "faq/a"], {}),
    ],
)
def test_names_with_a_slash_belong_to_a_retrieval_intent(names: list[str], groups: dict[str, str]) -> None:
    assert groups_of(names) == groups


def test_confidences_of_a_retrieval_intent_add_up() -> None:
    found = result("matched", ("greet", 0.4), ("faq/ask_hours", 0.3), ("faq/ask_price", 0.2))

    assert ranking(found.candidates, GROUPS) == [
        {"name": "faq", "confidence": 0.5, "full_retrieval_intent_name": "faq/ask_hours"},
        {"name": "greet", "confidence": 0.4},
    ]
    selected = response_selector(found.candidates, found.language, REGISTRY, GROUPS)["faq"]
    assert [entry["confidence"] for entry in selected["ranking"]] == [pytest.approx(0.6), pytest.approx(0.4)]


def test_scores_without_calibration_do_not_add_up() -> None:
    found = result("matched", ("faq/ask_hours", None), ("greet", None), ("faq/ask_price", None))

    assert [entry["confidence"] for entry in ranking(found.candidates, GROUPS)] == [0.5, 0.5]
    selected = response_selector(found.candidates, found.language, REGISTRY, GROUPS)["faq"]
    assert [entry["confidence"] for entry in selected["ranking"]] == [0.5, 0.5]


def test_ambiguous_within_a_retrieval_intent_is_that_intent() -> None:
    """But not if the message refuses its only rival, or if another intent is a rival too."""
    faq = ("faq/ask_hours", 0.4), ("faq/ask_price", 0.3)

    assert decided(result("ambiguous", *faq, ("greet", 0.1), rivals=2), GROUPS) == "faq"
    assert decided(result("ambiguous", *faq, ("greet", 0.1), rivals=3), GROUPS) is None
    assert decided(result("ambiguous", *faq, rivals=1), GROUPS) is None
    assert decided(result("out_of_scope", *faq), GROUPS) is None
    assert decided(replace(result("ambiguous", ("greet", 0.4), ("greet", 0.4)), rivals=()), {}) is None


def test_matched_intent_comes_first_in_the_ranking(shop: TestClient, monkeypatch: pytest.MonkeyPatch) -> None:
    """Even if the sum of a retrieval intent is larger."""
    found = result("matched", ("greet", 0.4), ("faq/ask_hours", 0.3), ("faq/ask_price", 0.2))

    monkeypatch.setattr(Snapshot, "match_each", lambda snapshot, asked: [found])
    parsed = parse(shop, "x")

    assert parsed["intent"] == {"name": "greet", "confidence": 0.4}
    assert [entry["name"] for entry in parsed["intent_ranking"]] == ["greet", "faq"]


def test_payload_of_full_name_has_its_response(shop: TestClient) -> None:
    """The name of the retrieval intent alone has none."""
    parsed = parse(shop, "/faq/ask_hours")
    assert parsed["intent"] == {"name": "faq", "confidence": 1.0, "full_retrieval_intent_name": "faq/ask_hours"}
    assert parsed["response_selector"]["faq"]["response"]["responses"] == [{"text": "From 9 to 5."}]
    alone = parse(shop, "/faq")
    assert alone["intent"] == {"name": "faq", "confidence": 1.0}
    assert alone["response_selector"] == {"all_retrieval_intents": ["faq"]}
