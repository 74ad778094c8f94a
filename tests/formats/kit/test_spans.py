"""Tests for UTF-16 offsets, utterances in parts and nested labels."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from intentmatch.core.errors import Location
from intentmatch.core.types import Mark, Utterance
from intentmatch.formats.kit.draft import Draft, Label
from intentmatch.formats.kit.spans import from_utf16, innermost, split_at_marks, utf16_length

PLACE = Location("file")
TEXTS = st.text(st.characters(exclude_categories=["Cs"]))


@given(TEXTS, st.data())
def test_utf16_offsets_round_trip(text, data):
    position = data.draw(st.integers(0, len(text)))

    assert from_utf16(text, utf16_length(text[:position])) == position


@given(TEXTS, st.integers(1, 100))
def test_offset_past_the_end_stays_past_the_end(text, distance):
    """So that it is reported as a bad label."""
    assert from_utf16(text, utf16_length(text) + distance) == len(text) + distance
    assert from_utf16(text, -distance) == -distance


@given(st.lists(st.tuples(st.integers(0, 9), st.integers(0, 9)), max_size=8))
def test_innermost_agrees_with_its_definition(ends):
    labels = [Label(str(number), start, end) for number, (start, end) in enumerate(ends)]

    def holds(label: Label, other: Label) -> bool:
        inside = label.start <= other.start and other.end <= label.end
        same = (label.start, label.end) == (other.start, other.end)
        return inside and (not same or labels.index(other) < labels.index(label))

    expected = [label for label in labels if not any(holds(label, other) for other in labels if other is not label)]
    assert set(innermost(labels, PLACE, Draft())) == set(expected)


def test_outer_labels_are_reported_once_per_slot():
    draft = Draft()
    innermost([Label("outer", 0, 9), Label("inner", 2, 3)], PLACE, draft)

    assert ["'outer'" in problem.message for problem in draft.problems] == [True]


def test_split_at_marks():
    line = Utterance("to Rome, now", marks=(Mark("city", 3, 7), Mark("when", 9, 12)))

    assert list(split_at_marks(line)) == [("to ", None), ("Rome", "city"), (", ", None), ("now", "when")]
