"""A snapshot answers from one registry, whatever is reloaded meanwhile."""

from __future__ import annotations

from pathlib import Path

import pytest
from fakes import WordHashEncoder

from intentmatch import Matcher
from intentmatch.core.errors import InputError, UnknownNameError
from intentmatch.matching.options import MatchOptions

BEFORE = "intents:\n  greet: {utterances: [hello there]}\n  leave: {utterances: [goodbye then]}\n"
AFTER = BEFORE + "  thank: {utterances: [many thanks]}\n"


@pytest.fixture
def file(tmp_path: Path) -> Path:
    file = tmp_path / "bot.yaml"
    file.write_text(BEFORE, encoding="utf-8")
    return file


def test_snapshot_keeps_its_registry_after_reload(file):
    matcher = Matcher.load(file, encoder=WordHashEncoder(), cache="off")
    snapshot = matcher.snapshot()
    fingerprint = matcher.fingerprint
    file.write_text(AFTER, encoding="utf-8")

    matcher.reload()

    assert [matcher.match("many thanks").intent, snapshot.match("many thanks").intent] == ["thank", None]
    assert (len(matcher.registry), len(snapshot.registry)) == (3, 2)
    assert matcher.fingerprint != snapshot.fingerprint == fingerprint
    assert snapshot.encoder is matcher.encoder


def test_match_each_returns_errors_in_place_of_results(file):
    snapshot = Matcher.load(file, encoder=WordHashEncoder(), cache="off").snapshot()
    options = [MatchOptions(), MatchOptions(top_k=0), MatchOptions(allowed=("leave",))]

    first, second, third = snapshot.match_each([("hello there", one) for one in options])

    assert first.intent == "greet"
    assert isinstance(second, InputError)
    assert third.intent is None


def test_match_each_takes_options_as_a_mapping_too(file):
    """Keywords of `match` in a mapping equal `MatchOptions`; an unknown keyword is the answer of its message alone."""
    first, second, wrong = Matcher.load(file).match_each(
        [("hello", {"top_k": 1}), ("hello", MatchOptions(top_k=1)), ("hello", {"topk": 1})]
    )

    assert first == second == Matcher.load(file).match("hello", top_k=1)
    assert isinstance(wrong, UnknownNameError)
