"""Tests for mapping built-in types of other programs to kinds of slots."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml

from intentmatch.core.errors import Location
from intentmatch.formats.kit.draft import Draft
from intentmatch.formats.kit.prebuilt import bare, is_built_in, slot_of, take_built_in
from intentmatch.formats.kit.roles import Roles
from intentmatch.formats.kit.slot_draft import SlotDraft

CASES = yaml.safe_load(Path(__file__).with_name("prebuilt.yaml").read_text(encoding="utf-8"))
PLACE = Location("file")


@pytest.mark.parametrize(
    ("name", "kind", "noted"), [(name, case["kind"], case["noted"]) for case in CASES for name in case["names"]]
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
