"""Messages from speech: hypotheses with weights."""

from __future__ import annotations

import pickle
from pathlib import Path

import numpy as np
import pytest
import yaml
from fakes import WordHashEncoder

from intentmatch import Intent, Matcher, Registry, Utterance
from intentmatch.core.errors import InputError
from intentmatch.matching.n_best import checked_hypotheses

HEARD = yaml.safe_load((Path(__file__).parent / "heard.yaml").read_text(encoding="utf-8"))
INTENTS = Path(__file__).parents[2] / "intents"


@pytest.fixture(scope="module")
def matcher() -> Matcher:
    return Matcher.load(INTENTS)


@pytest.mark.parametrize("half", ["development", "kept"])
def test_a_second_hypothesis_helps_against_what_was_heard_wrongly(matcher, half):
    rows = [row for some in HEARD[half].values() for row in some]

    def right(said_weight: float) -> int:
        given = [[(heard, 1 - said_weight), (said, said_weight)] for heard, said, _ in rows]
        return sum(matcher.match(each).intent == row[2] for each, row in zip(given, rows, strict=True))

    alone = sum(matcher.match(heard).intent == intent for heard, _, intent in rows)
    assert right(0.4) >= alone
    assert right(0.6) > alone
    assert right(0.6) >= 0.85 * len(rows)


def test_messages_are_of_twelve_languages():
    assert all(len(half) == 12 for half in HEARD.values())
    assert sum(len(rows) for half in HEARD.values() for rows in half.values()) >= 95


def test_one_hypothesis_is_a_message(matcher):
    alone, heard = matcher.match("wo ist mein Paket?"), matcher.match([("wo ist mein Paket?", 0.3)])

    assert (heard.verdict, heard.intent, heard.message) == (alone.verdict, alone.intent, alone.message)
    assert heard.confidence == pytest.approx(alone.confidence)
    assert len(heard.candidates) <= matcher.settings.top_k


def test_confidence_is_the_mean_and_the_best_hypothesis_is_the_message(matcher):
    first, second = matcher.match("where is my order"), matcher.match("xkqzw vvbrt")
    mixed = matcher.match([("xkqzw vvbrt", 3), ("where is my order", 1)])

    assert first.intent == mixed.candidates[0].intent == "order_status"
    assert second.confidence is None or second.confidence < 0.1
    assert mixed.confidence == pytest.approx(first.confidence / 4, abs=0.05)
    assert mixed.message == "where is my order"
    assert mixed.verdict == "out_of_scope"
    stage = next(stage for stage in mixed.trace.stages if stage.name == "n_best")
    assert stage.says == "“xkqzw vvbrt” 75%, “where is my order” 25%; “where is my order” says most: out_of_scope"
    assert f"\nNumbers are means over what was heard: {stage.says}.\n" in matcher.explain(mixed)


def test_two_likely_intents_are_asked_about(matcher):
    result = matcher.match([("cancel my order", 0.5), ("cancel my appointment", 0.5)])

    assert result.verdict == "ambiguous"
    assert {rival.intent for rival in result.rivals} == {"order_cancel", "appointment_cancel"}
    assert sum(candidate.confidence for candidate in result.candidates) <= 1.0 + 1e-9


@pytest.mark.parametrize(
    ("given", "verdict"),
    [
        ([("please don't cancel my order", 0.7), ("please cancel my order", 0.3)], "ambiguous"),
        ([("please cancel my order", 0.5), ("please don't cancel my order", 0.5)], "ambiguous"),
        ([("please don't cancel it", 0.55), ("cancel my order", 0.45)], "ambiguous"),
        ([("please don't cancel my order", 0.9), ("please dont cancel the order", 0.1)], "ambiguous"),
        ([("please don't cancel my order", 0.2), ("please cancel my order", 0.8)], "matched"),
    ],
)
def test_a_negation_of_half_the_weight_is_asked_about(matcher, given, verdict):
    assert matcher.match(given).verdict == verdict


