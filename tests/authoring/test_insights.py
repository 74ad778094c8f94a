"""Insights in the background: worked out once, shared, stopped when outdated, and tried again after a failure."""

from __future__ import annotations

import gc
import threading
import weakref
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from intentmatch import Matcher
from intentmatch.authoring import insights
from intentmatch.authoring.insights import (
    Failed,
    Insights,
    Rank,
    Ready,
    Working,
    held_out_of,
    issues_of,
    learning_curve_of,
    overlaps_of,
    prepare,
    utterance_map_of,
)
from intentmatch.authoring.workspace import Workspace
from intentmatch.core.errors import InputError
from intentmatch.runtime import steps

TEXT = """\
version: 1
language: en
intents:
  track: {utterances: [where is my parcel, where is my package, track my parcel, has my package been sent]}
  refund: {utterances: [money back please, refund my money, i want my money back, give me a refund]}
"""


class Waiting:
    """Work that reports steps until it is released."""

    def __init__(self, value: str = "done") -> None:
        self.began, self.go_on = threading.Event(), threading.Event()
        self.times, self._value = 0, value

    def __call__(self) -> str:
        self.times += 1
        self.began.set()
        while not self.go_on.wait(0.005):
            steps.report("waiting", 3, 10)
        return self._value


def test_result_is_worked_out_once():
    work, found = Waiting(), Insights()
    assert isinstance(found.ask("one", work), Working)
    assert work.began.wait(60)
    assert isinstance(found.ask("one", work), Working)
    work.go_on.set()

    assert found.ask("one", work, seconds=5) == Ready("done")
    assert found.ask("one", work) == Ready("done")
    assert work.times == 1


def test_progress_is_that_of_the_work():
    work, found = Waiting(), Insights()
    found.ask("one", work)
    assert work.began.wait(60)
    state = found.ask("one", work, seconds=0.1)
    work.go_on.set()

    assert isinstance(state, Working)
    assert (state.step.name, state.step.done, state.step.total) == ("waiting", 3, 10)
    assert state.seconds > 0.0


def test_newer_content_stops_older_work():
    old, new, found = Waiting("old"), Waiting("new"), Insights()
    found.ask("old", old, lane="map")
    assert old.began.wait(60)
    new.go_on.set()

    assert found.ask("new", new, lane="map", seconds=5) == Ready("new")
    old.go_on.set()
    assert found.ask("old", old, lane="map", seconds=5) == Ready("old")
    assert old.times == 2


def test_other_lanes_go_on():
    one, other, found = Waiting("one"), Waiting("other"), Insights()
    found.ask("one", one, lane="map")
    found.ask("other", other, lane="overlaps")
    one.go_on.set()
    other.go_on.set()

    assert found.ask("one", one, lane="map", seconds=5) == Ready("one")
    assert found.ask("other", other, lane="overlaps", seconds=5) == Ready("other")
    assert one.times == 1


def test_long_work_pauses_for_short_work():
    begin, short, found = threading.Event(), Waiting("short"), Insights()

    def long() -> str:
        begin.wait(60)
        steps.report("a step of long work")
        return "long"

    found.ask("long", long, rank=Rank.LONG)
    found.ask("short", short)
    begin.set()

    assert isinstance(found.ask("long", long, rank=Rank.LONG, seconds=0.2), Working)
    assert short.began.wait(60)
    short.go_on.set()
    assert found.ask("short", short, seconds=5) == Ready("short")
    assert found.ask("long", long, rank=Rank.LONG, seconds=5) == Ready("long")


def test_long_work_waits_for_other_long_work():
    one, other, found = Waiting("one"), Waiting("other"), Insights()
    found.ask("one", one, rank=Rank.LONG)
    assert one.began.wait(60)
    other.go_on.set()

    assert isinstance(found.ask("other", other, rank=Rank.LONG, seconds=0.1), Working)
    assert not other.times
    one.go_on.set()
    assert found.ask("other", other, rank=Rank.LONG, seconds=5) == Ready("other")


