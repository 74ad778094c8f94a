"""`reranker: remote:URL#MODEL` against a real server."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from embeddings_server import HANG_UP, slowly
from opinion_server import OpinionServer, overlap

from intentmatch import Matcher
from intentmatch.core.errors import ModelUnavailableError, SettingsError
from intentmatch.core.settings import Settings
from intentmatch.core.types import Reranker
from intentmatch.matching.reranker import load_reranker

DOUBTFUL = "my order now please"
LINES = ["cancel my order", "hello", "my order is late"]


@pytest.mark.parametrize("path", ["/rerank", "/v1/rerank#m", "/score#m"])
def test_scores_come_back_in_the_order_of_the_utterances(server: OpinionServer, path: str) -> None:
    """The server sorts them by score."""
    reranker = load_reranker(Settings(reranker=f"remote:{server.url(path)}", reranker_seconds=30.0))
    assert isinstance(reranker, Reranker)

    scores = reranker.score("my order", LINES)

    assert scores == pytest.approx([overlap("my order", line) for line in LINES])
    assert reranker.name.endswith(path)
    assert reranker.score("my order", []).shape == (0,)
    assert server.asked[0].get("model") == ("m" if "#" in path else None)
    assert len(server.asked) == 1


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        ([{"index": 0, "score": 0.5}], "one score for each of 3"),
        ([{"index": 0, "score": 0.5}] * 3, "one score for each of 3"),
        ([{"index": n, "score": 7.0} for n in range(3)], "not between 0 and 1"),
        ([{"index": n, "score": float("nan")} for n in range(3)], "not between 0 and 1"),
        ([{"index": n, "score": "0.5"} for n in range(3)], "not between 0 and 1"),
        ([{"index": n} for n in range(3)], "another form"),
        ({"error": "?"}, "another form"),
        (5, "another form"),
    ],
)
def test_wrong_answers_are_errors(server: OpinionServer, answer: Any, message: str) -> None:
    server.script.append((200, {}, answer))

    with pytest.raises(ModelUnavailableError, match=message):
        load_reranker(Settings(reranker=f"remote:{server.url('/rerank')}", reranker_seconds=30.0)).score(
            "my order", LINES
        )


def test_personal_data_is_redacted_before_it_leaves(server: OpinionServer, bot: Callable[..., Matcher]) -> None:
    result = bot(reranker=f"remote:{server.url('/rerank')}", band=1.0).match(
        "my order now please, write to jo@example.org or call +49 170 1234567"
    )

    assert result.trace.decided_by == "reranker"
    assert server.asked[0]["query"] == "my order now please, write to ‹email› or call ‹phone›"


def test_matcher_asks_only_in_doubt(server: OpinionServer, bot: Callable[..., Matcher]) -> None:
    matcher = bot(reranker=f"remote:{server.url('/rerank')}")
    assert server.asked == [], "nothing is sent when it loads"

    assert matcher.match("hello there you").trace.decided_by != "reranker"
    assert server.asked == []
    assert matcher.match(DOUBTFUL).trace.decided_by == "reranker"
    assert len(server.asked) == 1


@pytest.mark.parametrize("fault", [(503, {}, {}), (200, {}, {"lies": True}), HANG_UP, slowly(0.6)])
def test_verdict_stands_without_an_answer(server: OpinionServer, bot: Callable[..., Matcher], fault: Any) -> None:
    plain = bot().match(DOUBTFUL)
    server.script.append(fault)

    result = bot(reranker=f"remote:{server.url('/rerank')}", reranker_seconds=0.3).match(DOUBTFUL)

    assert (result.verdict, result.intent, result.rivals) == (plain.verdict, plain.intent, plain.rivals)
    assert result.trace.decided_by == plain.trace.decided_by
    says = next(stage.says for stage in result.trace.stages if stage.name == "reranker")
    assert says.startswith("in doubt, but the verdict stands: ")


def test_unreachable_server_does_not_stop_the_bot(bot: Callable[..., Matcher]) -> None:
    pytest.importorskip("urllib3")

    assert bot(reranker="remote:http://127.0.0.1:9/rerank").match(DOUBTFUL).verdict == bot().match(DOUBTFUL).verdict


def test_message_of_several_parts_causes_one_request(server: OpinionServer, bot: Callable[..., Matcher]) -> None:
    matcher = bot(reranker=f"remote:{server.url('/rerank')}", band=1.0, several_intents=True)

    matcher.match("my order now please, and good morning, and track my order, and stop")

    assert len(server.asked) == 1


def test_missing_url_or_model_is_an_error() -> None:
    pytest.importorskip("urllib3")
    with pytest.raises(SettingsError, match="needs a URL"):
        load_reranker(Settings(reranker="remote:"))
    with pytest.raises(SettingsError, match="needs the name of a model"):
        load_reranker(Settings(reranker="remote:http://h/score"))
    with pytest.raises(SettingsError, match="must end in /rerank or /score"):
        load_reranker(Settings(reranker="remote:http://h/v1/embeddings#m"))
