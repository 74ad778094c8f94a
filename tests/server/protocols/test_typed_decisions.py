"""Typed decisions: what becomes of options, yes/no questions and scores, in System One and in OpenAI's decisions."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import pytest
from speaking import REGISTRY, client
from starlette.testclient import TestClient

from intentmatch import Matcher
from intentmatch.core.types import Intent, Registry, TraitQuestion, Utterance
from intentmatch.server import BotFolder, create_app
from intentmatch.server.protocols import typed_decisions

UNIFORM = 1 / 3


def one(client: TestClient, question: dict[str, Any], state: Any = "goodbye", model: str = "jev-latest") -> Any:
    """The answer to one question of System One."""
    body = {"model": model, "state": state, "questions": {"q": question}}
    answer = client.post("/v1/systemone", json=body)
    assert answer.status_code == 200, answer.text
    return answer.json()["answers"]["q"]


def chosen(client: TestClient, *options: str, state: Any = "goodbye") -> Any:
    return one(client, {"type": "choice", "criteria": dict.fromkeys(options)}, state)


def decided(client: TestClient, question: dict[str, Any], given: Any = "goodbye") -> Any:
    """The answer to one question of decisions."""
    answer = client.post("/v1/decisions", json={"model": "gpt-6-luna", "input": given, "questions": [question]})
    assert answer.status_code == 200, answer.text
    return answer.json()["answers"][0]


def test_option_with_the_name_of_an_intent_has_its_confidence(protocol_client: TestClient) -> None:
    answer = chosen(protocol_client, "greet", "Bye", "none")
    assert (answer["choice"], answer["x_decided_by"]) == ("Bye", "intents")
    assert answer["probabilities"]["Bye"] == pytest.approx(1.0)
    assert answer["confidence"] == pytest.approx(1.0)


@pytest.mark.parametrize("state", ["xqz wvk", ""])
def test_no_intent_is_the_option_none(protocol_client: TestClient, state: str) -> None:
    assert chosen(protocol_client, "greet", "bye", "none", state=state)["choice"] == "none"


def test_options_of_intents_are_equally_likely_for_a_message_of_none(protocol_client: TestClient) -> None:
    answer = chosen(protocol_client, "greet", "bye", "ride", state="xqz wvk")
    assert list(answer["probabilities"].values()) == pytest.approx([UNIFORM] * 3)
    assert answer["confidence"] == pytest.approx(0.0)


def test_option_that_is_no_intent_is_decided_by_its_text(protocol_client: TestClient) -> None:
    criteria = {"greet": None, "billing": "invoices and payments", "weather": "rain and sunshine"}
    question = {"type": "choice", "criteria": criteria}
    answer = one(protocol_client, question, "will there be rain or sunshine tomorrow")
    assert answer["choice"] == "weather"
    assert answer["probabilities"]["weather"] > 0.5
    assert math.isclose(sum(answer["probabilities"].values()), 1)


def test_question_without_options_is_about_the_intents(protocol_client: TestClient) -> None:
    answer = one(protocol_client, {"type": "choice", "instructions": "Which?"})
    assert answer["choice"] == "bye"
    assert set(answer["probabilities"]) == {"greet", "bye", "ride", "pay", "none"}
    same = decided(protocol_client, {"type": "choice", "instructions": "Which?"})
    assert {each["value"]: each["probability"] for each in same["probabilities"]} == answer["probabilities"]


def test_yes_or_no_about_an_intent_is_its_confidence(protocol_client: TestClient) -> None:
    assert one(protocol_client, {"type": "noul", "instructions": "Bye"})["noul"] == pytest.approx(1.0)
    assert one(protocol_client, {"type": "noul", "instructions": "greet"})["noul"] < 0.1
    assert decided(protocol_client, {"type": "predicate", "instructions": "bye"})["probability"] == pytest.approx(1.0)


def test_yes_or_no_about_nothing_known_is_compared_by_text(protocol_client: TestClient) -> None:
    question = {"type": "noul", "instructions": "It is about rain.", "criteria": {"false": "It is about money."}}
    assert one(protocol_client, question, "will it rain again")["noul"] > 0.5
    assert one(protocol_client, question, "I need money")["noul"] < 0.5


def test_meaning_of_a_no_alone_can_be_answered_by_yes(protocol_client: TestClient) -> None:
    question = {"type": "noul", "criteria": {"false": "It is about money."}}
    assert one(protocol_client, question, "will it rain again")["noul"] > 0.5
    assert one(protocol_client, question, "I need money")["noul"] < 0.5


@pytest.mark.parametrize(
    "question",
    [
        {"type": "predicate", "instructions": "The customer is angry."},
        {"type": "score", "instructions": "How angry?", "levels": [{"label": "calm"}, {"label": "furious"}]},
    ],
)
def test_decisions_refuse_what_the_registry_does_not_know(protocol_client: TestClient, question: dict) -> None:
    assert decided(protocol_client, {**question, "name": "mood"}) == {"type": "refusal", "name": "mood"}


def test_levels_that_are_intents_are_scored(protocol_client: TestClient) -> None:
    question = {"type": "score", "instructions": "", "levels": [{"label": "greet"}, {"label": "bye"}]}
    assert decided(protocol_client, question)["score"] == pytest.approx(1.0)
    assert one(protocol_client, {"type": "score", "criteria": ["greet", "bye"]})["score"] == pytest.approx(1.0)


def test_choices_of_decisions_keep_their_type(protocol_client: TestClient) -> None:
    question = {"type": "choice", "instructions": "", "choices": [{"value": True}, {"value": "true"}]}
    assert [each["value"] for each in decided(protocol_client, question)["probabilities"]] == [True, "true"]


@pytest.mark.parametrize(
    "state",
    [
        [{"role": "user", "content": "hello"}, {"role": "user", "content": "goodbye"}],
        [{"role": "user", "content": "goodbye"}, {"role": "assistant", "content": "hello"}],
        [{"role": "user", "content": [{"type": "input_text", "text": "goodbye"}]}],
        {"message": "goodbye"},
        ["goodbye"],
    ],
)
def test_message_is_what_the_user_said_last(protocol_client: TestClient, state: Any) -> None:
    assert chosen(protocol_client, "greet", "bye", "none", state=state)["choice"] == "bye"


def test_refused_intent_is_not_likely() -> None:
    lines = {"cancel": ["cancel my order", "I want to cancel the order"], "track": ["where is my parcel"]}
    registry = Registry(tuple(Intent(n, tuple(Utterance(t, "en") for t in ts)) for n, ts in lines.items()))
    caller = client(Matcher.load(registry, cache="off"))
    assert chosen(caller, "cancel", "track", "none", state="cancel my order")["confidence"] > 0.5
    refused = chosen(caller, "cancel", "track", "none", state="please don't cancel my order")
    assert refused["probabilities"]["cancel"] <= 0.5


def test_questions_without_options_compare_all_intents_once(
    protocol_client: TestClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A short request of 400 questions about 1,000 intents kept all other callers waiting for 26 seconds."""
    compared: list[int] = []
    intents_of = typed_decisions.intents_of

    def counted(named: Any, options: Any) -> list[str | None]:
        compared.extend([len(options)] if options else [])
        return intents_of(named, options)

    monkeypatch.setattr(typed_decisions, "intents_of", counted)
    question = {"type": "choice", "instructions": "What is meant?"}
    body = {"model": "m", "state": "goodbye", "questions": {str(number): question for number in range(40)}}
    given = {"model": "m", "input": "goodbye", "questions": [question] * 40}

    assert len(protocol_client.post("/v1/systemone", json=body).json()["answers"]) == 40
    assert len(compared) == 1
    assert len(protocol_client.post("/v1/decisions", json=given).json()["answers"]) == 40
    assert len(compared) == 2


