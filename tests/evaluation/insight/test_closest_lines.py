"""Pairs of intents that take each other's lines."""

from __future__ import annotations

import json

from lint.subjects import around, lines, subject

from intentmatch.evaluation.insight.closest_lines import overlapping_intents
from intentmatch.lint.subject import Subject

A, B, C = [10.0, 0.0, 0.0], [0.0, 10.0, 0.0], [0.0, 0.0, 10.0]


def three() -> Subject:
    """Two lines of `a` lie in `b`, one of `c` lies in `a`."""
    return subject(
        {
            "a": lines("a", [*around(A, 6, 0.5), *around([4.0, 10.0, 0.0], 2, 0.5, seed=1)]),
            "b": lines("b", around(B, 6, 0.5, seed=2)),
            "c": lines("c", [*around(C, 6, 0.5, seed=3), *around([10.0, 0.0, 4.0], 1, 0.5, seed=4)]),
        }
    )


def test_pair_with_the_most_misplaced_lines_comes_first():
    found = overlapping_intents(three())

    assert [(pair.first, pair.second, pair.errors) for pair in found] == [("a", "b", (2, 0)), ("a", "c", (0, 1))]
    assert found[0].lines == (8, 6)
    assert found[0].share == 2 / 14


def test_misplaced_lines_come_first_each_beside_its_nearest():
    pair = overlapping_intents(three())[0]

    assert [close.first.line.text for close in pair.closest[:2] if close.first.misplaced] in (
        ["a 6", "a 7"],
        ["a 7", "a 6"],
    )
    assert all(close.second.intent == "b" and not close.second.misplaced for close in pair.closest)
    cosines = [close.cosine for close in pair.closest[:2]]
    assert cosines == sorted(cosines, reverse=True)


def test_each_line_is_shown_once_unless_it_attracts_several():
    for pair in overlapping_intents(three()):
        sides = [side for close in pair.closest for side in (close.first, close.second)]
        texts = [side.line.text for side in sides]
        attracting = {
            other.line.text
            for close in pair.closest
            for side, other in ((close.first, close.second), (close.second, close.first))
            if side.misplaced
        }
        assert all(texts.count(text) == 1 or text in attracting for text in texts)
        assert sum(side.misplaced for side in sides) >= sum(pair.errors)


def test_limits_bound_pairs_and_lines():
    found = overlapping_intents(three(), most=1, lines=2)

    assert len(found) == 1
    assert len(found[0].closest) == 2


def test_separate_intents_have_no_pair():
    apart = subject({"a": lines("a", around(A, 5, 0.3)), "b": lines("b", around(B, 5, 0.3, seed=1))})

    assert overlapping_intents(apart) == []


def test_json_has_both_lines_with_their_places():
    values = overlapping_intents(three())[0].to_dict()

    assert values["intents"] == ["a", "b"]
    assert [line["intent"] for line in values["closest"][0]["lines"]] == ["a", "b"]
    assert values["closest"][0]["lines"][0]["location"][0] == "bot.yaml"
    json.dumps(values)
