"""TypeSafe's SDK, the DecisionRouter of semantic-router, and the conformance suite jevcompat, for System One."""

from __future__ import annotations

import math
import sys
from importlib.metadata import version

import typesafe_sdk
from jevcompat import runner
from semantic_router import Route
from semantic_router.decision_models import SystemOneDecisionModel
from semantic_router.routers import DecisionRouter
from typesafe_sdk import Choice, Noul, Score, TypeSafeClient

OPTIONS = {"order_status": "Where an order is", "ride": "Trains", "none": None}


def conforms(url: str, key: str) -> str:
    """What the conformance suite says; it must have passed every requirement."""
    report = runner.run(url, key=key)
    failed = [result.id for result in report.results if result.status == "fail"]
    assert report.conformant, (report.verdict, failed, report.untested_musts)
    assert not failed, failed
    counts = report.summary()
    return ", ".join(f"{level} {counts[level]['passed']}/{counts[level]['tested']}" for level in ("MUST", "SHOULD"))


def asks(url: str, key: str) -> None:
    with TypeSafeClient(api_key=key, base_url=url) as client:
        questions = {
            "team": Choice(instructions="What is it about?", criteria=OPTIONS),
            "order": Noul(instructions="order status"),
            "angry": Noul(instructions="The customer is angry."),
            "mood": Score(instructions="How angry?", criteria=["calm", "angry", "furious"]),
        }
        answer = client.system_one(state="where is my order", questions=questions)
        assert answer.choices["team"].choice == "order_status"
        assert math.isclose(sum(answer.choices["team"].probabilities.values()), 1, abs_tol=1e-6)
        assert answer.nouls["order"].noul > 0.5
        assert 0 <= answer.nouls["angry"].noul <= 1
        assert set(answer.scores["mood"].legend.values()) == {"calm", "angry", "furious"}
        nothing = client.system_one(state="what is the capital of Peru", questions={"team": questions["team"]})
        assert nothing.choices["team"].choice == "none"
        assert "intentmatch" in [model.name for model in client.models.list().models]
        try:
            client.system_one(state="hello", questions={"q": {"type": "box", "instructions": "the mug"}})
            raise AssertionError("it was not refused")
        except typesafe_sdk.TypeSafeUnprocessableEntityError as error:
            assert "questions" in str(error.body)
    with TypeSafeClient(api_key="wrong", base_url=url) as client:
        try:
            client.system_one(state="hello", questions={"q": Noul(instructions="a greeting")})
            raise AssertionError("it was not refused")
        except typesafe_sdk.TypeSafeAuthenticationError as error:
            assert error.body["detail"]["error_type"] == "authentication_error"


def routes(url: str, key: str) -> None:
    """By intents of the registry, and by a description that is no intent."""
    model = SystemOneDecisionModel(name="jev-latest", base_url=url, api_key=key)
    routes = [
        Route(name="order_status", utterances=["where is it"]),
        Route(name="ride", utterances=["a train"]),
        Route(name="weather", description="Weather and rain forecast", utterances=["will it rain"]),
    ]
    router = DecisionRouter(model, routes, confidence_threshold=0.5)
    for query, name in (
        ("track my parcel please", "order_status"),
        ("book me a train to Rome", "ride"),
        ("will there be rain tomorrow, what is the weather forecast", "weather"),
    ):
        assert router(query).name == name, (query, router(query))
    router.close()


def main(url: str, key: str) -> None:
    asks(url, key)
    routes(url, key)
    print(
        f"typesafe-sdk {version('typesafe-sdk')}, semantic-router {version('semantic-router')}, "
        f"jevcompat {version('jevcompat')} ({conforms(url, key)}): three kinds of question, models, routes, a wrong key"
    )


main(*sys.argv[1:])
