"""Messages that read like a line of several intents: the active tags say whose it is."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest
from fakes import WordHashEncoder
from numpy.typing import NDArray

from intentmatch.core.result import MatchResult
from intentmatch.core.types import Intent, Registry, Utterance
from intentmatch.matching.matcher import Matcher
from intentmatch.registry import check

FILLER = ("where is my parcel", "what are your hours", "talk to a human", "change my address", "send an invoice")


def intent(name: str, *lines: str, when: str = "") -> Intent:
    return Intent(name, tuple(Utterance(line, "en") for line in lines), when=tuple(when.split()))


ORDER = intent("order_yes", "yes", "certainly", "yes order the pizza now", when="ordering")
CLOSE = intent("close_yes", "certainly", "yes", "yes close the account now", when="closing")
TALK = intent("talk_yes", "yes", "I agree with all of this", "you are right")
ONLY = intent("only_yes", "yes", "certainly")
OTHERS = tuple(intent(f"filler{n}", line, f"{line} please", f"hello {line}") for n, line in enumerate(FILLER))


def matcher(*intents: Intent, **settings: object) -> Matcher:
    options = {"encoder": WordHashEncoder(), "threshold": 0.5, "cache": "off", **settings}
    registry = Registry((*intents, *OTHERS))
    assert check(registry) == []
    return Matcher.load(registry, **options)  # type: ignore[arg-type]


def stage(result: MatchResult, name: str) -> str:
    return next((stage.says for stage in result.trace.stages if stage.name == name), "")


SETTINGS = pytest.mark.parametrize(
    "settings", [{}, {"scorer": "cosine"}, {"margin": 0.0}, {"margin": 0.05}, {"reranker": "words"}], ids=str
)


@SETTINGS
@pytest.mark.parametrize(
    "message", ["yes", "certainly", "certianly", "yes certainly"], ids=["line", "line", "typo", "near"]
)
def test_line_of_two_conditional_intents_goes_to_the_active_one(message: str, settings: dict[str, object]) -> None:
    bot = matcher(ORDER, CLOSE, **settings)

    assert bot.match(message, context=["ordering"]).intent == "order_yes"
    assert bot.match(message, context=["closing"]).intent == "close_yes"
    assert bot.match(message).intent is None


@SETTINGS
@pytest.mark.parametrize("message", ["yes", "Yes!", "certainly", "certianly"])
def test_line_of_two_active_intents_is_asked_about(message: str, settings: dict[str, object]) -> None:
    """Whatever the margin: nothing tells the intents apart."""
    bot = matcher(ORDER, CLOSE, TALK, **settings)

    result = bot.match(message, context=["ordering", "closing"])

    assert (result.verdict, result.intent) == ("ambiguous", None)
    assert {rival.intent for rival in result.rivals} == {"order_yes", "close_yes"}


def test_question_about_a_shared_line_gives_its_reason() -> None:
    result = matcher(ORDER, CLOSE).match("yes", context=["ordering", "closing"])

    assert (
        result.trace.reason
        == "“yes” is an utterance of close_yes and of order_yes, and no active tag tells them apart."
    )
    assert [rival.confidence for rival in result.rivals] == [0.5, 0.5]


@pytest.mark.parametrize("threshold", ["95%", 0.9, 0.2])
def test_line_of_many_active_intents_is_asked_about_under_any_threshold(threshold: object) -> None:
    several = [intent(f"yes{n}", "yes", f"line number {n}", when=f"tag{n}") for n in range(6)]
    bot = matcher(*several, threshold=threshold)

    result = bot.match("yes", context=[f"tag{n}" for n in range(5)])

    assert result.verdict == "ambiguous"
    assert {rival.intent for rival in result.rivals} == {f"yes{n}" for n in range(5)}


@SETTINGS
def test_active_intent_goes_before_the_one_without_when(settings: dict[str, object]) -> None:
    bot = matcher(ORDER, TALK, **settings)

    assert bot.match("yes").intent == "talk_yes"
    assert bot.match("yes", context=["ordering"]).intent == "order_yes"
    assert bot.match("yes", context=["something else"]).intent == "talk_yes"


def test_other_lines_of_the_intent_without_when_stay_its_own() -> None:
    bot = matcher(ORDER, TALK, threshold=0.4)

    assert bot.match("you are right", context=["ordering"]).intent == "talk_yes"
    assert bot.match("yes you are right", context=["ordering"]).intent == "talk_yes"


def test_intent_with_shared_lines_alone_does_not_answer_beside_the_active_one() -> None:
    bot = matcher(ORDER, ONLY)

    for message in ("yes", "yes certainly", "yes order a pizza now"):
        result = bot.match(message, context=["ordering"])
        assert result.intent == "order_yes"
        assert "only_yes" not in {candidate.intent for candidate in result.candidates}
    assert bot.match("yes certainly").intent == "only_yes"


def test_named_intents_follow_the_same_rule() -> None:
    """`allowed` names who may answer whatever the tags; the tags still say who goes first."""
    bot = matcher(ORDER, CLOSE, TALK)

    def answer(*allowed: str, context: tuple[str, ...] = ()) -> str | None:
        return bot.match("yes", allowed=allowed, context=context).intent

    assert answer("order_yes") == "order_yes"
    assert answer("order_yes", "talk_yes") == "talk_yes"
    assert answer("order_yes", "talk_yes", context=("ordering",)) == "order_yes"
    assert answer("order_yes", "close_yes", context=("closing",)) == "close_yes"
    assert bot.match("yes", allowed=["order_yes", "close_yes"]).verdict == "ambiguous"


def test_many_messages_are_answered_as_each_alone() -> None:
    bot = matcher(ORDER, CLOSE, TALK)
    messages = ["yes", "certainly", "certianly", "yes you are right", "close the account now", "where is it"]

    for context in ([], ["ordering"], ["closing"], ["ordering", "closing"]):
        alone = [bot.match(message, context=context) for message in messages]
        together = bot.match_many(messages, context=context)
        assert [(r.verdict, r.intent) for r in together] == [(r.verdict, r.intent) for r in alone]


def test_trace_says_who_goes_first() -> None:
    result = matcher(ORDER, TALK).match("yes", context=["ordering"])

    assert stage(result, "exact") == (
        "equals an utterance of order_yes and of talk_yes, and order_yes goes first by its `when`"
    )
    assert stage(matcher(ORDER, TALK).match("I agree with all of this", context=["ordering"]), "exact") == (
        "equals an utterance of talk_yes"
    )


def test_trace_says_which_tags_would_make_a_shared_line_match() -> None:
    result = matcher(ORDER, CLOSE).match("yes")

    assert (result.verdict, stage(result, "otherwise")) == (
        "out_of_scope",
        "would have matched close_yes if closing were active, order_yes if ordering were active",
    )


def test_reranker_does_not_see_hidden_lines() -> None:
    """The line would otherwise speak for the intent from which the active one takes it."""

    class Recorder:
        name = "recorder"

        def __init__(self) -> None:
            self.seen: list[str] = []

        def score(self, message: str, utterances: Sequence[str]) -> NDArray[np.float32]:
            self.seen += utterances
            return np.full(len(utterances), 0.5, dtype=np.float32)

    reranker = Recorder()
    bot = matcher(ORDER, TALK, reranker=reranker, threshold=0.6)

    bot.match("yes now", context=["ordering"])
    assert reranker.seen.count("yes") == 1


def test_self_test_accepts_an_intent_whose_first_line_another_intent_answers() -> None:
    """Loading runs the self-test."""
    assert matcher(intent("b", "yes", when="t"), intent("a", "yes", "of course")).match("yes").intent == "a"


@pytest.mark.parametrize(
    ("context", "refused"), [(["ordering"], "stop_order"), (["closing"], "stop_closing"), ([], "stop")]
)
def test_negation_of_a_shared_line_is_asked_about_for_its_owner(context: list[str], refused: str) -> None:
    bot = matcher(
        intent("stop_order", "cancel it please", "no pizza for me", when="ordering"),
        intent("stop_closing", "cancel it please", "my account stays", when="closing"),
        intent("stop", "cancel it please", "never mind all of that"),
        threshold=0.3,
    )

    result = bot.match("don't cancel it please", context=context)

    assert (result.verdict, [rival.intent for rival in result.rivals]) == ("ambiguous", [refused])
    assert "negation" in result.trace.reason


def test_shortlist_and_approximate_scores_follow_the_rule() -> None:
    """From 32 intents on, only those that the head ranks first are compared."""
    more = [
        intent(f"topic{n}", f"tell me about subject{n}", f"what is subject{n}", f"subject{n} now") for n in range(30)
    ]
    topics = [intent(f"yes{n}", "yes", "go on", f"yes number{n}", when=f"tag{n}") for n in range(12)]
    bot = matcher(*topics, TALK, *more)

    for n in range(12):
        assert bot.match("yes", context=[f"tag{n}"]).intent == f"yes{n}"
        assert bot.match("oh yes go on", context=[f"tag{n}"]).intent == f"yes{n}"
    assert bot.match("yes").intent == "talk_yes"
    both = bot.match("oh go on", context=["tag3", "tag7"])
    assert {rival.intent for rival in both.rivals} == {"yes3", "yes7"}
