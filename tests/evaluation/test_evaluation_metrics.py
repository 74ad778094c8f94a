"""Each metric against a naive implementation of its definition."""

from __future__ import annotations

import pytest
from answers import outcome
from hypothesis import given
from hypothesis import strategies as st

from intentmatch.evaluation import metrics

NAMES = st.sampled_from(["a", "b", "c"])
UNIT = st.sampled_from([0.0, 0.1, 0.25, 0.4, 0.4001, 0.5, 0.75, 0.9, 1.0])
PAIRS = st.sampled_from([("a", "b"), ("b", "c")])
OUTCOMES = st.lists(
    st.builds(
        outcome,
        st.one_of(NAMES, PAIRS, st.none()),
        st.one_of(NAMES, PAIRS, st.none()),
        leading=NAMES,
        confidence=UNIT,
        score=UNIT,
        language=st.sampled_from([None, "de", "en"]),
    ),
    max_size=30,
)


def close(value: float | None, expected: float | None) -> bool:
    return value == expected if value is None or expected is None else value == pytest.approx(expected, abs=1e-9)


def naive_share(some: list, good) -> float | None:
    return len([o for o in some if good(o)]) / len(some) if some else None


@given(OUTCOMES)
def test_headline_metrics_match_plain_counting(outcomes):
    inside = [o for o in outcomes if o.case.expected is not None]
    outside = [o for o in outcomes if o.case.expected is None]
    refused = [o for o in outcomes if o.verdict == "out_of_scope"]
    matched = [o for o in outcomes if o.verdict == "matched"]

    n = metrics.measure(outcomes, outcomes)

    assert (n.cases, n.in_scope) == (len(outcomes), len(inside))
    assert close(n.overall, naive_share(outcomes, lambda o: o.right))
    assert close(n.accuracy, naive_share(inside, lambda o: o.right))
    assert close(n.lost, naive_share(inside, lambda o: o.refused))
    assert close(n.oos_recall, naive_share(outside, lambda o: o.refused))
    assert close(n.oos_precision, naive_share(refused, lambda o: o in outside) if outside else None)
    assert close(n.precision, naive_share(matched, lambda o: o.intent == o.case.expected))
    assert close(n.coverage, naive_share(outcomes, lambda o: o in matched))


@given(OUTCOMES)
def test_macro_f1_is_the_mean_f1_of_the_intents(outcomes):
    inside = [o for o in outcomes if isinstance(o.case.expected, str)]
    f1s = []
    for name in {o.case.expected for o in inside}:
        hits = len([o for o in inside if o.case.expected == o.intent == name])
        of_matched = naive_share([o for o in inside if o.intent == name], lambda o: o.right) or 0.0
        of_expected = hits / len([o for o in inside if o.case.expected == name])
        both = of_matched + of_expected
        f1s.append(2 * of_matched * of_expected / both if both else 0.0)

    assert close(metrics.measure(outcomes, ()).macro_f1, sum(f1s) / len(f1s) if f1s else None)


@given(st.lists(st.tuples(st.booleans(), UNIT), max_size=40))
def test_auroc_is_the_share_of_ordered_pairs(pairs):
    inside = [value for known, value in pairs if known]
    outside = [value for known, value in pairs if not known]
    won = [(a > b) + 0.5 * (a == b) for a in inside for b in outside]

    found = metrics.auroc([known for known, _ in pairs], [value for _, value in pairs])

    assert close(found, sum(won) / len(won) if won else None)


@given(OUTCOMES, st.integers(2, 15))
def test_bins_partition_the_cases_by_confidence(outcomes, count):
    found = metrics.bins(outcomes, count)

    assert sum(b.cases for b in found) == len(outcomes)
    assert len(found) <= count
    assert [b.confidence for b in found] == sorted({b.confidence for b in found})
    ranked = sorted(outcomes, key=lambda o: o.confidence)
    error, start, last = 0.0, 0, -1.0
    for b in found:
        some = ranked[start : start + b.cases]
        assert close(b.confidence, sum(o.confidence for o in some) / len(some))
        assert close(b.right, sum(o.leads_right for o in some) / len(some))
        assert some[0].confidence > last
        error += abs(sum(o.confidence - o.leads_right for o in some))
        start, last = start + b.cases, some[-1].confidence
    assert close(metrics.ece(found), error / len(outcomes) if outcomes else None)


def test_bins_are_of_equal_mass():
    found = metrics.bins([outcome("a", "a", confidence=n / 100) for n in range(100)])

    assert [b.cases for b in found] == [10] * 10