def test_more_different_options_than_are_kept_are_refused(protocol_client: TestClient) -> None:
    """They would fill the queue of messages for seconds, and other callers would get 503."""
    criteria = [dict.fromkeys(f"option {first + number}" for number in range(255)) for first in range(0, 17 * 255, 255)]
    questions = {str(number): {"type": "choice", "criteria": names} for number, names in enumerate(criteria)}

    answer = protocol_client.post("/v1/systemone", json={"model": "m", "state": "goodbye", "questions": questions})

    assert (answer.status_code, "4335 different options are no intents" in answer.text) == (422, True)


@pytest.mark.parametrize(
    ("question", "place"),
    [
        ({"type": "box", "instructions": "the mug"}, ["body", "questions", "q"]),
        ({"type": "choice", "criteria": {}}, ["body", "questions", "q", "choice", "criteria"]),
        ({"type": "score", "criteria": {"0": "calm"}}, ["body", "questions", "q", "score", "criteria"]),
        ({"type": "noul"}, ["body", "questions", "q", "noul"]),
    ],
)
def test_mistakes_are_listed_with_their_place(protocol_client: TestClient, question: dict, place: list) -> None:
    body = {"model": "m", "state": "hello", "questions": {"q": question}}
    answer = protocol_client.post("/v1/systemone", json=body)
    assert answer.status_code == 422
    assert answer.json()["detail"][0]["loc"] == place


