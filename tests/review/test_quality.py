"""Numbers about all answers from a few judgements: their values, and how often the intervals hold the truth."""

from __future__ import annotations

import random
from dataclasses import replace
from typing import NamedTuple

import pytest
from sampled import START, answer, judged

from intentmatch.inbox.sample import LEAST_PRIORITY, SampledAnswer
from intentmatch.review.quality import FEWEST, quality_of
from intentmatch.review.questions import questions_of


def quality(answers):
    return quality_of(questions_of(answers))


def test_no_numbers_before_thirty_judgements():
    some = [judged(number, "status") for number in range(1, FEWEST)]
    found = quality(some)

    assert (found.judged, found.more, found.overall) == (FEWEST - 1, 1, None)
    assert found.to_dict()["overall"] is None
    assert quality([*some, judged(FEWEST, "status")]).overall is not None


def test_nothing_judged():
    assert quality([]).more == FEWEST
    assert quality([answer(1)]).since is None


def test_numbers_of_a_simple_sample():
    """Everything judged, all drawn with the same probability: plain shares with the interval of Clopper and Pearson."""
    right = [judged(number, "status") for number in range(1, 31)]
    wrong = [judged(number, "cancel") for number in range(31, 35)]
    missed = [judged(number, "cancel", verdict="out_of_scope", intent=None) for number in range(35, 39)]
    strangers = [judged(number, None, verdict="out_of_scope", intent=None) for number in range(39, 41)]
    overall = quality(right + wrong + missed + strangers).overall

    assert overall.precision[:1] + overall.precision[3:] == (pytest.approx(30 / 34), 34)
    assert overall.coverage.value == pytest.approx(34 / 38)
    assert overall.out_of_scope.value == pytest.approx(2 / 40)
    assert overall.precision[1:3] == pytest.approx((0.7255, 0.9670), abs=1e-3)


def test_wrong_answer_weighs_by_the_chances_that_it_was_drawn_and_asked():
    right = [judged(number, "status", probability=1.0) for number in range(1, 31)]
    rare = judged(31, "cancel", probability=0.1)

    assert quality([*right, rare]).overall.precision.value == pytest.approx(30 / 40)
    unlikely = judged(31, "cancel", probability=1.0, priority=0.25, chance=0.001)
    waiting = answer(32, chance=0.4)
    assert quality([*right, unlikely, waiting]).overall.precision.value == pytest.approx(
        (30 / 0.4) / (30 / 0.4 + 1 / 0.1)
    )


def test_interval_of_many_weights_is_wider():
    even = [judged(number, "status") for number in range(1, 61)]
    uneven = [replace(one, probability=0.05 if one.id % 10 == 0 else 0.5) for one in even]

    assert quality(uneven).overall.precision.low < quality(even).overall.precision.low


def test_intents_and_languages_with_enough_judgements():
    some = [judged(number, "status") for number in range(1, 41)]
    some += [judged(number, "refund", language="de", intent="cancel") for number in range(41, 81)]
    some += [judged(81, "greet", language="fr")]
    found = quality(some)

    assert [
        (row.name, row.precision and row.precision.value, row.coverage and row.coverage.value) for row in found.intents
    ] == [
        ("cancel", 0.0, None),
        ("refund", None, 1.0),
        ("status", pytest.approx(40 / 41), 1.0),
    ]
    assert [(row.name, row.precision.value) for row in found.languages] == [("de", 0.0), ("en", 1.0)]
    assert found.to_dict()["intents"][0]["out_of_scope"] is None
    one_language = [replace(one, language="en") for one in some]
    assert quality(one_language).languages == ()


class _Message(NamedTuple):
    share: float
    verdict: str
    intent: str | None
    expected: str | None
    priority: float


