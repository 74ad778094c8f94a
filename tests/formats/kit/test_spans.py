"""Places in texts: UTF-16 units and characters, parts of lines, and labels inside of labels."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from intentmatch.core.errors import Location
from intentmatch.core.types import Mark, Utterance
from intentmatch.formats.kit.draft import Draft, Label
from intentmatch.formats.kit.spans import from_utf16, innermost, parted, utf16_length

PLACE = Location("file")
TEXTS = st.text(st.characters(exclude_categories=["Cs"]))


@given(TEXTS, st.data())
def test_every_position_is_found_again(text, data):
    """Counted in characters, in units of UTF-16, and in characters again."""
    position = data.draw(st.integers(0, len(text)))

    assert from_utf16(text, utf16_length(text[:position])) == position


@given(TEXTS, st.integers(1, 100))
def test_what_lies_behind_the_text_stays_behind_it(text, distance):
    """So that it is noticed."""
    assert from_utf16(text, utf16_length(text) + distance) == len(text) + distance
    assert from_utf16(text, -distance) == -distance


@given(st.lists(st.tuples(st.integers(0, 9), st.integers(0, 9)), max_size=8))
def test_the_innermost_labels_are_those_that_hold_no_other(ends):
    """Compared with what the words say."""
    labels = [Label(str(number), start, end) for number, (start, end) in enumerate(ends)]

    def holds(label: Label, other: Label) -> bool:
        inside = label.start <= other.start and other.end <= label.end
        same = (label.start, label.end) == (other.start, other.end)
        return inside and (not same or labels.index(other) < labels.index(label))

    expected = [label for label in labels if not any(holds(label, other) for other in labels if other is not label)]
    assert set(innermost(labels, PLACE, Draft())) == set(expected)


def test_what_holds_other_labels_is_noted():
    """Once for each name."""
    draft = Draft()
    innermost([Label("outer", 0, 9), Label("inner", 2, 3)], PLACE, draft)

    assert ["'outer'" in problem.message for problem in draft.problems] == [True]


def test_a_line_in_parts():
    """What is between the marks is nobody's."""
    line = Utterance("to Rome, now", marks=(Mark("city", 3, 7), Mark("when", 9, 12)))

    assert list(parted(line)) == [("to ", None), ("Rome", "city"), (", ", None), ("now", "when")]
