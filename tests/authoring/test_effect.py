"""The effect of an edit: which answers change, within a time limit."""

from __future__ import annotations

from pathlib import Path

import pytest

from intentmatch import Matcher
from intentmatch.authoring import effect
from intentmatch.authoring.effect import Comparison, Effect, effect_of
from intentmatch.core.types import Case, Registry
from intentmatch.evaluation.compare.diff import compare
from intentmatch.evaluation.compare.rounds import Rounds, before
from intentmatch.registry.editing.edits import AddUtterance, Edit, MoveUtterance, RemoveUtterance
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


def test_description_that_excludes_something_is_compared(shop: Path) -> None:
    """What it excludes is no negative of the author, and no message either."""
    (shop / "shop.yaml").write_text(
        "language: en\nintents:\n"
        "  track: {description: 'where a parcel is, but not prices', utterances: [where is my parcel, track it]}\n"
        "  refund: {description: 'money back, except for gift cards', utterances: [money back please, refund me]}\n",
        encoding="utf-8",
    )
    matcher = Matcher.load(shop)
    after = plan(shop, [AddUtterance("refund", "what does it cost")]).registry

    assert effect_of(matcher, after).compared["held_out"] == (4, 4)
    assert compare(matcher, Matcher.load(after)).to_dict()


def test_unchanged_registry_has_no_effect(shop: Path) -> None:
    matcher = Matcher.load(shop)

    assert effect_of(matcher, matcher.registry).to_dict()["changes"] == []


def test_time_limit_leaves_out_what_was_not_reached(shop: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    matcher = Matcher.load(shop)
    registry = plan(shop, [RemoveUtterance("refund my money")]).registry

    nothing = effect_of(matcher, registry, seconds=-1)
    assert (nothing.diff, nothing.sampled) == (None, True)
    assert nothing.to_dict()["compared"]["held_out"]["messages"] == 0

    done = 0
    go_on = Rounds.go_on

    def counted(rounds: Rounds) -> None:
        nonlocal done
        go_on(rounds)
        done += 1

    monkeypatch.setattr(Rounds, "go_on", counted)
    monkeypatch.setattr(effect, "after", lambda most: lambda: done >= most)
    part = effect_of(matcher, registry, seconds=1)
    compared, total = part.compared["held_out"]
    assert 0 < compared < total
    assert part.sampled
    assert part.diff is not None


def test_more_time_goes_on_where_the_comparison_stopped(shop: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    matcher = Matcher.load(shop)
    registry = plan(shop, [RemoveUtterance("refund my money")]).registry
    whole = effect_of(matcher, registry)
    done = trials = 0
    go_on, trial = Rounds.go_on, Matcher.trial

    def counted(rounds: Rounds) -> None:
        nonlocal done
        go_on(rounds)
        done += 1

    def tried(one: Matcher, edited: Registry) -> Matcher:
        nonlocal trials
        trials += 1
        return trial(one, edited)

    monkeypatch.setattr(Rounds, "go_on", counted)
    monkeypatch.setattr(Matcher, "trial", tried)
    monkeypatch.setattr(effect, "after", lambda most: lambda: done >= most)
    comparison = Comparison(matcher, registry, [Case("find my parcel", None, "en")])
    parts = [comparison.go_on(seconds) for seconds in (1, 2, 99)]

    seen = [part.compared["held_out"][0] for part in parts]
    assert seen == sorted(set(seen))
    assert [part.sampled for part in parts] == [True, True, False]
    assert (trials, done) == (1, len(before(matcher).folds))
    assert parts[-1].compared["held_out"] == whole.compared["held_out"]


def test_only_the_newest_messages_are_compared(shop: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(effect, "MOST_MESSAGES", 2)
    matcher = Matcher.load(shop)

    found = effect_of(matcher, matcher.registry, [Case(text, None, None) for text in ("one", "two", "three")])

    assert found.compared["messages"] == (2, 3)
    assert found.sampled


def test_summary_does_not_count_messages_that_were_not_compared(shop: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Zero broken answers of zero would read as an edit without effect."""
    monkeypatch.setattr(Rounds, "finished", True)
    matcher = Matcher.load(shop)
    found = effect_of(matcher, matcher.registry)
    nothing = Effect(found.diff, {"held_out": (0, 8), "tests": (0, 0), "messages": (0, 0)})

    assert nothing.summary == nothing.to_dict()["summary"] == "none of 8 messages could be compared in time"
    assert found.summary == "0 fixed, 0 broken, 0 answered differently"
