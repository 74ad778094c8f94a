"""A revision is evaluated against the one before it, on the same messages, within a time limit."""

from __future__ import annotations

import time
from contextlib import ExitStack
from pathlib import Path

import pytest
from authoring.conftest import TEXT

from intentmatch import Matcher
from intentmatch.authoring.revision_scores import Scores
from intentmatch.authoring.score_revision import evaluate, scores_of
from intentmatch.authoring.workspace import ANY, Workspace
from intentmatch.core.errors import InputError, UnknownNameError
from intentmatch.registry.editing.edits import AddTest, AddUtterance, MoveUtterance
from intentmatch.runtime import steps

SHOP = """\
version: 1
language: en
intents:
  track: {utterances: [where is my parcel, where is my package, track my parcel, has my package been sent]}
  refund: {utterances: [money back please, refund my money, i want my money back, give me a refund]}
tests:
  - {text: where is the parcel, intent: track}
"""


@pytest.fixture
def shop(bot: Path) -> Path:
    (bot / "bot.yaml").write_text(SHOP, encoding="utf-8")
    return bot


def test_revision_has_the_answers_before_and_after(shop: Path) -> None:
    workspace, matcher = Workspace(shop), Matcher.load(shop)
    moves = [MoveUtterance(text, "refund") for text in ("where is my parcel", "track my parcel", "where is my package")]
    done = workspace.write(moves, author="anna", note="", expected=ANY)
    assert done.revision is not None
    assert workspace.scores.read(done.revision.id) is None

    scores = evaluate(workspace, done.revision.id, matcher)

    by_source = {one.source: one for one in scores.sources}
    assert (by_source["tests"].right_before, by_source["tests"].right_after) == (1, 0)
    assert by_source["held_out"].messages == by_source["held_out"].of > 0
    assert scores.broken >= 1
    assert not scores.sampled
    assert Workspace(shop).scores.read(done.revision.id) == scores


def test_first_revision_has_no_answers_before(shop: Path) -> None:
    workspace = Workspace(shop)
    workspace.begin_history()

    scores = evaluate(workspace, "1", Matcher.load(shop))

    assert [(one.source, one.right_before) for one in scores.sources] == [("held_out", None), ("tests", None)]
    assert scores.fixed == scores.broken == 0


def test_invalid_revision_is_refused_and_the_next_one_has_nothing_before(shop: Path) -> None:
    workspace, matcher = Workspace(shop), Matcher.load(shop)
    (shop / "bot.yaml").write_text("intents: [", encoding="utf-8")
    workspace.begin_history()
    (shop / "bot.yaml").write_text(SHOP, encoding="utf-8")
    workspace.write([AddTest("my parcel", "track")], author="anna", note="", expected=ANY)

    with pytest.raises(InputError, match=r"^revision 1 has errors in its files: bot\.yaml:1: "):
        evaluate(workspace, "1", matcher)
    assert evaluate(workspace, "2", matcher).sources[0].right_before is None
    assert [one.source for one in evaluate(workspace, "3", matcher).sources] == ["held_out", "tests"]
    with pytest.raises(UnknownNameError):
        evaluate(workspace, "7", matcher)


def test_no_time_leaves_everything_out_and_says_so(shop: Path) -> None:
    registry = Matcher.load(shop).registry

    assert scores_of(Matcher.load(shop), registry, registry, seconds=-1) == Scores((), 0, 0, sampled=True)


def test_time_that_ends_in_the_middle_keeps_what_was_reached(shop: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    matcher, now = Matcher.load(shop), time.monotonic()
    passed = [0.0]
    monkeypatch.setattr(time, "monotonic", lambda: now + passed[0])

    def passing(step: steps.Step) -> None:
        passed[0] += 60.0 if step.name.startswith("held-out") else 0.0

    with steps.listening(passing):
        scores = scores_of(matcher, matcher.registry, matcher.registry)

    assert [one.source for one in scores.sources] == ["tests"]
    assert scores.sampled


def test_only_one_may_evaluate_at_a_time(bot: Path) -> None:
    workspace = Workspace(bot)
    with workspace.scores.turn() as first, Workspace(bot).scores.turn() as second:
        assert (first, second) == (True, False)
    with Workspace(bot).scores.turn() as third:
        assert third


def test_evaluation_waits_until_another_has_ended(bot: Path) -> None:
    with ExitStack() as other:
        other.enter_context(Workspace(bot).scores.turn())

        def gives_up() -> bool:
            other.close()
            return False

        with Workspace(bot).scores.turn(gives_up) as mine:
            assert mine


def test_registry_too_small_to_hold_out_is_evaluated_on_nothing(bot: Path) -> None:
    workspace = Workspace(bot)
    (bot / "bot.yaml").write_text(TEXT, encoding="utf-8")
    workspace.write([AddUtterance("bye", "see you")], author="anna", note="", expected=ANY)

    scores = evaluate(workspace, "2", Matcher.load(bot))

    assert {one.source for one in scores.sources} <= {"held_out"}
    assert not scores.sampled
