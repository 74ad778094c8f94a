"""Labelled messages of many languages."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from intentmatch.distill import messages
from intentmatch.distill.messages import (
    HELD_OUT_DOMAINS,
    HELD_OUT_LANGUAGES,
    LEADS,
    languages,
    read_answers,
    read_messages,
)
from intentmatch.reading.dialogue_acts import ACTS


def test_there_are_messages_of_every_act_in_at_least_35_languages():
    train, measure = read_messages("train"), read_messages("measure")

    assert len(languages()) >= 35
    for language in languages():
        assert {m.act for m in (*train, *measure) if m.language == language} == {None, *ACTS}
    assert len({m.domain for m in (*train, *measure) if m.domain}) == 21


def test_messages_of_a_wheel_are_read_from_its_archive(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    known, here = languages(), messages._content("pt")
    shutil.make_archive(str(tmp_path / "messages"), "zip", messages.FOLDER.parent, "messages")
    monkeypatch.setattr(messages, "FOLDER", tmp_path / "messages")

    assert languages() == known
    assert messages._content("pt") == here


def test_messages_to_measure_on_are_never_trained_on():
    train, measure = read_messages("train"), read_messages("measure")

    assert not {m.language for m in train} & {*HELD_OUT_LANGUAGES}
    assert not {m.domain for m in train} & {*HELD_OUT_DOMAINS}
    assert {m.language for m in measure} >= {*HELD_OUT_LANGUAGES}
    known = {(m.language, m.text) for m in train}
    shared = [m for m in measure if (m.language, m.text) in known]
    assert len(shared) < 0.002 * len(measure), [m.text for m in shared]


def test_frames_to_measure_on_are_never_trained_on():
    frames = {(m.language, m.frame) for m in read_messages("train") if m.frame}

    assert not frames & {(m.language, m.frame) for m in read_messages("measure") if m.frame}


def test_there_is_something_to_say_before_a_request_in_every_language():
    leads = [m for part in ("train", "measure") for m in read_messages(part) if m.source == LEADS]

    assert {m.language for m in leads} == {*languages()}
    assert {m.act for m in leads} == {"courtesy"}


def test_a_request_that_may_answer_a_question_is_not_trained_as_no_answer():
    requests = {m.text for m in read_messages("train") if m.domain == "consent" and m.act is None}
    others = {m.text for m in read_messages("train") if m.domain != "consent"}

    assert requests
    assert not (requests - others) & {a.text for a in read_answers("train") if a.answer == "neither"}


@pytest.mark.parametrize("part", ["train", "measure"])
def test_no_message_has_a_gap_or_is_empty(part):
    for message in read_messages(part):
        assert message.text.strip()
        assert "{" not in message.text
