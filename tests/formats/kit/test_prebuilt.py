"""Built-in types of several programs, and the kinds of slots that come nearest."""

from __future__ import annotations

import pytest

from intentmatch.core.errors import Location
from intentmatch.formats.kit.draft import Draft, SlotDraft
from intentmatch.formats.kit.prebuilt import bare, is_built_in, slot_of, take_built_in
from intentmatch.formats.kit.roles import Roles

PLACE = Location("file")


@pytest.mark.parametrize(
    ("name", "kind", "noted"),
    [
        ("@sys.number", "number", []),
        ("AMAZON.FOUR_DIGIT_NUMBER", "number", []),
        ("Quantity.Number", "number", []),
        ("sys-date", "date", []),
        ("AMAZON.Time", "time", []),
        ("@sys.any", "any", []),
        ("datetimeV2", "date", ["built-in"]),
        ("wit$temperature", "number", ["built-in"]),
        ("@sys.given-name", "any", ["not-expressed"]),
        ("AMAZON.PhoneNumber", "any", ["not-expressed"]),
        ("@sys.geo-city", None, ["not-expressed"]),
        ("", None, ["not-expressed"]),
    ],
)
def test_a_built_in_type_becomes_the_nearest_kind(name, kind, noted):
    """What is lost by that is noted; without a kind, what is marked in utterances will tell."""
    draft, slot = Draft(), SlotDraft("x", PLACE)
    take_built_in(slot, name, PLACE, draft)

    assert slot.kind == kind
    assert [problem.rule for problem in draft.problems] == noted


@pytest.mark.parametrize(("name", "rest"), [("@sys.date", "date"), ("wit$datetime", "datetime"), ("AMAZON.X", "X")])
def test_built_in_types_are_known_by_their_names(name, rest):
    """Each program has its own sign for them."""
    assert is_built_in(name)
    assert not is_built_in(rest)
    assert bare(name) == rest


def test_a_slot_has_a_type_that_is_declared_or_built_in():
    """Another one is noted."""
    draft = Draft()
    roles = Roles(draft)
    draft.type("Known", PLACE).add("a")

    assert slot_of(roles, "one", "Known", PLACE, draft).like is draft.types["Known"]
    assert draft.problems == ()
    slot_of(roles, "two", "Unknown", PLACE, draft)
    assert [problem.rule for problem in draft.problems] == ["unknown-type"]