def test_levels_that_are_no_json_are_refused(protocol_client: TestClient) -> None:
    body = '{"model": "m", "state": "a", "questions": {"q": {"type": "score", "criteria": [{"a": NaN}, "b"]}}}'
    assert protocol_client.post("/v1/systemone", content=body).status_code == 422


@pytest.mark.parametrize("choices", [[{"value": "a"}], [{"value": "a"}, {"value": "a"}]])
def test_choices_of_decisions_are_two_or_more_and_unique(protocol_client: TestClient, choices: list) -> None:
    question = {"type": "choice", "instructions": "", "choices": choices}
    answer = protocol_client.post("/v1/decisions", json={"model": "m", "input": "a", "questions": [question]})
    assert (answer.status_code, answer.json()["error"]["type"]) == (400, "invalid_request_error")


def test_models_are_the_encoder_and_the_bot(bot: Matcher) -> None:
    """Each protocol lists its own, and both theirs at once."""
    answers = {
        protocols: client(bot, protocols=protocols).get("/v1/models").json()
        for protocols in (("openai",), ("systemone",), ("openai", "systemone"), ("systemone", "openai"))
    }
    assert answers["openai",].keys() == {"object", "data"}
    assert [model["name"] for model in answers["systemone",]["models"]] == ["intentmatch", "jev-latest"]
    both = answers["openai", "systemone"]
    assert both == answers["systemone", "openai"] == {**answers["openai",], **answers["systemone",]}


@pytest.fixture(scope="module")
def asking() -> TestClient:
    """A bot with questions of its own."""
    lines = {
        "yes": ["I need it today", "this is an emergency", "please hurry", "it cannot wait", "as soon as possible"],
        "no": ["no hurry", "whenever you have time", "it can wait", "take your time", "there is no rush"],
    }
    mood = {
        "very calm": ["all is well", "I am relaxed", "no problem"],
        "furious": ["I am furious", "outrageous", "awful"],
    }
    urgent, feeling = (
        {name: tuple(map(Utterance, texts)) for name, texts in answers.items()} for answers in (lines, mood)
    )
    questions = TraitQuestion("urgent", urgent, "Is it urgent?"), TraitQuestion("how_angry", feeling)
    bot = Matcher.load(Registry(REGISTRY.intents, questions=questions))
    return client(bot)


@pytest.mark.parametrize("instructions", ["Is it urgent?", "urgent", "is it urgent"])
def test_yes_or_no_about_a_question_of_the_registry_is_its_confidence(asking: TestClient, instructions: str) -> None:
    question = {"type": "noul", "instructions": instructions}
    assert one(asking, question, "please hurry") == {"type": "noul", "noul": 1.0, "x_decided_by": "questions"}
    assert one(asking, question, "no hurry")["noul"] == 0.0
    assert one(asking, question, "goodbye")["noul"] < 0.5
    assert decided(asking, {"type": "predicate", "instructions": instructions}, "please hurry")["probability"] == 1.0