class _Simulation:
    """Users who send a few messages often and many rarely, and a reviewer who answers the best questions first."""

    def __init__(self, seed: int) -> None:
        self._random = random.Random(seed)
        self._messages = [self._message(place) for place in range(1500)]
        self._shares = [one.share for one in self._messages]

    def _message(self, place: int) -> _Message:
        confidence = self._random.betavariate(3.0, 1.2)
        stranger = self._random.random() < 0.15 * (1.6 - confidence)
        right = self._random.random() < 0.5 + 0.49 * confidence
        matched = confidence > 0.45
        priority = LEAST_PRIORITY + (1.0 - LEAST_PRIORITY) * 2.0 * min(confidence, 1.0 - confidence)
        expected = None if stranger else "a" if right else "b"
        return _Message(
            (place + 3) ** -0.8, "matched" if matched else "out_of_scope", "a" if matched else None, expected, priority
        )

    @property
    def truth(self) -> list[float]:
        """Precision, coverage and share of out-of-scope messages of all users."""
        every = self._messages
        given = sum(one.share for one in every if one.intent)
        inside = sum(one.share for one in every if one.expected)
        return [
            sum(one.share for one in every if one.intent and one.intent == one.expected) / given,
            sum(one.share for one in every if one.intent and one.expected) / inside,
            1.0 - inside / sum(one.share for one in every),
        ]

    def reviewed(self, sessions: list[tuple[int, float, int]]) -> list[SampledAnswer]:
        """Return the sample after sessions of so many messages, drawn with a probability, and so many judgements."""
        found: list[SampledAnswer] = []
        known: dict[int, str | None] = {}
        for messages, probability, judgements in sessions:
            for place in self._random.choices(range(len(self._messages)), self._shares, k=messages):
                if self._random.random() < probability:
                    one = self._messages[place]
                    found.append(
                        SampledAnswer(
                            len(found), str(place).encode(), str(place), None, one.verdict, one.intent, (), None,
                            probability, one.priority, self._random.random(), START,
                        )
                    )  # fmt: skip
            found = [self._told(one, known) for one in found]
            known |= {
                int(one.text): self._messages[int(one.text)].expected for one in questions_of(found).open[:judgements]
            }
            found = [self._told(one, known) for one in found]
        return found

    @staticmethod
    def _told(one: SampledAnswer, known: dict[int, str | None]) -> SampledAnswer:
        place = int(one.text)
        return replace(one, judged="meant", expected=known[place]) if place in known else one


# Messages, probability of a draw and judgements of each session. "two sessions": the setting changed in between, and
# answers arrived that come before judged ones.
SESSIONS = {
    "one session": [(150, 0.6, 35)],
    "two sessions": [(200, 0.3, 25), (120, 0.5, 25)],
}


@pytest.mark.parametrize("sessions", SESSIONS.values(), ids=SESSIONS)
def test_intervals_hold_the_truth_at_their_rate(sessions):
    """In 95% of reviews. With 60 reviews of three numbers each, fewer than 164 of 180 have a chance below 1%."""
    simulation = _Simulation(seed=5)
    truth, covered, errors = simulation.truth, 0, [0.0, 0.0, 0.0]
    reviews = 60
    for _ in range(reviews):
        overall = quality(simulation.reviewed(sessions)).overall
        for place, (found, true) in enumerate(zip(overall[1:], truth, strict=True)):
            covered += found.low <= true <= found.high
            errors[place] += (found.value - true) / reviews

    assert covered >= 164
    assert max(map(abs, errors)) < 0.03


def test_unweighted_numbers_would_miss_the_truth():
    """The reviewer sees doubtful messages first: a plain share of the judged ones is too low."""
    simulation = _Simulation(seed=6)
    plain = weighted = 0.0
    reviews = 30
    for _ in range(reviews):
        answers = simulation.reviewed([(150, 0.6, 35)])
        plain += quality([one for one in answers if one.judged]).overall.precision.value / reviews
        weighted += quality(answers).overall.precision.value / reviews

    assert abs(weighted - simulation.truth[0]) < abs(plain - simulation.truth[0])
