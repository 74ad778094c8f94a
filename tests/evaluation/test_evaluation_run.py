"""Cross-validation and test cases follow the decision path of production, without data leaks."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import numpy as np
import pytest
from answers import LINES, NEGATIVES, YES, follow_ups, registry_of
from fakes import WordHashEncoder

from intentmatch import Matcher
from intentmatch.core.errors import InputError
from intentmatch.core.types import Case
from intentmatch.evaluation import evaluate, held_out, on_cases
from intentmatch.evaluation.folds import split, without
from intentmatch.evaluation.outcomes import Outcome
from intentmatch.evaluation.reports.report import ReportPart
from intentmatch.evaluation.runner import CachingEncoder, Runner
from intentmatch.text.normalize import clean

SETTINGS = {"threshold": 0.5, "margin": 0.05, "cache": "off"}


def test_every_utterance_is_evaluated_in_scope_and_out_of_scope(matcher: Matcher):
    part = held_out(matcher, folds=3)

    inside = Counter(o.case.text for o in part.outcomes if o.in_scope)
    outside = Counter(o.case.text for o in part.outcomes if not o.in_scope)
    everything = Counter(text for texts in LINES.values() for text in texts)
    assert outside == everything
    assert inside == everything - Counter(LINES["agent"])
    assert part.not_asked == len(LINES["agent"])
    assert Counter(n.outcome.case.text for n in part.negatives) == Counter(NEGATIVES["cancel"])
    assert {n.owner for n in part.negatives} == {"cancel"}


@pytest.mark.parametrize("folds", [2, 3, "loo"])
def test_held_out_utterances_are_never_the_nearest(matcher: Matcher, folds):
    owners = {text: name for name, texts in LINES.items() for text in texts}

    for found in held_out(matcher, folds=folds).outcomes:
        if found.nearest is None:
            continue
        assert found.nearest.text != found.case.text
        if not found.in_scope:
            assert owners[found.nearest.text] != owners[found.case.text]


def test_near_duplicates_are_held_out_together(matcher: Matcher):
    spellings = {text for text in LINES["status"] if text.startswith("where is my or")}

    for found in held_out(matcher, folds="loo").outcomes:
        if found.case.text in spellings:
            assert found.nearest.text not in spellings
            assert found.score < 1.0


def test_fold_answers_equal_those_of_a_matcher_of_the_rest():
    registry = registry_of(LINES, NEGATIVES)
    encoder = WordHashEncoder()
    matcher = Matcher.load(registry, encoder=encoder, **SETTINGS)
    artefact = matcher.artefact
    parts = split(registry, artefact.vectors, artefact.negative_vectors, 3, seed=4)

    by_text = {o.case.text: o for o in held_out(matcher, folds=3, seed=4).outcomes if o.in_scope}
    for fold in parts.folds:
        production = Matcher.load(without(registry, fold), encoder=encoder, **SETTINGS)
        for row in fold.utterances:
            text = registry.utterances[row].text
            assert by_text[text] == Outcome.from_result(by_text[text].case, production.match(text))


def test_settings_apply_in_cross_validation(matcher: Matcher):
    strict = Matcher.load(registry_of(LINES), encoder=WordHashEncoder(), threshold=1.0, fuzzy=1.0, cache="off")

    assert held_out(strict).numbers.lost == 1.0
    assert held_out(strict).numbers.oos_recall == 1.0
    assert held_out(matcher).numbers.lost < 1.0


class StrictReranker:
    """Scores everything -1, as unlike as can be, and counts its calls."""

    name = "strict"

    def __init__(self) -> None:
        self.calls = 0

    def score(self, message: str, utterances: list[str]) -> np.ndarray:
        self.calls += 1
        return np.full(len(utterances), -1.0, dtype=np.float32)


def test_reranker_runs_in_every_fold():
    reranker = StrictReranker()
    matcher = Matcher.load(registry_of(LINES), encoder=WordHashEncoder(), reranker=reranker, band=1.0, cache="off")

    report = evaluate(matcher)

    assert reranker.calls >= report.headline.numbers.cases
    assert report.facts["reranker"] == "strict"
    assert report.headline.numbers.lost == 1.0


def test_each_text_is_encoded_once(matcher: Matcher, encoder: WordHashEncoder):
    """Utterances were encoded by the build; messages once more for each timed match."""
    encoder.encoded.clear()

    part = held_out(matcher, folds=4)

    texts = {clean(u.text) for u in (*matcher.registry.utterances, *matcher.registry.negatives)}
    assert len(encoder.encoded) <= len(texts) + part.latency.messages
    assert set(encoder.encoded) <= texts


def test_latency_covers_single_matches(matcher: Matcher):
    part = on_cases(matcher, [Case("where is it", "status")] * 3)

    assert 0.0 < part.latency.p50 <= part.latency.p99
    assert part.latency.messages == 3
    assert on_cases(matcher, []).latency is None


def test_only_a_sample_of_many_messages_is_timed(matcher: Matcher):
    part = on_cases(matcher, [Case("where is it", "status")] * 1000)

    assert part.latency.messages == 200
    assert len(part.outcomes) == 1000


def test_cases_run_on_the_whole_registry_without_their_language(matcher: Matcher):
    cases = [
        Case("cancel my order", "cancel", "de"),
        Case("quantum physics", None),
        Case("my order", ("status", "cancel")),
    ]

    part = on_cases(matcher, cases)

    assert list(part.outcomes) == [Outcome.from_result(case, matcher.match(case.text)) for case in cases]


def test_the_same_seed_gives_the_same_report(matcher: Matcher):
    first, second = (held_out(matcher, seed=3) for _ in range(2))

    assert replace(first, latency=None) == replace(second, latency=None)


def test_progress_rises_to_the_total(matcher: Matcher):
    steps: list[tuple[str, int, int | None]] = []

    held_out(matcher, progress=lambda *step: steps.append(step))

    done = [count for _, count, _ in steps]
    assert done == sorted(done)
    assert steps[-1] == ("held-out utterances", steps[0][2], steps[0][2])


def test_evaluate_without_tests_runs_cross_validation_and_own_tests():
    registry = replace(registry_of(LINES), tests=(Case("my order please", "status"),))
    matcher = Matcher.load(registry, encoder=WordHashEncoder(), cache="off")

    both = evaluate(matcher, curve=True)
    alone = evaluate(matcher, tests=[Case("bye", None)])

    assert [part.name for part in both.parts] == ["held_out", "tests"]
    assert both.headline.name == "tests"
    assert len(both.curve) == 4
    assert [(part.name, len(part.outcomes)) for part in alone.parts] == [("tests", 1)]
    assert both.facts["utterances"] == 18
    assert evaluate(matcher, folds="loo").facts["folds"] == "loo"


def test_registry_of_one_utterance_gives_an_empty_report():
    matcher = Matcher.load(registry_of({"a": ["hello"]}), encoder=WordHashEncoder(), cache="off")

    report = evaluate(matcher, curve=True)

    assert report.headline.outcomes == ()
    assert report.headline.not_asked == 1
    assert report.headline.numbers.overall is None
    assert report.curve == ()


def test_one_fold_is_refused(matcher: Matcher):
    with pytest.raises(InputError, match="folds must be 2 or more"):
        evaluate(matcher, folds=1)


def test_caching_encoder_behaves_like_the_wrapped_encoder():
    encoder = WordHashEncoder()
    caching = CachingEncoder(encoder, {})
    texts = ["hello", "there", "hello"]

    assert np.array_equal(caching.encode(texts), WordHashEncoder().encode(texts))
    assert encoder.encoded == ["hello", "there"]
    assert caching.encode([]).shape == (0, encoder.dim)
    assert (caching.name, caching.fingerprint) == (encoder.name, encoder.fingerprint)
    assert not hasattr(caching, "languages")
    encoder.languages = frozenset({"en"})
    assert caching.languages == {"en"}


def test_caching_encoder_keeps_kinds_apart():
    encoder = WordHashEncoder()
    caching = CachingEncoder(encoder, {"hello": np.zeros(encoder.dim, np.float32)})

    assert not caching.encode(["hello"]).any()
    assert caching.encode(["hello"], kind="query").any()


def test_runner_without_cases_has_no_latency(matcher: Matcher):
    assert Runner(matcher, "nothing", 0).latency is None


def shares(part: ReportPart) -> tuple[float, list[str]]:
    """Return the share of right answers among the lines of the first topic, and the intents that answered them."""
    own = [o for o in part.outcomes if o.case.expected == "yes0" and o.case.text in YES]
    return sum(o.right for o in own) / len(own), [o.answer for o in own]


def test_utterances_are_held_out_in_the_context_of_their_intent():
    """More topics with the same lines change nothing for one of them: its tag is active, and not theirs."""
    one, four = (held_out(Matcher.load(follow_ups(n), encoder=WordHashEncoder(), **SETTINGS)) for n in (1, 4))

    right, answers = shares(four)
    assert right == shares(one)[0] > 0.0
    assert {"yes1", "yes2", "yes3"}.isdisjoint(answers)
    assert len([o for o in four.outcomes if not o.in_scope]) == len(follow_ups(4).utterances)


def test_a_line_that_an_intent_without_when_has_too_is_not_asked_out_of_scope():
    bot = Matcher.load(follow_ups(2, ["yes", "good point"]), encoder=WordHashEncoder(), **SETTINGS)

    part = held_out(bot, folds=3)

    outside = Counter(o.case.text for o in part.outcomes if not o.in_scope)
    # Without its intent, a "yes" of a topic is answered by the other one; that of the other one is asked about.
    assert (outside["yes"], outside["certainly"], outside["good point"]) == (1, 2, 1)
    assert not [o for o in part.outcomes if not o.in_scope and o.intent and o.nearest and o.nearest.text == o.case.text]


def test_tests_are_said_in_the_context_of_what_they_expect():
    bot = Matcher.load(follow_ups(3, ["yes", "good point"]), encoder=WordHashEncoder(), **SETTINGS)
    tests = [
        *(Case("yes", name) for name in ("yes0", "yes2", "talk", "yes1")),
        Case("go ahead", ("yes0", "yes2")),
        Case("where is my order", "status"),
    ]

    assert [o.answer for o in on_cases(bot, tests).outcomes] == [
        "yes0", "yes2", "talk", "yes1", "yes0 / yes2", "status",
    ]  # fmt: skip
    assert evaluate(bot, tests=tests, folds=2).parts[0].outcomes[0].right


def test_learning_curve_holds_with_shared_lines():
    bot = Matcher.load(follow_ups(3, ["yes", "good point"]), encoder=WordHashEncoder(), **SETTINGS)

    points = evaluate(bot, folds=2, curve=True, robustness=False).curve

    assert [point.share for point in points] == [0.25, 0.5, 0.75, 1.0]