def test_missing_confidence_gives_no_calibration_error_and_ranks_by_score():
    some = [outcome("a", "a", confidence=None, score=0.7), outcome("a", "a", confidence=0.2, score=0.3)]

    assert metrics.bins(some) == []
    assert metrics.measure(some, some).ece is None
    assert metrics.certainty(some) == [0.7, 0.3]
    assert metrics.certainty(some[1:]) == [0.2]


@given(OUTCOMES)
def test_coverage_curve_matches_plain_counting(outcomes):
    found = metrics.coverage_curve(outcomes)

    for step in found:
        answered = [o for o in outcomes if o.confidence >= step.cut]
        assert close(step.coverage, len(answered) / len(outcomes))
        assert close(step.precision, naive_share(answered, lambda o: o.leads_right))
    assert [step.coverage for step in found] == sorted({step.coverage for step in found})
    assert not outcomes or found[-1].coverage == 1.0


def test_long_coverage_curve_is_thinned_and_keeps_its_ends():
    found = metrics.coverage_curve([outcome("a", "a", confidence=n / 1000) for n in range(1000)], points=11)

    assert len(found) == 11
    assert (found[0].cut, found[-1].cut, found[-1].coverage) == (0.999, 0.0, 1.0)


@given(OUTCOMES)
def test_metrics_do_not_depend_on_case_order(outcomes):
    back = outcomes[::-1]

    forwards, backwards = metrics.measure(outcomes, outcomes), metrics.measure(back, back)
    assert all(close(a, b) for a, b in zip(forwards, backwards, strict=True))
    assert metrics.coverage_curve(outcomes) == metrics.coverage_curve(back)
    assert metrics.confusion_counts(outcomes) == metrics.confusion_counts(back)
    assert metrics.language_rows(outcomes) == metrics.language_rows(back)
    assert metrics.intent_rows(outcomes) == metrics.intent_rows(back)


@given(OUTCOMES)
def test_tables_add_up(outcomes):
    rows = metrics.intent_rows(outcomes)
    assert sum(r.cases for r in rows) == len([o for o in outcomes if isinstance(o.case.expected, str)])
    assert all(r.right + r.asked + r.lost <= r.cases for r in rows)
    assert sum(r.in_scope + r.out_of_scope for r in metrics.language_rows(outcomes)) == len(outcomes)
    assert sum(metrics.confusion_counts(outcomes).values()) == len(outcomes)
    wrong = [o for c in metrics.confusions(outcomes) for o in c.outcomes]
    assert len(wrong) == len([o for o in outcomes if not o.right])
    counts = [len(c.outcomes) for c in metrics.confusions(outcomes)]
    assert counts == sorted(counts, reverse=True)


def test_matched_but_never_expected_intent_has_a_row():
    found = metrics.intent_rows([outcome("a", "b"), outcome("a", "a")])

    assert [(r.intent, r.cases, r.precision, r.recall) for r in found] == [("a", 2, 1.0, 0.5), ("b", 0, 0.0, None)]


def test_no_cases_give_no_metrics():
    n = metrics.measure((), ())

    assert (n.cases, n.in_scope) == (0, 0)
    assert set(n[2:]) == {None}


def test_percentiles_match_numpy():
    assert metrics.percentiles([1.0, 2.0, 3.0], 50, 100) == [2.0, 3.0]


def test_share_of_strangers_weighs_metrics_over_both_kinds():
    """Three of four in scope are right and one of two strangers is refused; a fifth of the messages are strangers."""
    inside = [outcome("a", "a"), outcome("a", "a"), outcome("a", "a"), outcome("a", None)]
    outcomes = [*inside, outcome(None, None), outcome(None, "a")]

    n = metrics.measure(outcomes, outcomes, 0.2)

    assert n.overall == pytest.approx(0.8 * 3 / 4 + 0.2 * 1 / 2)
    assert n.coverage == pytest.approx(0.8 * 3 / 4 + 0.2 * 1 / 2)
    assert n.precision == pytest.approx(0.6 / 0.7)
    assert n.oos_precision == pytest.approx(0.1 / 0.3)
    assert (n.accuracy, n.oos_recall) == (0.75, 0.5)
    assert metrics.measure(outcomes, outcomes).overall == pytest.approx(4 / 6)


@pytest.mark.parametrize("share", [0.0, 0.2, None])
def test_share_of_strangers_does_not_matter_for_one_kind_alone(share):
    inside, outside = [outcome("a", "a"), outcome("a", "b")], [outcome(None, None)]

    assert metrics.measure(inside, (), share).overall == 0.5
    assert metrics.measure(outside, (), share).overall == 1.0
