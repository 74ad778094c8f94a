"""Comparisons of two registries: changed answers, their effect and their reasons."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace

import pytest
from answers import LINES, NEGATIVES, follow_ups, outcome, registry_of
from fakes import WordHashEncoder

from intentmatch import Matcher, Registry
from intentmatch.core.errors import InputError
from intentmatch.core.types import Case
from intentmatch.evaluation.compare.changes import AnswerChange, RegistryDifference, changes, intent_rows
from intentmatch.evaluation.compare.diff import Diff, compare, to_json
from intentmatch.evaluation.compare.paired import paired_held_out
from intentmatch.evaluation.outcomes import Outcome
from intentmatch.evaluation.reports.diff_page import to_html

MORE = {**LINES, "pause": ["pause my order", "hold the delivery", "wait with the parcel"]}


def matcher_of(lines: Mapping[str, list[str]] | Registry, **settings: object) -> Matcher:
    registry = lines if isinstance(lines, Registry) else registry_of(dict(lines), NEGATIVES)
    return Matcher.load(registry, encoder=WordHashEncoder(), cache="off", **settings)


def without(intent: str, *texts: str) -> dict[str, list[str]]:
    return {**LINES, intent: [text for text in LINES[intent] if text not in texts]}


def test_identical_registries_give_no_changes() -> None:
    diff = compare(
        matcher_of(LINES), matcher_of(LINES), tests=[Case("my order", "status")], messages=[Case("hi", None)]
    )

    assert diff.changes == ()
    assert diff.facts == ()
    assert not any(row.touched for row in diff.intents)
    assert not any(diff.failed(on) for on in ("worse", "any", "never"))


def test_order_and_locations_are_not_edits() -> None:
    reordered = dict(reversed(list(LINES.items())))

    assert compare(matcher_of(LINES), matcher_of(reordered)).changes == ()


@pytest.mark.parametrize("folds", [2, 5, "loo"])
def test_shared_utterances_are_held_out_of_both_sides(folds) -> None:
    old, new = matcher_of(LINES), matcher_of(without("status", "track the parcel") | {"new": ["a b", "c d", "e f"]})

    pairs = paired_held_out(old, new, {}, folds=folds)

    assert [o.case.text for o in pairs.old] == [o.case.text for o in pairs.new]
    asked = {o.case.text for o in pairs.new}
    assert "track the parcel" not in asked
    assert "talk to a human" not in asked
    assert asked == {text for name, texts in LINES.items() for text in texts if name != "agent"} - {"track the parcel"}
    for found in (*pairs.old, *pairs.new):
        assert found.nearest is None or found.nearest.text != found.case.text


def test_fewer_than_two_folds_are_refused() -> None:
    with pytest.raises(InputError, match="folds must be 2 or more"):
        compare(matcher_of(LINES), matcher_of(LINES), folds=1)


def test_registries_without_shared_utterances_are_compared_on_tests() -> None:
    old, new = matcher_of({"a": ["one", "two"]}), matcher_of({"b": ["three", "four"]})

    diff = compare(old, new, tests=[Case("three", "b")])

    assert [len(a.new) for a in diff.asked] == [0, 1]
    assert (diff.edit.added, diff.edit.removed) == (["b"], ["a"])
    assert diff.count("better", "tests") == 1
    assert diff.not_asked == (2, 2)


def test_broken_test_case_is_worse_and_names_the_removed_utterance() -> None:
    cases = [Case("track the parcel", "status", "en"), Case("cancel my order", "cancel")]
    diff = compare(matcher_of(LINES), matcher_of(without("status", "track the parcel")), tests=cases)

    (change,) = [change for change in diff.changes if change.source == "tests"]
    assert (change.effect, change.direct, change.old.answer, change.new.answer) == (
        "worse",
        True,
        "status",
        "out_of_scope",
    )
    assert change.reasons[0].startswith("its nearest utterance before was removed: “track the parcel” shop.yaml:4")
    assert diff.failed("worse")
    assert not diff.failed("never")
    row = next(row for row in diff.intents if row.intent == "status")
    assert (row.added, row.removed) == (0, 1)
    assert row.broken >= 1
    assert "1 of the broken are test cases" in diff.summary


def test_new_intent_and_its_utterance_are_reasons() -> None:
    diff = compare(matcher_of(LINES), matcher_of(MORE), tests=[Case("hold the delivery", "pause")])

    change = next(change for change in diff.changes if change.source == "tests")
    assert change.effect == "better"
    assert change.reasons[0] == "the intent pause is new"
    assert change.reasons[1].startswith("its nearest utterance is new: “hold the delivery” shop.yaml:")
    assert diff.edit.added == ["pause"]


def test_logged_messages_count_only_for_fail_on_any() -> None:
    diff = compare(matcher_of(LINES), matcher_of(MORE), messages=[Case("hold the delivery", None)])

    (change,) = [change for change in diff.changes if change.source == "messages"]
    assert (change.effect, change.intent) == ("other", "pause")
    assert change.to_dict()["expected"] == "unknown"
    assert diff.asked[-1].accuracy() == (None, None)
    assert diff.failed("any")


def test_renamed_intent_gives_no_changes() -> None:
    renamed = {("state" if name == "status" else name): texts for name, texts in LINES.items()}

    diff = compare(matcher_of(LINES), matcher_of(renamed), tests=[Case("track the parcel", "state")])

    assert dict(diff.edit.renamed) == {"status": "state"}
    assert (diff.edit.added, diff.edit.removed, diff.changes) == ([], [], ())


def test_moved_utterance_is_a_reason() -> None:
    moved = {**without("hours", "business hours"), "agent": [*LINES["agent"], "business hours"]}

    diff = compare(matcher_of(LINES), matcher_of(moved), messages=[Case("business hours", None)])

    (change,) = [change for change in diff.changes if change.source == "messages"]
    assert change.reasons[0].startswith("its nearest utterance moved here from hours: “business hours”")
    assert {row.intent: (row.added, row.removed) for row in diff.intents}["agent"] == (1, 0)


def test_changed_setting_is_a_reason_and_a_fact() -> None:
    diff = compare(
        matcher_of(LINES, threshold=0.1), matcher_of(LINES, threshold=0.9), tests=[Case("my parcel order", "status")]
    )

    (change,) = [change for change in diff.changes if change.source == "tests"]
    assert "its threshold changed from 0.10 to 0.90" in change.reasons
    assert not change.direct
    names = {fact.name: fact for fact in diff.facts}
    assert names["threshold"][1:] == ("score 0.10", "score 0.90")
    assert names["setting threshold"].new == "{'default': 0.9} (argument)"


def test_changed_encoder_is_a_fact() -> None:
    other = Matcher.load(registry_of(LINES), encoder=WordHashEncoder("other", "word-hash-2"), cache="off")

    diff = compare(matcher_of(registry_of(LINES)), other)

    assert ("encoder", "fake @ word-hash-1", "other @ word-hash-2") in diff.facts


def test_tests_of_the_new_side_run_before_given_tests() -> None:
    new = replace(registry_of(LINES), tests=(Case("track the parcel", "status"),))

    diff = compare(matcher_of(LINES), matcher_of(new), tests=[Case("cancel my order", "cancel")])

    assert [o.case.text for o in diff.asked[1].new] == ["track the parcel", "cancel my order"]


@pytest.mark.parametrize(
    ("old", "new", "effect"),
    [
        (outcome("a", "a"), outcome("a", "b"), "worse"),
        (outcome("a", None), outcome("a", "a"), "better"),
        (outcome("a", "b"), outcome("a", ("a", "b")), "other"),
        (outcome(None, "a"), outcome(None, None), "better"),
        (outcome(("a", "b"), ("a", "b")), outcome(("a", "b"), "a"), "worse"),
    ],
)
def test_effect_follows_correctness(old: Outcome, new: Outcome, effect: str) -> None:
    edit = RegistryDifference.between(registry_of(LINES), registry_of(LINES))

    (change,) = changes("tests", [old], [new], edit)

    assert change.effect == effect
    assert change.reasons


def test_refused_intent_is_a_reason() -> None:
    edit = RegistryDifference.between(registry_of(LINES), registry_of(LINES))
    asked, matched = outcome("a", ("a",)), outcome("a", "a")

    (worse,) = changes("tests", [matched], [asked], edit)
    (better,) = changes("tests", [asked], [matched], edit)

    assert "the message now counts as a refusal of a" in worse.reasons
    assert "the message no longer counts as a refusal of a" in better.reasons


def test_changed_confidence_alone_is_no_change() -> None:
    edit = RegistryDifference.between(registry_of(LINES), registry_of(LINES))

    assert changes("tests", [outcome("a", "a", confidence=0.9)], [outcome("a", "a", confidence=0.2)], edit) == []


def test_fail_on_worse_needs_more_broken_than_fixed() -> None:
    edit = RegistryDifference.between(registry_of(LINES), registry_of(LINES))
    diff = compare(matcher_of(LINES), matcher_of(LINES))
    good, bad = outcome("a", "a"), outcome("a", "b")

    even = Diff(("x", "y"), edit, (diff.asked[0]._replace(old=(good, bad), new=(bad, good)),), (), (0, 0))
    worse = Diff(("x", "y"), edit, (diff.asked[0]._replace(old=(good,), new=(bad,)),), (), (0, 0))

    assert (even.failed("worse"), worse.failed("worse")) == (False, True)
    tested = compare(matcher_of(LINES), matcher_of(LINES), tests=[Case("a", "a")])
    asked = (
        tested.asked[0]._replace(old=(bad, bad), new=(good, good)),
        tested.asked[1]._replace(old=(good,), new=(bad,)),
    )
    assert Diff(("x", "y"), edit, asked, (), (0, 0)).failed("worse")  # one broken test is enough
    assert intent_rows(edit, [], worse.changes)[-1].broken == 0  # of intents that are not in the registry


def test_intents_that_got_worse_come_first() -> None:
    edit = RegistryDifference.between(registry_of(LINES), registry_of(LINES))

    def effects(intent: str, *, fixed: int, broken: int) -> list[AnswerChange]:
        right, wrong = outcome(intent, intent), outcome(intent, None)
        return changes("tests", [wrong] * fixed + [right] * broken, [right] * fixed + [wrong] * broken, edit)

    found = [*effects("agent", fixed=2, broken=1), *effects("hours", fixed=1, broken=2)]

    ordered = [row.intent for row in intent_rows(edit, [], found)]
    evened = [row.intent for row in intent_rows(edit, [], [*found, *effects("hours", fixed=1, broken=0)])]

    assert ordered == ["hours", "cancel", "status", "agent"], "equal intents by their names"
    assert evened == ["hours", "cancel", "status", "agent"], "of equal sums, what broke more comes first"


def test_json_has_the_schema_and_html_escapes_messages() -> None:
    nasty = "</script><img src=x onerror=alert(1)>\"'& pause"
    diff = compare(
        matcher_of(LINES), matcher_of({**MORE, "pause": [*MORE["pause"], nasty]}), messages=[Case(nasty, None)]
    )

    values = json.loads(to_json(diff))
    assert (values["schema"], values["added"]) == (1, ["pause"])
    assert values["changes"][-1]["new"]["intent"] == "pause"
    assert values["changes"][-1]["new"]["nearest"]["location"][0] == "shop.yaml"
    page = to_html(diff, True)
    assert "<img" not in page
    assert page.count("<script>") == 1, "that of the page itself"
    assert "pause was added" in page


def test_a_line_given_to_another_intent_too_changes_nothing_in_the_context_of_the_first() -> None:
    old, new = matcher_of(follow_ups(2)), matcher_of(follow_ups(2, ["yes", "good point"]))

    diff = compare(old, new, tests=[Case("yes", "yes0"), Case("yes", "yes1")])

    assert [change for change in diff.changes if change.source == "tests"] == []
    assert diff.edit.added == ["talk"]
    pairs = paired_held_out(old, new, {}, folds=3)
    assert {"yes0", "yes1"} <= {o.case.expected for o in pairs.new}
    crossed = [o for o in (*pairs.old, *pairs.new) if {o.case.expected, o.intent} == {"yes0", "yes1"}]
    assert crossed == []