def test_work_in_advance_gives_way_and_begins_again():
    ahead, short, found = Waiting("ahead"), Waiting("short"), Insights()
    found.ask("ahead", ahead, rank=Rank.ADVANCE)
    assert ahead.began.wait(60)
    found.ask("short", short)
    waits = found.ask("ahead", ahead, rank=Rank.ADVANCE, seconds=0.2)
    assert isinstance(waits, Working)
    assert waits.step.name == "waiting for other work"
    short.go_on.set()

    assert found.ask("short", short, seconds=5) == Ready("short")
    ahead.go_on.set()
    assert found.ask("ahead", ahead, seconds=5) == Ready("ahead")
    assert ahead.times == 2


def test_work_in_advance_that_somebody_asks_for_is_not_stopped():
    ahead, other, found = Waiting("ahead"), Waiting("other"), Insights()
    found.ask("ahead", ahead, rank=Rank.ADVANCE)
    assert ahead.began.wait(60)
    assert isinstance(found.ask("ahead", ahead), Working)
    found.ask("other", other)
    other.go_on.set()

    assert isinstance(found.ask("other", other, seconds=0.1), Working)
    ahead.go_on.set()
    assert found.ask("ahead", ahead, seconds=5) == Ready("ahead")
    assert found.ask("other", other, seconds=5) == Ready("other")
    assert (ahead.times, other.times) == (1, 1)


def test_work_in_advance_for_older_content_is_stopped():
    old, new, found = Waiting("old"), Waiting("new"), Insights()
    found.ask("old", old, lane="map", rank=Rank.ADVANCE)
    assert old.began.wait(60)
    new.go_on.set()

    found.ask("new", new, lane="map", rank=Rank.ADVANCE)

    assert found.ask("new", new, seconds=5) == Ready("new")
    assert old.times == 1


def test_failure_is_told_and_tried_again_later(monkeypatch: pytest.MonkeyPatch):
    found, answers = Insights(), [InputError("no such file"), "here"]

    def work() -> Any:
        answer = answers.pop(0)
        if isinstance(answer, Exception):
            raise answer
        return answer

    assert found.ask("one", work, seconds=5) == Failed("no such file")
    assert found.ask("one", work, seconds=5) == Failed("no such file")
    monkeypatch.setattr(insights, "_SECONDS_UNTIL_NEXT_TRY", -1.0)
    assert found.ask("one", work, seconds=5) == Ready("here")


def test_unexpected_error_is_logged_and_not_shown(caplog: pytest.LogCaptureFixture):
    def work() -> None:
        raise ZeroDivisionError("secret")

    state = Insights().ask("one", work, seconds=5)

    assert isinstance(state, Failed)
    assert "secret" not in state.reason
    assert "ZeroDivisionError" in caplog.text


def test_oldest_results_are_forgotten():
    found, times = Insights(most=2), dict.fromkeys("abc", 0)

    def work(name: str) -> Callable[[], str]:
        def run() -> str:
            times[name] += 1
            return name

        return run

    for name in "abca":
        assert found.ask(name, work(name), seconds=5) == Ready(name)

    assert times == {"a": 2, "b": 1, "c": 1}


