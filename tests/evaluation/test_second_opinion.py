"""What a reranker gains, how often it is asked, and what that costs."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from embeddings_server import serving
from opinion_server import OpinionServer

from intentmatch import Matcher
from intentmatch.core.types import Case
from intentmatch.evaluation.run import evaluate
from intentmatch.evaluation.second_opinion import measure_reranker
from intentmatch.matching.opinions.chat_judge import ChatJudge
from intentmatch.matching.word_reranker import WordReranker

BOT = """
settings: {threshold: 0.3, band: 0.4, cache: 'off', reranker_seconds: 5}
intents:
  status: {utterances: [where is my order, track my order now please, has my parcel left]}
  cancel: {utterances: [cancel my order, stop my order now please, i want no parcel]}
  greet: {utterances: [hello there, good morning to you, hi]}
"""
TESTS = [
    Case("my order now please", "status"),
    Case("please stop my parcel now", "cancel"),
    Case("good hello", "greet"),
    Case("what about the moon", None),
]


@pytest.fixture
def bot(tmp_path: Path) -> Path:
    (tmp_path / "bot.yaml").write_text(BOT, encoding="utf-8")
    return tmp_path / "bot.yaml"


@pytest.fixture
def server() -> Iterator[OpinionServer]:
    pytest.importorskip("urllib3", reason="needs the extra [remote]")
    with serving(OpinionServer()) as running:
        yield running


def test_gain_is_the_difference_of_two_evaluations(bot: Path) -> None:
    matcher = Matcher.load(bot)
    before = evaluate(matcher, tests=TESTS, robustness=False)

    found = measure_reranker(matcher, WordReranker(), before, tests=TESTS)

    after = evaluate(Matcher.load(bot, reranker="words"), tests=TESTS, robustness=False)
    (gain,) = found.gains
    assert (gain.without, gain.with_it) == (before.parts[0].numbers.overall, after.parts[0].numbers.overall)
    assert (found.requests, found.tokens, found.unanswered, found.reason, found.used_up) == (None, 0, 0, None, False)
    assert found.seconds > 0.0


def test_share_asked_about_is_that_of_the_messages_in_doubt(bot: Path) -> None:
    """Each message of the tests is matched on its own, so the traces say which of them are in doubt."""
    matcher = Matcher.load(bot)
    before = evaluate(matcher, tests=TESTS, robustness=False)

    found = measure_reranker(matcher, WordReranker(), before, tests=TESTS)

    with_it = Matcher.load(bot, reranker="words")
    doubtful = ["reranker" in [stage.name for stage in with_it.match(case.text).trace.stages] for case in TESTS]
    (gain,) = found.gains
    assert any(doubtful)
    assert gain.asked_in_scope == sum(doubtful[:3]) / 3
    assert gain.asked_out_of_scope == doubtful[3]
    assert gain.asked == sum(doubtful) / 4
    assert found.calls == sum(doubtful) + sum(doubtful)  # once more, to measure the time of a match


def test_share_of_held_out_messages_is_that_of_traffic(bot: Path) -> None:
    """Held-out cases are half out of scope, messages are not: both shares are weighed by the share assumed."""
    matcher = Matcher.load(bot, out_of_scope_share=0.2, band=0.1)
    before = evaluate(matcher, robustness=False)

    (gain,) = measure_reranker(matcher, WordReranker(), before).gains

    assert gain.asked_in_scope is not None
    assert gain.asked_out_of_scope is not None
    assert gain.asked_in_scope != gain.asked_out_of_scope
    assert gain.asked == pytest.approx(0.8 * gain.asked_in_scope + 0.2 * gain.asked_out_of_scope)


def test_requests_and_tokens_of_a_chat_model_are_counted(bot: Path, server: OpinionServer) -> None:
    """A message that is matched again is answered from the cache."""
    matcher = Matcher.load(bot)
    before = evaluate(matcher, tests=TESTS, robustness=False)
    server.script.append((500, {}, {}))

    judge = ChatJudge(server.url("/v1/chat/completions"), "m", matcher.settings)
    found = measure_reranker(matcher, judge, before, tests=TESTS)

    assert found.calls >= (found.requests or 0) == len(server.asked) > 0
    assert not found.used_up
    assert found.tokens == 95 * (len(server.asked) - 1)
    assert found.unanswered == 1
    assert (found.reason or "").endswith("gives no answer: it answered with status 500")


def test_used_up_budget_is_told(bot: Path, server: OpinionServer) -> None:
    matcher = Matcher.load(bot, reranker_budget={"minute": 1})
    before = evaluate(matcher, tests=TESTS, robustness=False)

    judge = ChatJudge(server.url("/v1/chat/completions"), "m", matcher.settings)
    found = measure_reranker(matcher, judge, before, tests=TESTS)

    assert found.used_up
    assert found.requests == 1
    assert found.unanswered > 0
