"""The effect of an edit: which answers change, within a time limit."""

from __future__ import annotations

from pathlib import Path

import pytest

from intentmatch import Matcher
from intentmatch.authoring import effect
from intentmatch.authoring.effect import Effect, effect_of
from intentmatch.core.types import Case
from intentmatch.registry.editing.edits import Edit, MoveUtterance, RemoveUtterance
from intentmatch.registry.editing.plan import plan

TEXT = """\
version: 1
language: en
intents:
  track: {utterances: [where is my parcel, where is my package, track my parcel, has my package been sent]}
  refund: {utterances: [money back please, refund my money, i want my money back, give me a refund]}
tests:
  - {text: where is the parcel, intent: track}
"""


@pytest.fixture
def shop(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("INTENTMATCH_CACHE", "off")
    (tmp_path / "shop.yaml").write_text(TEXT, encoding="utf-8")
    return tmp_path


def moves() -> list[Edit]:
    return [MoveUtterance(text, "refund") for text in ("where is my parcel", "track my parcel", "where is my package")]


def test_changed_answers_come_with_reasons(shop: Path) -> None:
    matcher = Matcher.load(shop)
    found = effect_of(matcher, plan(shop, moves()).registry, [Case("find my parcel", None, "en")])

    values = found.to_dict()
    assert not found.sampled
    assert found.compared["tests"] == (1, 1)
    assert found.compared["messages"] == (1, 1)
    assert found.compared["held_out"][0] == found.compared["held_out"][1] > 0
    assert {"tests", "messages"} <= {change["source"] for change in values["changes"]}
    test = next(change for change in values["changes"] if change["source"] == "tests")
    assert (test["effect"], test["new"]["intent"]) == ("worse", "refund")
    assert any("moved here from track" in reason for reason in test["reasons"])
    assert matcher.match("track my parcel").intent == "track"


def test_unchanged_registry_has_no_effect(shop: Path) -> None:
    matcher = Matcher.load(shop)

    assert effect_of(matcher, matcher.registry).to_dict()["changes"] == []


def test_time_limit_leaves_out_what_was_not_reached(shop: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    matcher = Matcher.load(shop)
    registry = plan(shop, [RemoveUtterance("refund my money")]).registry

    nothing = effect_of(matcher, registry, seconds=-1)
    assert (nothing.diff, nothing.sampled) == (None, True)
    assert nothing.to_dict()["compared"]["held_out"]["messages"] == 0

    folds = 0

    def stop() -> bool:
        return folds > 0

    rounds = effect.paired_rounds

    def counted(*arguments: object) -> object:
        nonlocal folds
        for fold in rounds(*arguments):  # type: ignore[arg-type]
            yield fold
            folds += 1

    monkeypatch.setattr(effect, "after", lambda seconds: stop)
    monkeypatch.setattr(effect, "paired_rounds", counted)
    part = effect_of(matcher, registry)
    done, total = part.compared["held_out"]
    assert 0 < done < total
    assert part.sampled
    assert part.diff is not None


def test_only_the_newest_messages_are_compared(shop: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(effect, "MOST_MESSAGES", 2)
    matcher = Matcher.load(shop)

    found = effect_of(matcher, matcher.registry, [Case(text, None, None) for text in ("one", "two", "three")])

    assert found.compared["messages"] == (2, 3)
    assert found.sampled


def test_summary_does_not_count_messages_that_were_not_compared(shop: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Zero broken answers of zero would read as an edit without effect."""
    monkeypatch.setattr(effect, "paired_rounds", lambda *_: iter(()))
    matcher = Matcher.load(shop)
    found = effect_of(matcher, matcher.registry)
    nothing = Effect(found.diff, {"held_out": (0, 8), "tests": (0, 0), "messages": (0, 0)})

    assert nothing.summary == nothing.to_dict()["summary"] == "none of 8 messages could be compared in time"
    assert found.summary == "0 fixed, 0 broken, 0 answered differently"
