"""Robustness: variations of an author's messages, messages of the lists, and the parts made of their outcomes."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import replace

import pytest
from answers import LINES, outcome, registry_of
from fakes import WordHashEncoder

from intentmatch import Intent, Matcher, Registry, Utterance
from intentmatch.core.errors import Location
from intentmatch.core.types import Case
from intentmatch.evaluation import evaluate, read_report
from intentmatch.evaluation.curve import case_of
from intentmatch.evaluation.reports.report import to_json
from intentmatch.evaluation.robustness import (
    MEANINGS,
    SAMPLE,
    TITLES,
    RobustnessPart,
    TriedVariation,
    collect,
    overall,
    unanswerable,
    variants,
)
from intentmatch.evaluation.runner import Runner
from intentmatch.text.normalize import fold

PLACE = Location("shop.yaml", 7, 3)


def cases_of(registry: Registry) -> list[Case]:
    return [case_of(registry, row) for row in range(len(registry.utterances))]


SURROUNDED = {"greeting", "signature", "both", "number", "marks", "tale"}


def varied(case: Case, registry: Registry | None = None, seed: int = 0) -> dict[str, Case]:
    """The variants of one case by part."""
    return {variant.name: variant.case for variant in variants([case], registry or registry_of(LINES), seed)}


def test_each_part_varies_a_message_in_its_own_way():
    found = varied(Case("please cancel my Café order", "cancel", "en", PLACE))

    assert set(found) == {"typos1", "typos2", "accents", "shorthand", "negated"} | SURROUNDED
    assert found["accents"].text == "please cancel my Cafe order"
    assert found["shorthand"].text == "pls cancel my Café order"
    assert found["negated"].text == "please don't cancel my Café order"
    assert abs(len(found["typos1"].text) - len("please cancel my Café order")) <= 1
    for case in found.values():
        assert (case.expected, case.language, case.location) == ("cancel", "en", PLACE)


def test_a_variation_that_changes_nothing_gives_no_message():
    assert varied(Case("hey", "greet", "en")) == {}
    assert set(varied(Case("big blue parcel", "status", "en"))) == {"typos1", "typos2"} | SURROUNDED


@pytest.mark.parametrize(
    ("language", "line"),
    [("en", "where is my order"), ("de", "wo ist meine Bestellung"), ("ja", "注文した荷物はどこにありますか")],
)
def test_words_of_a_line_stay_together_in_what_stands_around(language, line):
    found = varied(Case(line, "status", language))

    assert found.keys() >= SURROUNDED
    for name in SURROUNDED - {"number", "marks"}:
        assert line[1:] in found[name].text
        assert len(found[name].text) > len(line)


def test_nothing_is_written_around_short_lines():
    assert not varied(Case("big parcel", "status", "en")).keys() & SURROUNDED


def test_messages_without_language_are_neither_negated_nor_shortened():
    assert set(varied(Case("please cancel my order", "cancel", None))) == {"typos1", "typos2", "number", "marks"}


@pytest.mark.parametrize("expected", [None, ("a", "b")])
def test_only_messages_with_a_single_intent_are_varied(expected):
    assert varied(Case("please cancel my order", expected, "en")) == {}


def test_a_variant_that_is_a_line_of_the_registry_is_left_out():
    """ "Ate logo" is a line of its own here, so it is no mistake to answer it as such."""
    case = Case("até logo", "bye", "pt")
    own = registry_of({"bye": ["até logo"], "eat": ["Ate logo!"]})

    assert varied(case)["accents"].text == "ate logo"
    assert "accents" not in varied(case, own)


def test_many_messages_are_sampled_and_the_seed_decides_which():
    cases = [Case(f"where is my parcel number {number}", "status", "en") for number in range(2 * SAMPLE)]
    registry = registry_of(LINES)

    first, again, other = (variants(cases, registry, seed) for seed in (0, 0, 1))

    assert Counter(variant.name for variant in first)["typos1"] == SAMPLE
    assert first == again
    assert {variant.position for variant in first} != {variant.position for variant in other}
    for variant in first:
        assert variant.case.text != cases[variant.position].text


def test_lists_are_in_the_languages_and_scripts_of_the_registry():
    russian = Registry((Intent("a", (Utterance("где мой заказ", "ru"),)), Intent("b", (Utterance("пока", "ru"),))))

    found = unanswerable(russian)

    assert {variant.case.language for variant in found if variant.name == "everyday"} == {"ru"}
    noise = "".join(variant.case.text for variant in found if variant.name == "noise")
    assert "ж" in noise
    assert "θ" not in noise
    assert {variant.case.expected for variant in found} == {None}
    assert {variant.position for variant in found} == {None}


def test_registry_without_languages_gets_the_whole_list():
    found = unanswerable(Registry((Intent("a", (Utterance("hello"),)),)))

    assert {"en", "de", "zh"} <= {variant.case.language for variant in found if variant.name == "everyday"}


def test_lists_leave_out_what_the_bot_answers():
    """A line of the registry, and a message that its tests expect to be answered."""
    registry = registry_of({"weather": ["will it rain tomorrow afternoon?"], "other": ["something else"]})
    everyday = {variant.case.text for variant in unanswerable(registry) if variant.name == "everyday"}
    tested = replace(registry, tests=(Case("What's 17 times 23", "other"), Case("why is the sky blue?", None)))

    assert "will it rain tomorrow afternoon?" not in everyday
    assert "what's 17 times 23" in everyday
    left = {variant.case.text for variant in unanswerable(tested) if variant.name == "everyday"}
    assert everyday - left == {"what's 17 times 23"}


def part(name: str, *trials: TriedVariation) -> RobustnessPart:
    return RobustnessPart(name, trials)


def test_share_counts_right_answers_and_refusals():
    typos = part("typos1", TriedVariation(outcome("a", "a"), "x", True), TriedVariation(outcome("a", "b"), "y", True))
    noise = part(
        "noise",
        TriedVariation(outcome(None, None)),
        TriedVariation(outcome(None, "a")),
        TriedVariation(outcome(None, ("a", "b"))),
    )

    assert (typos.share, typos.share_before) == (0.5, 1.0)
    assert (noise.share, noise.share_before) == (pytest.approx(1 / 3), None)


def test_negated_messages_may_be_refused_or_asked_about_but_not_matched():
    answers = [None, ("a", "b"), "a", "b"]
    found = part("negated", *(TriedVariation(outcome("a", answer), "x", True) for answer in answers))

    assert found.share == 0.5


def test_robustness_is_the_plain_mean_of_parts_with_messages():
    right, wrong = TriedVariation(outcome("a", "a"), "x", True), TriedVariation(outcome("a", None), "x", True)

    assert overall([part("typos1", right, right, right, wrong), part("accents", wrong), part("noise")]) == 0.375
    assert overall([part("noise")]) is None
    assert overall([]) is None


def test_worst_mistakes_were_right_before_and_are_the_surest():
    shy = TriedVariation(outcome("a", "b", confidence=0.5, text="shy"), "x", True)
    sure = TriedVariation(outcome("a", "b", confidence=0.9, text="sure"), "x", True)
    refused = TriedVariation(outcome("a", None, confidence=0.3, text="refused"), "x", True)
    always = TriedVariation(outcome("a", "b", confidence=1.0, text="always"), "x", False)
    right = TriedVariation(outcome("a", "a", confidence=1.0), "x", True)

    ranked = part("typos1", always, refused, right, shy, sure).worst()

    assert [trial.outcome.case.text for trial in ranked] == ["sure", "shy", "refused", "always"]


def test_everyday_message_that_means_the_same_as_a_line_is_left_out():
    near, far = outcome(None, "a", score=0.99), outcome(None, "a", score=0.6)
    tried = [
        (variant, variant.trial(found))
        for variant, found in zip(unanswerable(registry_of(LINES)), [near, far] * 500, strict=False)
    ]

    by_name = {found.name: found.trials for found in collect(tried)}

    assert list(by_name) == list(TITLES) == list(MEANINGS)
    assert {trial.outcome.score for trial in by_name["everyday"]} == {0.6}
    assert {trial.outcome.score for trial in by_name["noise"]} == {0.99, 0.6}


@pytest.fixture
def spanish() -> Matcher:
    lines = {name: [f"¿dónde está {text}, señor?" for text in texts] for name, texts in LINES.items()}
    return Matcher.load(registry_of(lines), encoder=WordHashEncoder(), cache="off")


def test_variants_are_tried_without_their_originals(spanish, monkeypatch):
    """In the fold that holds the original out: the nearest utterance is never the message that was varied."""
    report = evaluate(spanish, folds=3)

    by_name = {found.name: found.trials for found in report.robustness}
    assert len(by_name["accents"]) > 10
    for name in ("typos1", "typos2", "accents"):
        for trial in by_name[name]:
            assert trial.outcome.nearest is None or trial.outcome.nearest.text != trial.written
            assert fold(trial.outcome.case.text) != fold(trial.written)
    held_out = {(o.case.text, o.case.expected): o.right for o in report.parts[0].outcomes if o.in_scope}
    for trial in by_name["typos1"]:
        assert trial.right_before is held_out[trial.written, trial.outcome.case.expected]


def test_variants_of_test_cases_are_tried_on_the_matcher_itself(matcher):
    tests = [Case("cancel my order now please", "cancel", "en", PLACE), Case("quantum physics", None)]

    report = evaluate(matcher, tests=tests)

    by_name = {found.name: found.trials for found in report.robustness}
    (typo,) = by_name["typos1"]
    assert (typo.written, typo.outcome.case.location) == ("cancel my order now please", PLACE)
    assert typo.right_before is report.headline.outcomes[0].right
    direct = matcher.match(typo.outcome.case.text)
    assert (typo.outcome.verdict, typo.outcome.intent) == (direct.verdict, direct.intent)
    assert by_name["everyday"]


def test_variants_change_no_other_number_of_the_report(matcher):
    with_it, without_it = evaluate(matcher), evaluate(matcher, robustness=False)

    assert without_it.robustness == ()
    assert [part.outcomes for part in with_it.parts] == [part.outcomes for part in without_it.parts]
    assert [p.latency.messages for p in with_it.parts] == [p.latency.messages for p in without_it.parts]


def test_untimed_cases_follow_the_others_and_are_not_timed(matcher):
    runner = Runner(matcher, "x", 3)

    outcomes = runner.run_all([Case("where is it", "status")], untimed=[Case("bye", None), Case("hi", None)])

    assert [found.case.text for found in outcomes] == ["where is it", "bye", "hi"]
    assert runner.latency.messages == 1


def test_progress_reaches_the_total_of_each_step(matcher):
    steps: dict[str, list[tuple[int, int | None]]] = {}

    evaluate(matcher, progress=lambda step, done, total: steps.setdefault(step, []).append((done, total)))

    assert set(steps) == {"held-out utterances", "robustness"}
    for counts in steps.values():
        assert counts[-1][0] == counts[-1][1]


def test_report_with_robustness_is_read_back(matcher, tmp_path):
    report = evaluate(matcher)
    file = tmp_path / "report.json"
    file.write_text(to_json(report), encoding="utf-8")

    read = read_report(file)

    assert read.robustness == report.robustness
    written = json.loads(file.read_text(encoding="utf-8"))["robustness"]
    assert written["share"] == overall(report.robustness)
    assert [found["name"] for found in written["parts"]] == list(TITLES)


def test_report_of_an_earlier_release_has_no_robustness(matcher, tmp_path):
    values = evaluate(matcher).to_dict()
    del values["robustness"]
    file = tmp_path / "report.json"
    file.write_text(json.dumps(values), encoding="utf-8")

    assert read_report(file).robustness == ()


def test_unknown_part_of_a_report_is_refused():
    with pytest.raises(ValueError, match="unknown part of robustness 'mood'"):
        RobustnessPart.from_dict({"name": "mood", "cases": []})