def test_confidence_is_unknown_if_that_of_a_hypothesis_is():
    """Too few lines to calibrate: only an equal line has a confidence."""
    intents = (
        Intent("order", (Utterance("a table for two"), Utterance("book a table"))),
        Intent("bye", (Utterance("goodbye now"), Utterance("see you soon"))),
    )
    small = Matcher.load(Registry(intents), encoder=WordHashEncoder(), cache="off")

    assert small.match([("book a table", 0.6), ("book a cable", 0.4)]).confidence is None
    assert small.match([("book a table", 0.6), ("goodbye now", 0.4)]).confidence == pytest.approx(0.6)


def test_slots_are_read_in_the_hypothesis_that_decides():
    intents = (
        Intent("order", (Utterance("a table for two"), Utterance("book a table")), slots=()),
        Intent("bye", (Utterance("goodbye now"), Utterance("see you soon"))),
    )
    small = Matcher.load(Registry(intents), encoder=WordHashEncoder(), cache="off")

    result = small.match([("a cable for two", 0.6), ("book a table", 0.4)])

    assert result.intent == "order"
    assert result.message in ("a cable for two", "book a table")


def test_order_and_scale_of_the_weights_do_not_count(matcher):
    one = matcher.match([("cancel my odor", 6), ("cancel my order", 4)])
    other = matcher.match((("cancel my order", 0.4), ("cancel my odor", 0.6)))

    assert pickle.dumps(one.to_dict()["candidates"]) == pickle.dumps(other.to_dict()["candidates"])


@pytest.mark.parametrize("others", [0, 1, 60])
def test_each_of_many_messages_may_be_a_list(matcher, others):
    """However many there are: few are matched one by one, many together."""
    heard = [("cancel my odor", 0.4), ("cancel my order", 0.6)]

    *_, found, wrong = matcher.match_each([("where is my parcel", {})] * others + [(heard, {}), ([], {})])

    assert found.intent == matcher.match(heard).intent == "order_cancel"
    assert str(wrong).startswith("a list of hypotheses has 1 to 20 pairs")


@pytest.mark.parametrize("others", [0, 1, 60])
def test_lists_and_texts_may_be_matched_together(matcher, others):
    heard = [("cancel my odor", 0.4), ("cancel my order", 0.6)]

    first, *_, last = matcher.match_many([heard, *["where is my parcel"] * others, "tell me a joke"])

    assert (first.message, first.intent) == ("cancel my order", "order_cancel")
    assert (last.message, last.intent) == ("tell me a joke", "tell_joke")
    with pytest.raises(InputError, match="a list of hypotheses has 1 to 20 pairs"):
        matcher.match_many(["hello", []])


def test_weights_of_numpy_are_numbers():
    weights = [np.float32(1.5), np.int64(1), np.float64(2.5)]

    assert checked_hypotheses(list(zip("abc", weights, strict=True))) == [("c", 0.5), ("a", 0.3), ("b", 0.2)]


def test_equal_hypotheses_are_joined():
    assert checked_hypotheses([("a", 1), ("b", 2), ("a", 3)]) == [
        ("a", pytest.approx(2 / 3)),
        ("b", pytest.approx(1 / 3)),
    ]


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ([], "1 to 20 pairs"),
        ([("a", 1.0)] * 21, "1 to 20 pairs of text and weight, not 21; keep the heaviest"),
        (["hello"], "a message must be text, or a list of pairs: hypothesis 1 is no pair"),
        ([("hello", 1.0), ("you",)], "hypothesis 2 is no pair"),
        ([(5, 1.0)], "text of hypothesis 1 must be text, not int"),
        ([("hello", 0)], "weight of hypothesis 1 must be a finite number above 0"),
        ([("hello", float("nan"))], "finite number"),
        ([("hello", "0.5")], "finite number"),
        ([("hello", True)], "finite number"),
        ([("hello", -0.7)], "and is -0.7; of a log-probability, give the exponential"),
        ([("hello", 1e308), ("you", 1e308)], "their sum is no finite number"),
        (5, "a message must be text, not int"),
        ({"hello": 1.0}, "a message must be text, not dict"),
    ],
)
def test_other_messages_are_refused(matcher, given, says):
    with pytest.raises(InputError, match=says):
        matcher.match(given)