@pytest.fixture
def shop(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("INTENTMATCH_CACHE", "off")
    (tmp_path / "shop.yaml").write_text(TEXT, encoding="utf-8")
    return tmp_path


def test_every_insight_of_a_registry(shop: Path):
    matcher = Matcher.load(shop)

    for ask in (utterance_map_of, overlaps_of, held_out_of, learning_curve_of):
        state = ask(matcher, 30.0)
        assert isinstance(state, Ready), (ask, state)
        again = ask(matcher)
        assert isinstance(again, Ready)
        assert again.value is state.value


def test_moved_lines_are_other_content(shop: Path):
    """The fingerprint leaves places out, but a map links to them."""
    matcher = Matcher.load(shop)
    before = utterance_map_of(matcher, 30.0)
    (shop / "shop.yaml").write_text(f"# a comment\n{TEXT}", encoding="utf-8")
    matcher.reload()

    after = utterance_map_of(matcher, 30.0)

    assert isinstance(before, Ready)
    assert isinstance(after, Ready)
    assert before.value.lines[0].location.line + 1 == after.value.lines[0].location.line


def test_issues_follow_the_files(shop: Path):
    matcher, workspace = Matcher.load(shop), Workspace(shop)
    assert isinstance(first := issues_of(matcher, workspace, 30.0), Ready)
    twice = TEXT.replace("[money back please", "[money back please, refund my money, money back please")
    (shop / "shop.yaml").write_text(twice, encoding="utf-8")

    second = issues_of(matcher, workspace, 30.0)

    assert isinstance(second, Ready)
    rules = [issue.problem.rule for issue in second.value]
    assert "duplicate-utterance" in rules
    assert "duplicate-utterance" not in [issue.problem.rule for issue in first.value]


def test_prepared_insights_are_there_when_asked_for(shop: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(insights, "shared", Insights())
    matcher, workspace = Matcher.load(shop), Workspace(shop)
    prepare(matcher, workspace)
    assert isinstance(utterance_map_of(matcher, 30.0, rank=Rank.ADVANCE), Ready)
    assert isinstance(overlaps_of(matcher, 30.0, rank=Rank.ADVANCE), Ready)
    assert isinstance(issues_of(matcher, workspace, 30.0, rank=Rank.ADVANCE), Ready)
    for work in ("utterance_map", "overlapping_intents", "issues"):
        monkeypatch.setattr(insights, work, None)

    assert isinstance(utterance_map_of(matcher), Ready)
    assert isinstance(overlaps_of(matcher), Ready)
    assert isinstance(issues_of(matcher, workspace), Ready)


def test_held_out_cases_wait_for_the_training_after_an_edit(shop: Path, monkeypatch: pytest.MonkeyPatch):
    matcher = Matcher.load(shop)
    (shop / "shop.yaml").write_text(TEXT.replace("track my parcel", "follow my parcel"), encoding="utf-8")
    matcher._reloader.reload_provisionally()
    before = matcher.artefact.calibration
    assert matcher.is_training

    state = held_out_of(matcher, 0.3)
    assert isinstance(state, Working)
    assert state.step.name == "training"
    matcher._reloader.train()

    assert not matcher.is_training
    after = held_out_of(matcher, 30.0)
    assert isinstance(after, Ready)
    assert after.value.artefact is matcher.artefact
    assert after.value.artefact.calibration is not before


def test_failed_training_leaves_nobody_waiting(shop: Path, monkeypatch: pytest.MonkeyPatch):
    matcher = Matcher.load(shop)
    (shop / "shop.yaml").write_text(TEXT.replace("track my parcel", "pursue my parcel"), encoding="utf-8")
    matcher._reloader.reload_provisionally()
    monkeypatch.setattr("intentmatch.matching.loader.RegistrySource.trained", None)

    with pytest.raises(TypeError):
        matcher._reloader.train()

    assert isinstance(held_out_of(matcher, 30.0), Ready)


def test_large_registry_is_not_prepared(shop: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(insights, "shared", None)
    monkeypatch.setattr(insights, "MOST_LINES_IN_ADVANCE", 5)

    prepare(Matcher.load(shop), Workspace(shop))


def test_map_and_overlaps_compare_the_lines_once(shop: Path, monkeypatch: pytest.MonkeyPatch):
    seen: list[Any] = []
    monkeypatch.setattr(insights, "overlapping_intents", lambda subject: seen.append(subject) or [])
    monkeypatch.setattr(insights, "utterance_map", lambda subject: seen.append(subject) or "map")
    matcher = Matcher.load(shop)
    assert utterance_map_of(matcher, seconds=60) == Ready("map")
    assert overlaps_of(matcher, seconds=60) == Ready([])

    assert seen[0] is seen[1]
    kept = weakref.ref(insights._subjects[matcher.artefact])
    seen.clear()
    del matcher
    gc.collect()
    assert kept() is None
