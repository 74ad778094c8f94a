"""Placeholders of slots in responses."""

from __future__ import annotations

from intentmatch.core.placeholders import fill, placeholders


def test_each_pair_of_braces_is_found_with_its_position():
    assert [*placeholders("a {size} of { x } and {} {{b}}")] == [("size", 2), (" x ", 12), ("b", 26)]


def test_values_replace_their_slots_and_other_braces_stay():
    assert fill("A {size} for {user}, {{size}} {", {"size": "large"}) == "A large for {user}, {large} {"