def test_question_of_the_registry_may_be_named_by_the_name_of_the_question(asking: TestClient) -> None:
    question = {"type": "predicate", "instructions": "The matter cannot wait.", "name": "urgent"}
    assert decided(asking, question, "please hurry")["probability"] == 1.0
    body = {"model": "jev-latest", "state": "please hurry", "questions": {"urgent": {"type": "choice"}}}
    answer = asking.post("/v1/systemone", json=body).json()["answers"]["urgent"]
    assert answer["probabilities"] == {"yes": 1.0, "no": 0.0, "none": 0.0}


def test_choices_and_levels_may_be_answers(asking: TestClient) -> None:
    options = [{"label": "very_calm"}, {"label": "furious"}]
    score = {"type": "score", "instructions": "how angry", "levels": options}
    assert decided(asking, score, "I am furious")["score"] == 1.0
    choice = {"type": "choice", "instructions": "how angry", "choices": [{"value": each["label"]} for each in options]}
    assert decided(asking, choice, "all is well")["choice"] == "very_calm"


def test_what_a_message_does_not_say_is_the_option_none(asking: TestClient) -> None:
    question = {"type": "choice", "instructions": "urgent", "criteria": {"yes": None, "no": None, "none": None}}
    answer = one(asking, question, "goodbye")
    assert answer["choice"] == "none"
    assert sum(answer["probabilities"].values()) == pytest.approx(1.0)


def test_options_that_are_no_answers_are_decided_by_intents(asking: TestClient) -> None:
    question = {"type": "choice", "instructions": "urgent", "criteria": {"greet": None, "bye": None}}
    answer = one(asking, question, "goodbye")
    assert (answer["choice"], answer["x_decided_by"]) == ("bye", "intents")


def test_an_intent_goes_before_a_question(asking: TestClient) -> None:
    body = {"model": "jev-latest", "state": "goodbye", "questions": {"urgent": {"type": "noul", "instructions": "bye"}}}
    answer = asking.post("/v1/systemone", json=body).json()["answers"]["urgent"]
    assert answer["x_decided_by"] == "intents"
    assert answer["noul"] == pytest.approx(1.0)


def test_model_names_the_bot_of_several(tmp_path: Path) -> None:
    for name in ("bank", "shop"):
        (tmp_path / name).mkdir()
        text = f"settings: {{cache: off}}\nintents: {{{name}: {{utterances: [hello, hi there]}}}}\n"
        (tmp_path / name / "bot.yaml").write_text(text, encoding="utf-8")
    keys = ["shop:one", "*:all"]
    with TestClient(create_app(BotFolder(tmp_path), protocols=["systemone", "decisions"], keys=keys)) as caller:
        caller.headers["authorization"] = "Bearer all"
        question = {"type": "choice", "criteria": {"bank": None, "shop": None, "none": None}}
        assert [one(caller, question, "hello", model=name)["choice"] for name in ("bank", "shop")] == ["bank", "shop"]
        assert [model["name"] for model in caller.get("/v1/models").json()["models"]] == ["bank", "shop"]
        body = {"model": "jev-latest", "state": "hello", "questions": {"q": question}}
        unknown = caller.post("/v1/systemone", json=body)
        assert (unknown.status_code, unknown.json()["detail"]["error_type"]) == (404, "not_found")
        caller.headers["authorization"] = "Bearer one"
        foreign = caller.post("/v1/systemone", json={**body, "model": "bank"})
        assert (foreign.status_code, foreign.json()["detail"]["error_type"]) == (403, "permission_error")
        assert [model["name"] for model in caller.get("/v1/models").json()["models"]] == ["shop"]


def test_vectors_of_options_are_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    """Routers send the same options with every message."""
    matcher = Matcher.load(REGISTRY, cache="off")
    encoded: list[str] = []
    encode = matcher.encoder.encode
    monkeypatch.setattr(
        type(matcher.encoder), "encode", lambda _, texts, **options: encoded.extend(texts) or encode(texts, **options)
    )
    caller = client(matcher)
    for _ in range(2):
        one(caller, {"type": "choice", "criteria": {"weather": "rain and sunshine", "sport": None}}, "hello")
    assert encoded.count("weather: rain and sunshine") == 1
