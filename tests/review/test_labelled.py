"""Judged messages as tests: only those that are like all messages."""

from __future__ import annotations

from sampled import answer, judged

from intentmatch.core.types import Case, Intent, Registry
from intentmatch.review.labelled import labelled_tests
from intentmatch.review.questions import questions_of

REGISTRY = Registry((Intent("status", ()), Intent("cancel", ())), tests=(Case("Known message", "status"),))


def texts(*answers):
    return [(edit.text, edit.intent, edit.language) for edit in labelled_tests(questions_of(answers), REGISTRY)]


def test_all_judged_messages_are_tests_once_nothing_is_open():
    assert texts(judged(1, "cancel", "call it off"), judged(2, None, "nice day", language="de")) == [
        ("call it off", "cancel", "en"),
        ("nice day", None, "de"),
    ]


def test_messages_that_only_came_first_for_their_doubt_stay_out():
    """Below a fourth of the rank of the first open question, every message would have been asked."""
    some = [judged(1, "status", chance=0.1), judged(2, "status", chance=0.3), answer(3, chance=0.8)]

    assert [text for text, _, _ in texts(*some)] == ["message 1"]


def test_known_tests_unknown_intents_and_skipped_messages_stay_out():
    assert (
        texts(judged(1, "status", "known message!"), judged(2, "refund", "money back"), answer(3, judged="skipped"))
        == []
    )
