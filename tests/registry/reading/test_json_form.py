"""JSON form of a registry: round trips, and shared values stored once."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from intentmatch.core.errors import Location
from intentmatch.core.types import Case, Intent, Mark, Registry, Rule, Slot, SlotValue, Utterance
from intentmatch.registry import examine
from intentmatch.registry.reading.json_form import from_plain, to_plain

VALID = sorted((Path(__file__).parents[1] / "data").glob("valid/*.yaml"))
TEXTS = st.text(max_size=5)
PLACES = st.none() | st.builds(Location, st.sampled_from(["a.yaml", "b.yaml"]), st.integers(1, 3), st.integers(1, 3))
UTTERANCES = st.builds(
    Utterance,
    TEXTS,
    st.none() | st.sampled_from(["en", "de"]),
    PLACES,
    st.none() | st.sampled_from(["{x}", "(a|b)"]),
    st.lists(st.builds(Mark, TEXTS, st.integers(0, 5), st.integers(0, 5)), max_size=2).map(tuple),
)
LINES = st.lists(UTTERANCES, max_size=5).map(tuple)
SAID = st.dictionaries(st.sampled_from(["", "en", "de"]), TEXTS, max_size=2)
SLOTS = st.lists(
    st.builds(
        Slot,
        TEXTS,
        st.sampled_from(["list", "pattern", "any"]),
        st.lists(st.builds(SlotValue, TEXTS, LINES), max_size=2).map(tuple),
        st.lists(TEXTS, max_size=2).map(tuple),
        LINES,
        st.booleans(),
        SAID,
        PLACES,
    ),
    max_size=3,
).map(tuple)
INTENTS = st.builds(
    Intent,
    TEXTS,
    LINES,
    LINES,
    slots=SLOTS,
    when=st.lists(TEXTS, max_size=2).map(tuple),
    location=PLACES,
    responses=SAID,
    confirm=st.booleans(),
    more_responses=st.dictionaries(
        st.sampled_from(["", "en", "de"]), st.lists(TEXTS, min_size=1, max_size=2).map(tuple), max_size=2
    ),
)
REGISTRIES = st.builds(
    Registry,
    st.lists(INTENTS, max_size=3).map(tuple),
    slots=SLOTS,
    rules=st.lists(st.builds(Rule, TEXTS, SAID, PLACES), max_size=2).map(tuple),
)


def there_and_back(registry: Registry) -> Registry:
    return from_plain(json.loads(json.dumps(to_plain(registry))))


@given(REGISTRIES)
def test_json_form_round_trip_of_any_registry(registry: Registry):
    """The fingerprint is the same too."""
    assert there_and_back(registry) == registry
    assert there_and_back(registry).fingerprint == registry.fingerprint


@pytest.mark.parametrize("file", VALID, ids=lambda file: file.stem)
@pytest.mark.parametrize("expand", [True, False])
def test_json_form_round_trip_of_yaml_files(file: Path, expand):
    """Tests and the locations of settings are not stored."""
    registry, _ = examine(file, expand=expand)

    found = there_and_back(registry)

    assert (found.intents, found.slots, found.rules) == (registry.intents, registry.slots, registry.rules)


def test_tests_are_stored_on_request():
    cases = (Case("hi", "a"), Case("a or b", ("a", "b"), "en", Location("f", 3, 5)), Case("rain?", None))
    registry = Registry((Intent("a", (Utterance("x"),)),), tests=cases)

    assert from_plain(json.loads(json.dumps(to_plain(registry, tests=True)))) == registry
    assert there_and_back(registry).tests == ()


def test_shared_templates_and_slots_are_stored_once():
    slot = Slot("city", "list", tuple(SlotValue(f"city number {n}") for n in range(100)))
    place = Location("a/long/path/to/a/file.yaml", 7, 9)
    utterances = tuple(Utterance(f"{n}", "en", place, "a (long|short) template") for n in range(60))
    registry = Registry((Intent("a", utterances, slots=(slot,)), Intent("b", utterances, slots=(slot,))), slots=(slot,))

    text = json.dumps(to_plain(registry))

    assert text.count("template") == text.count("long/path") == 2
    assert text.count("city number 7") == 11
