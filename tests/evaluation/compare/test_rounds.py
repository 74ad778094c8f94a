"""Rounds of held-out utterances: the side before an edit is worked out once, and likely changes come first."""

from __future__ import annotations

import gc
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from intentmatch import Matcher
from intentmatch.core.types import Case, Registry
from intentmatch.evaluation.compare import rounds
from intentmatch.evaluation.compare.rounds import Rounds, before
from intentmatch.evaluation.outcomes import Outcome
from intentmatch.evaluation.runner import Runner
from intentmatch.matching.snapshot import Snapshot
from intentmatch.registry.editing.edits import AddUtterance, Edit, MoveUtterance, RemoveUtterance, RenameIntent
from intentmatch.registry.editing.fields import SetField
from intentmatch.registry.editing.plan import plan

WORDS = ("parcel", "box", "letter", "package", "order", "crate", "book", "lamp")
VERBS = {"track": "where is", "refund": "money back for", "cancel": "please stop", "gift": "wrap up"}


@pytest.fixture
def shop(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("INTENTMATCH_CACHE", "off")
    lines = {name: ", ".join(f"{verb} my {word}" for word in WORDS) for name, verb in VERBS.items()}
    intents = [f"  {name}: {{utterances: [{said}]}}" for name, said in lines.items()]
    text = "\n".join(["version: 1", "language: en", "intents:", *intents, ""])
    (tmp_path / "shop.yaml").write_text(text, encoding="utf-8")
    return tmp_path


def sides(shop: Path, edits: Sequence[Edit]) -> tuple[Snapshot, Snapshot]:
    matcher = Matcher.load(shop)
    return matcher.snapshot(), matcher.trial(plan(shop, edits).registry).snapshot()


def asked(monkeypatch: pytest.MonkeyPatch) -> list[tuple[set[str], set[str]]]:
    """Record the utterances that each run builds from, and those that it asks about."""
    found: list[tuple[set[str], set[str]]] = []
    run = Runner.run

    def recorded(runner: Runner, registry: Registry, cases: Sequence[Case], **options: Any) -> list[Outcome]:
        found.append(({line.text for line in registry.utterances}, {case.text for case in options["untimed"]}))
        return run(runner, registry, cases, **options)

    monkeypatch.setattr(Runner, "run", recorded)
    return found


def finish(comparison: Rounds) -> None:
    while not comparison.finished:
        comparison.go_on()


def test_side_before_is_worked_out_once_for_all_edits(shop: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    runs = asked(monkeypatch)
    matcher = Matcher.load(shop)
    old = matcher.snapshot()
    counts = []
    for text in ("any news of my box", "has my lamp gone out"):
        new = matcher.trial(plan(shop, [AddUtterance("track", text)]).registry).snapshot()
        finish(Rounds(old, new, {}))
        counts.append(len(runs))

    folds = len(before(old).folds)
    assert counts == [2 * folds, 3 * folds]


def test_side_before_goes_with_its_registry(shop: Path) -> None:
    matcher = Matcher.load(shop)
    number = id(matcher.artefact)
    before(matcher.snapshot())
    assert number in rounds._kept

    (shop / "shop.yaml").write_text((shop / "shop.yaml").read_text().replace("my lamp", "my torch"), encoding="utf-8")
    kept = rounds._kept[number]
    matcher.reload()
    gc.collect()
    assert rounds._kept.get(number) is not kept


def test_few_sides_before_are_kept(shop: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rounds, "_MOST_KEPT", 2)
    matchers = [Matcher.load(shop) for _ in range(4)]
    for matcher in matchers:
        before(matcher)

    assert [*rounds._kept] == [id(matcher.artefact) for matcher in matchers[-2:]]


def test_nothing_is_asked_about_that_was_learned(shop: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A new line that is nearly one that is held out goes with it, or it would answer for it."""
    runs = asked(monkeypatch)
    old, new = sides(shop, [AddUtterance("track", "where is my parcell"), MoveUtterance("wrap up my book", "track")])
    comparison = Rounds(old, new, {})
    finish(comparison)

    was, now = comparison.outcomes
    assert all(learned.isdisjoint(asked) for learned, asked in runs)
    with_parcel = [learned for learned, asked in runs if "where is my parcel" in asked]
    assert all("where is my parcell" not in learned for learned in with_parcel)
    assert len(was) == len(now) == comparison.total
    # The line that moved expects another intent, the new one has no side before.
    assert {outcome.case.text for outcome in now}.isdisjoint({"where is my parcell", "wrap up my book"})


def test_renamed_intent_is_compared_with_itself(shop: Path) -> None:
    old, new = sides(shop, [RenameIntent("track", "find")])
    comparison = Rounds(old, new, {"track": "find"})
    finish(comparison)

    was, now = comparison.outcomes
    pairs = {(one.case.expected, two.case.expected) for one, two in zip(was, now, strict=True)}
    assert ("track", "find") in pairs
    assert all(one.case.text == two.case.text for one, two in zip(was, now, strict=True))


@pytest.mark.parametrize(
    ("edit", "near"),
    [
        (AddUtterance("gift", "where is my parcel or box"), "^where is"),
        (RemoveUtterance("money back for my lamp"), "^money back for|lamp$"),
        (SetField("cancel", "threshold", "99%"), "^please stop"),
    ],
)
def test_likely_changes_come_first(shop: Path, monkeypatch: pytest.MonkeyPatch, edit: Edit, near: str) -> None:
    monkeypatch.setattr(rounds, "LIKELY", 2)
    monkeypatch.setattr(rounds, "FOLDS", 3)
    old, new = sides(shop, [edit])
    comparison = Rounds(old, new, {})
    comparison.go_on()
    first = [outcome.case.text for outcome in comparison.outcomes[0]]
    assert first
    assert all(re.search(near, text) for text in first)

    # Each intent keeps most of its lines, and in the end each line counts once, with the outcome of its fold.
    finish(comparison)
    random = Rounds(old, new, {}, likely_first=False)
    finish(random)
    assert {o.case.text: o.verdict for o in comparison.outcomes[1]} == {
        o.case.text: o.verdict for o in random.outcomes[1]
    }
    assert len(comparison.outcomes[0]) == comparison.total == random.total


def test_stopped_round_begins_again(shop: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    old, new = sides(shop, [RemoveUtterance("wrap up my lamp")])
    comparison = Rounds(old, new, {})
    run = Runner.run

    def stopped(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(Runner, "run", stopped)
    with pytest.raises(KeyboardInterrupt):
        comparison.go_on()
    monkeypatch.setattr(Runner, "run", run)
    finish(comparison)
    assert len(comparison.outcomes[0]) == comparison.total


def test_held_out_line_takes_the_same_line_of_another_intent_along(shop: Path) -> None:
    path = shop / "shop.yaml"
    shared = "  again: {when: [paid], utterances: [where is my box, once more, repeat that]}\n"
    path.write_text(path.read_text(encoding="utf-8") + shared, encoding="utf-8")
    old, new = sides(shop, [AddUtterance("again", "the same thing")])
    after = rounds._After(old, new, {})

    rows = after.held_out({("track", "where is my box")})
    owners = {new.registry.intents[new.registry.owners[row]].name for row in rows}
    assert owners == {"track", "again"}
