"""Parts of a message with its slots marked."""

from __future__ import annotations

import pytest

from intentmatch.core.result import Entity
from intentmatch.studio.one_message import segments

TEXT = "from Bonn to Rome"
BONN, ROME = Entity("from", "Bonn", "Bonn", 5, 9), Entity("to", "Rome", "Rome", 13, 17)
WIDE = Entity("route", "Bonn to Rome", "Bonn to Rome", 5, 17)


@pytest.mark.parametrize(
    ("entities", "parts"),
    [
        ([], [(TEXT, None)]),
        ([ROME, BONN], [("from ", None), ("Bonn", BONN), (" to ", None), ("Rome", ROME)]),
        ([BONN, WIDE, ROME], [("from ", None), ("Bonn to Rome", WIDE)]),
    ],
)
def test_parts_are_in_order_and_never_overlap(entities, parts):
    assert list(segments(TEXT, entities)) == parts
    assert "".join(text for text, _ in segments(TEXT, entities)) == TEXT
