"""From the opinion of a judge to a verdict."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from intentmatch import Matcher
from intentmatch.core.errors import ModelUnavailableError
from intentmatch.matching.opinions.judging import IntentOption, Opinion

DOUBTFUL = "my order now please"
SHIPPED = Path(__file__).parents[3] / "intents"


class FixedJudge:
    """Says the same each time, and keeps what it was shown."""

    name = "fixed"

    def __init__(self, choice: Any) -> None:
        self.choice = choice
        self.shown: list[tuple[str, Sequence[IntentOption]]] = []

    def judge(self, message: str, options: Sequence[IntentOption]) -> Opinion:
        self.shown.append((message, options))
        if self.choice is None:
            raise ModelUnavailableError("nobody is at home")
        return Opinion(self.choice, '{"message": "..."}')

    def score(self, message: str, utterances: Sequence[str]) -> Any:
        raise AssertionError("a judge is not asked for scores")


def test_chosen_option_is_matched_with_its_response_and_cut(bot: Callable[..., Matcher]) -> None:
    plain = bot().match(DOUBTFUL)
    assert plain.verdict == "ambiguous"
    for place in range(2):
        result = bot(reranker=FixedJudge(place)).match(DOUBTFUL)

        chosen = plain.candidates[place]
        assert (result.verdict, result.intent, result.rivals) == ("matched", chosen.intent, ())
        assert result.candidates[0] == chosen
        assert {c.intent for c in result.candidates} == {c.intent for c in plain.candidates}
        assert result.trace.decided_by == "reranker"
        assert result.trace.reason == f"the verdict was in doubt, and fixed chose {chosen.intent}."


def test_none_is_out_of_scope(bot: Callable[..., Matcher]) -> None:
    result = bot(reranker=FixedJudge("none")).match(DOUBTFUL)

    assert (result.verdict, result.intent, result.rivals) == ("out_of_scope", None, ())
    assert "chose none of" in result.trace.reason


def test_none_stays_for_a_word_that_lines_of_several_intents_have() -> None:
    assert Matcher.load(SHIPPED).match("order").verdict == "ambiguous"

    refused = Matcher.load(SHIPPED, reranker=FixedJudge("none")).match("order")

    assert (refused.verdict, refused.trace.decided_by) == ("out_of_scope", "reranker")


def test_ask_keeps_the_rivals_or_offers_the_likely_intents(bot: Callable[..., Matcher]) -> None:
    plain = bot().match(DOUBTFUL)
    assert bot(reranker=FixedJudge("ask")).match(DOUBTFUL).rivals == plain.rivals
    clear = "track my order please"
    assert bot().match(clear).verdict == "matched"

    result = bot(reranker=FixedJudge("ask"), band=1.0).match(clear)

    assert result.verdict == "ambiguous"
    assert len(result.rivals) >= 2
    assert result.rivals[0].intent == "status"


def test_judge_sees_titles_descriptions_and_nearest_lines(bot: Callable[..., Matcher]) -> None:
    judge = FixedJudge("ask")
    bot(reranker=judge).match(f"{DOUBTFUL}  ")

    ((message, options),) = judge.shown
    assert message == DOUBTFUL
    status = next(option for option in options if option.title == "Where is my order?")
    assert status.description == "The user wants to know where a parcel is."
    assert status.lines[0] == "track my order now please"
    assert {option.title for option in options} >= {"Where is my order?", "cancel"}


def test_judge_is_asked_only_in_doubt_and_without_it_the_verdict_stands(bot: Callable[..., Matcher]) -> None:
    judge = FixedJudge(None)
    matcher, plain = bot(reranker=judge), bot().match(DOUBTFUL)
    matcher.match("hello there you")
    assert judge.shown == []

    result = matcher.match(DOUBTFUL)

    assert (result.verdict, result.rivals, result.trace.reason) == (plain.verdict, plain.rivals, plain.trace.reason)
    says = next(stage.says for stage in result.trace.stages if stage.name == "reranker")
    assert says == "in doubt, but the verdict stands: nobody is at home"


@pytest.mark.parametrize("shown", [False, True])
def test_prompt_is_in_the_trace_on_request(bot: Callable[..., Matcher], shown: bool) -> None:
    result = bot(reranker=FixedJudge(0), reranker_prompt=shown).match(DOUBTFUL)

    says = next(stage.says for stage in result.trace.stages if stage.name == "reranker")
    assert ('it was asked: {"message": "..."}' in says) == shown


def test_only_allowed_intents_are_options(bot: Callable[..., Matcher]) -> None:
    judge = FixedJudge("none")
    bot(reranker=judge, band=1.0).match("track my order please", allowed=["cancel", "greet"])

    assert {option.title for option in judge.shown[0][1]} <= {"cancel", "greet"}
