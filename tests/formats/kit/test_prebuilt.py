"""Tests for mapping built-in types of other programs to kinds of slots."""

from __future__ import annotations

import pytest

from intentmatch.core.errors import Location
from intentmatch.formats.kit.draft import Draft
from intentmatch.formats.kit.prebuilt import bare, is_built_in, slot_of, take_built_in
from intentmatch.formats.kit.roles import Roles
from intentmatch.formats.kit.slot_draft import SlotDraft

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
        ("datetimeV2", "datetime", []),
        ("@sys.date-time", "datetime", []),
        ("snips/datePeriod", "datetime", []),
        ("wit$temperature", "temperature", []),
        ("wit$amount_of_money", "money", []),
        ("@sys.unit-currency", "money", []),
        ("sys-currency", "money", []),
        ("Quantity.Currency", "money", []),
        ("AMAZON.DURATION", "duration", []),
        ("builtin.ordinalV2", "ordinal", []),
        ("AMAZON.EmailAddress", "email", []),
        ("@sys.phone-number", "phone", []),
        ("URL", "url", []),
        ("@sys.percentage", "number", ["built-in"]),
        ("AMAZON.PhoneNumber", "phone", []),
        ("@sys.given-name", "any", ["built-in"]),
        ("@sys.person", "any", ["built-in"]),
        ("@sys.geo-city", "any", ["built-in"]),
        ("@sys.location", "any", ["built-in"]),
        ("AMAZON.US_STATE", "any", ["built-in"]),
        ("geographyV2", "any", ["built-in"]),
        ("@sys.music-artist", "any", ["built-in"]),
        ("@sys.color", None, ["not-expressed"]),
        ("", None, ["not-expressed"]),
    ],
)
def test_built_in_type_becomes_nearest_kind(name, kind, noted):
    """Differences are reported; without a kind, labelled values decide."""
    draft, slot = Draft(), SlotDraft("x", PLACE)
    take_built_in(slot, name, PLACE, draft)

    assert slot.kind == kind
    assert [problem.rule for problem in draft.problems] == noted


@pytest.mark.parametrize(("name", "rest"), [("@sys.date", "date"), ("wit$datetime", "datetime"), ("AMAZON.X", "X")])
def test_built_in_types_are_recognised_by_prefix(name, rest):
    assert is_built_in(name)
    assert not is_built_in(rest)
    assert bare(name) == rest


def test_undeclared_type_is_reported():
    draft = Draft()
    roles = Roles(draft)
    draft.type("Known", PLACE).add("a")

    assert slot_of(roles, "one", "Known", PLACE, draft).like is draft.types["Known"]
    assert draft.problems == ()
    slot_of(roles, "two", "Unknown", PLACE, draft)
    assert [problem.rule for problem in draft.problems] == ["unknown-type"]
