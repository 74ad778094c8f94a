"""Calibration: the confidence curve, and thresholds compared with an exhaustive search over all thresholds."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from intentmatch.core.settings import Settings
from intentmatch.learning import calibration as calibration_module
from intentmatch.learning import threshold_choice
from intentmatch.learning.calibration import (
    ASK_BELOW,
    Calibration,
    asked_about,
    calibrate,
)
from intentmatch.learning.cross_validation import RANKED, HeldOut
from intentmatch.learning.labelled_share import LabelledShare
from intentmatch.learning.threshold_choice import Chances, LearnedCut

PRECISE = {"precision": 0.95, "give_up": 0.005}
BALANCED = {"balance": True}
HALF_PRECISE = {"precision": 0.97}


def cases(
    right: list[float], wrong: list[float] = (), out_of_scope: list[float] = (), *, gap: float = 1.0, first: int = 0
) -> HeldOut:
    """Return held-out cases from their evidence: right, in scope but wrong, and out of scope.

    The first intent is ahead of the second by `gap`, which is the right one of the wrong cases.
    """
    evidence = np.array([*right, *wrong, *out_of_scope], dtype=np.float64)
    count, known = len(evidence), len(right) + len(wrong)
    number = np.arange(count)
    return HeldOut(
        ranked=ranked_of(evidence, gap),
        first=np.full(count, first),
        place=np.where(number < len(right), 0, np.where(number < known, 1, RANKED)),
        known=number < known,
        rows=number,
        weights=np.ones(count),
    )


def ranked_of(evidence: np.ndarray, gap: np.ndarray | float) -> np.ndarray:
    """Return the evidence of two ranked intents for each case."""
    none = np.full((len(evidence), RANKED - 2), -np.inf)
    return np.hstack([evidence[:, None], (evidence - gap)[:, None], none])


def scattered(seed: int = 7, known: int = 200, out_of_scope: int = 200, *, apart: float = 0.8) -> HeldOut:
    """Return random cases: in-scope cases have more evidence on average, and more evidence is more often right."""
    random = np.random.default_rng(seed)
    evidence = np.concatenate([random.normal(1.0 + apart, 0.4, known), random.normal(1.0, 0.4, out_of_scope)])
    there = np.arange(known + out_of_scope) < known
    right = there & (random.random(len(evidence)) < 1 / (1 + np.exp(-4 * (evidence - 1.0))))
    gap = np.abs(random.normal(0.3, 0.2, len(evidence)))
    return HeldOut(
        ranked_of(evidence, gap), random.integers(0, 3, len(evidence)), np.where(right, 0, np.where(there, 1, RANKED)),
        there, np.arange(len(evidence)), np.ones(len(evidence)),
    )  # fmt: skip


def shares_of(held_out: HeldOut) -> np.ndarray:
    """Return the weight of each case: out-of-scope cases have the default share of the weight of all."""
    known, share = held_out.known, Settings().out_of_scope_share
    return np.where(known, 1.0, share / (1 - share) * known.sum() / max(1, (~known).sum()))


def measured(held_out: HeldOut, calibration: Calibration, cut: float) -> dict[str, float]:
    """Return the rates of a threshold."""
    return rates(held_out, (in_scope_of(held_out, calibration) >= cut).astype(np.float64), calibration)


def smoothed(held_out: HeldOut, calibration: Calibration, cut: float) -> dict[str, float]:
    """Return the mean rates of the thresholds around one: each case passes some of these."""
    logits = logit_of(in_scope_of(held_out, calibration))
    around = logit_of(np.array(cut)) + np.linspace(-0.4, 0.4, 20) * logits.std()
    return rates(held_out, (logits[:, None] >= around).mean(axis=1), calibration)


def in_scope_of(held_out: HeldOut, calibration: Calibration) -> np.ndarray:
    return np.array([calibration.in_scope(evidence) for evidence in held_out.evidence])


def logit_of(chance: np.ndarray) -> np.ndarray:
    bounded = np.clip(chance, 1e-15, 1 - 1e-15)
    return np.log(bounded) - np.log1p(-bounded)


def rates(held_out: HeldOut, passes: np.ndarray, calibration: Calibration) -> dict[str, float]:
    """Return rates from how far each case passes, 0 to 1, computed one case at a time."""
    right = given = accepted = refused = helped = answered = inside = outside = 0.0
    for number, (share, passed) in enumerate(zip(shares_of(held_out).tolist(), passes.tolist(), strict=True)):
        place, known = int(held_out.place[number]), bool(held_out.known[number])
        ranked = held_out.ranked[number]
        confidences = calibration.confidences(ranked[np.isfinite(ranked)].tolist())
        asks = confidences[0] < ASK_BELOW
        right += share * passed * (not asks and place == 0)
        given += share * passed * (not asks)
        helped += share * passed * (place < (3 if asks else 1))
        if known:
            inside += share
            answered += share * passed * (not asks)
        else:
            outside += share
            accepted += share * passed
            refused += share * (1.0 - passed)
    return {
        "precision": right / given if given else 0.0,
        "coverage": answered / inside if inside else 0.0,
        "refused": refused / outside if outside else 0.0,
        "false_accept": accepted / outside if outside else 0.0,
        "overall": (helped + refused) / (inside + outside),
        "given": given,
    }


def every_cut(held_out: HeldOut, calibration: Calibration) -> list[dict[str, float]]:
    """Return the smoothed rates of each threshold below a case, highest first: between two cases, or below all."""
    values = sorted({*in_scope_of(held_out, calibration).tolist()}, reverse=True)
    cuts = [(one + other) / 2 for one, other in pairwise([*values, 0.0])]
    return [smoothed(held_out, calibration, cut) for cut in cuts]


# Tenths make ties frequent, as equal utterances do.
EVIDENCE = st.lists(st.integers(-10, 30).map(lambda tenths: tenths / 10), min_size=20, max_size=45)


@st.composite
def held_outs(draw) -> HeldOut:
    gap = draw(st.sampled_from([0.0, 0.05, 0.5]))
    return cases(draw(EVIDENCE), draw(st.one_of(st.just([]), EVIDENCE)), draw(EVIDENCE), gap=gap)


HELD_OUT = held_outs()


@given(HELD_OUT)
def test_in_scope_probability_rises_with_the_evidence(held_out):
    calibration = calibrate(held_out, BALANCED)

    found = [calibration.in_scope(evidence) for evidence in np.linspace(-20.0, 20.0, 41)]

    assert all(0.0 <= less <= more <= 1.0 for less, more in pairwise(found))


CURVES = st.tuples(st.floats(-1e3, 1e3), st.floats(0.0, 1e3))
MANY = st.lists(st.floats(-100.0, 100.0), min_size=1, max_size=12)


@given(MANY, CURVES, st.floats(0.0, 1e4))
def test_confidences_add_up_to_the_in_scope_probability(evidence, curve, sharpness):
    """So to 1 at most; they rise with the evidence, and equal evidence gives equal confidence."""
    calibration = Calibration(curve, sharpness=sharpness)

    confidences = calibration.confidences(evidence)

    assert all(0.0 <= confidence <= 1.0 for confidence in confidences)
    assert sum(confidences) == pytest.approx(calibration.in_scope(max(evidence)), abs=1e-9)
    for (one, more), (other, less) in pairwise(sorted(zip(evidence, confidences, strict=True), reverse=True)):
        assert (more == less) if one == other else (more >= less)


@given(st.lists(MANY, min_size=1, max_size=5), CURVES, st.floats(0.0, 1e3))
def test_confidences_of_many_messages_equal_those_of_one(messages, curve, sharpness):
    """Missing intents are -inf and have confidence 0."""
    calibration = Calibration(curve, sharpness=sharpness)
    width = max(map(len, messages))
    ranked = np.array([[*sorted(some, reverse=True), *[-np.inf] * (width - len(some))] for some in messages])

    found = calibration.confidences_many(ranked)

    for row, some in zip(found, messages, strict=True):
        assert row[: len(some)].tolist() == pytest.approx(calibration.confidences(sorted(some, reverse=True)), abs=1e-9)
        assert not row[len(some) :].any()


def test_confidences_of_no_intents_are_none():
    assert Calibration((0.0, 1.0), sharpness=1.0).confidences([]) == []
    assert Calibration().confidences([1.0]) is None
    assert Calibration().confidences_many(np.ones((1, 2))) is None
    assert Calibration().in_scope(1.0) is None


@given(st.floats(1e-6, 1.0 - 1e-6), st.floats(-10.0, 10.0), st.floats(0.1, 10.0))
def test_evidence_is_the_inverse_of_the_in_scope_probability(probability, bias, slope):
    calibration = Calibration((bias, slope))

    assert calibration.in_scope(calibration.evidence(probability)) == pytest.approx(probability, abs=1e-6)
    assert (calibration.evidence(0.0), calibration.evidence(1.0)) == (-np.inf, np.inf)
    assert Calibration((bias, 0.0)).evidence(probability) is None


def test_in_scope_probability_separates_cases_in_scope():
    calibration = calibrate(scattered(), BALANCED)

    assert calibration.in_scope(0.0) < 0.4 < 0.8 < calibration.in_scope(1.5) < 0.99 < calibration.in_scope(3.0)


@given(HELD_OUT)
def test_mean_in_scope_probability_is_the_share_of_cases_in_scope(held_out):
    """Out-of-scope cases are weighted to their expected share."""
    shares, calibration = shares_of(held_out), calibrate(held_out, BALANCED)

    found = [calibration.in_scope(evidence) for evidence in held_out.evidence]

    assert shares @ found == pytest.approx(shares @ held_out.known, rel=1e-3)


@pytest.mark.parametrize(("wrong", "expected"), [(0, 0.95), (10, 0.9), (50, 0.5)])
def test_first_of_close_intents_is_as_likely_as_it_is_right(wrong, expected):
    """The softmax is fitted to the share of in-scope cases whose first intent is right."""
    held_out = cases([1.0] * (100 - wrong), [1.0] * wrong, [0.0] * 100, gap=0.5)

    first, second = calibrate(held_out, BALANCED).confidences([1.0, 0.5])

    assert first / (first + second) == pytest.approx(expected, abs=0.05)


def test_misleading_gaps_share_the_confidence_evenly():
    calibration = calibrate(cases([1.0] * 30, [1.0] * 70, [0.0] * 100, gap=0.5), BALANCED)

    assert calibration.sharpness == 0.0
    first, second = calibration.confidences([1.0, 0.5])
    assert first == second


def test_misleading_evidence_gives_a_constant_probability():
    """If more evidence is less often in scope, every message gets the overall share."""
    held_out = cases([0.0, 0.1, 0.2, 0.3] * 10, [], [2.0, 2.1, 2.2] * 10)

    calibration = calibrate(held_out, BALANCED)

    assert (
        calibration.in_scope(0.0)
        == calibration.in_scope(3.0)
        == pytest.approx(1 - Settings().out_of_scope_share, abs=1e-3)
    )


@pytest.mark.parametrize("far", [0.0, 5.0, 30.0])
def test_separable_cases_give_a_finite_curve(far):
    calibration = calibrate(cases([far + 2.0] * 30, [], [far] * 30), BALANCED)

    assert np.isfinite(calibration.curve).all()
    assert np.isfinite(calibration.sharpness)
    assert calibration.in_scope(far) < 0.2 < 0.9 < calibration.in_scope(far + 2.0)


@pytest.mark.parametrize(
    "held_out",
    [
        cases([]),
        cases([1.0] * 19, [], [0.0] * 100),
        cases([1.0] * 100, [0.5] * 10, [0.0] * 9),
        cases([], [1.0] * 50, [0.0] * 50),
        cases([1.0] * 500),
        cases([1.0] * 100, [0.5] * 100),
    ],
)
@pytest.mark.parametrize("target", [PRECISE, {"false_accept": 0.1}, BALANCED])
def test_too_few_cases_give_no_curve_and_no_threshold(held_out, target):
    """Fewer than twenty right or twenty wrong; the number of cases is kept."""
    calibration = calibrate(held_out, target, ["a", "b"], ["en"] * len(held_out.rows))

    assert calibration == Calibration(cases=len(held_out.rows))
    assert calibration.in_scope(1.0) is None


def test_twenty_cases_of_either_kind_give_a_threshold():
    calibration = calibrate(cases([1.0] * 20, [0.5] * 10, [0.0] * 10), BALANCED)

    assert calibration.cut is not None
    assert calibration.cases == calibration.cut.cases == 40


def test_calibration_is_deterministic():
    names, languages = ["a", "b", "c", "d"], ["en", "de"] * 200

    assert calibrate(scattered(), PRECISE, names, languages) == calibrate(scattered(), PRECISE, names, languages)


@given(HELD_OUT, st.randoms(use_true_random=False))
def test_calibration_does_not_depend_on_the_order_of_cases(held_out, random):
    """Except for rounding in sums."""
    order = list(range(len(held_out.rows)))
    random.shuffle(order)
    shuffled = HeldOut(*(getattr(held_out, name)[order] for name in HeldOut.__slots__))

    one, other = calibrate(held_out, BALANCED), calibrate(shuffled, BALANCED)

    assert other.curve == pytest.approx(one.curve, rel=1e-4, abs=1e-6)
    assert other.cut.coverage == pytest.approx(one.cut.coverage)


@given(HELD_OUT, st.sampled_from([PRECISE, BALANCED, {"false_accept": 0.1}, {"precision": 0.5}]))
def test_rates_of_a_threshold_are_those_of_the_cases(held_out, target):
    calibration = calibrate(held_out, target)

    twin = measured(held_out, calibration, calibration.cut.value)

    for name in ("precision", "coverage", "refused"):
        assert getattr(calibration.cut, name) == pytest.approx(twin[name], abs=1e-9)


@given(HELD_OUT, st.sampled_from([0.3, 0.5, 0.8, 0.9, 0.95, 1.0]))
def test_precision_target_is_met_if_possible(held_out, wanted):
    """By the threshold that answers most; otherwise the note says so and the fewest cases pass."""
    calibration = calibrate(held_out, {"precision": wanted})
    assume(calibration.curve[1] > 1e-3)

    found = smoothed(held_out, calibration, calibration.cut.value)
    every = every_cut(held_out, calibration)
    reaching = [cut for cut in every if cut["precision"] >= wanted - 1e-12]

    if reaching:
        assert found["precision"] >= wanted - 1e-9
        assert found["given"] == pytest.approx(max(cut["given"] for cut in reaching))
        assert calibration.cut.note == ""
    else:
        assert found["given"] == pytest.approx(min(cut["given"] for cut in every))
        assert calibration.cut.note == f"no threshold reaches a precision of {wanted:.0%}"


@given(HELD_OUT, st.sampled_from([0.3, 0.5, 0.8, 0.9, 0.95]), st.sampled_from([0.0, 0.005, 0.03, 0.1]))
def test_give_up_bounds_the_cost_of_a_precision_target(held_out, wanted, allowed):
    """Within that bound the precision is reached if possible, as far as the cases alone decide."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(threshold_choice, "_PRIOR_CASES", 0)
        calibration = calibrate(held_out, {"precision": wanted, "give_up": allowed})
    assume(calibration.curve[1] > 1e-3)

    found = smoothed(held_out, calibration, calibration.cut.value)
    every = every_cut(held_out, calibration)
    best = max(cut["overall"] for cut in every)
    bearable = [cut for cut in every if cut["overall"] >= best - allowed - 1e-9]
    both = [cut for cut in bearable if cut["precision"] >= wanted - 1e-9]

    assert found["overall"] >= best - allowed - 1e-9
    if both:
        assert found["precision"] >= wanted - 1e-9
        assert found["given"] == pytest.approx(max(cut["given"] for cut in both))
        assert calibration.cut.note == ""
    else:
        assert found["given"] == pytest.approx(min(cut["given"] for cut in bearable))
        assert calibration.cut.note


def test_note_says_why_a_precision_is_not_reached():
    often_wrong = cases([1.0, 1.5, 2.0, 4.0, 5.0] * 20, [1.0, 1.2, 1.9] * 10, [0.0] * 20)
    always_wrong = cases([1.0, 1.5, 2.0] * 20, [1.0, 1.5, 2.0] * 20, [0.0] * 20)

    assert calibrate(always_wrong, PRECISE).cut.note == "no threshold reaches a precision of 95%"
    assert (
        calibrate(often_wrong, PRECISE).cut.note
        == "a precision of 95% would cost too much; this threshold costs 0.5% at most"
    )


@given(HELD_OUT, st.sampled_from([0.0, 0.05, 0.1, 0.5, 1.0]))
def test_false_accept_target_is_met(held_out, allowed):
    """By the threshold that answers most; if none meets it, nothing is answered."""
    calibration = calibrate(held_out, {"false_accept": allowed})
    assume(calibration.curve[1] > 1e-3)

    found = smoothed(held_out, calibration, calibration.cut.value)
    keeping = [cut for cut in every_cut(held_out, calibration) if cut["false_accept"] <= allowed + 1e-12]

    assert found["false_accept"] <= allowed + 1e-9
    if keeping:
        assert found["given"] == pytest.approx(max(cut["given"] for cut in keeping))
        assert calibration.cut.note == ""
    else:
        assert found["given"] == 0.0
        assert calibration.cut.note == "out-of-scope messages cannot be distinguished from messages in scope"


@given(HELD_OUT)
def test_balance_target_maximises_right_decisions(held_out):
    calibration = calibrate(held_out, BALANCED)
    assume(calibration.curve[1] > 1e-3)

    found = smoothed(held_out, calibration, calibration.cut.value)

    assert found["overall"] == pytest.approx(max(cut["overall"] for cut in every_cut(held_out, calibration)))
    assert calibration.cut.note == ""


def test_stricter_targets_give_higher_thresholds():
    held_out = scattered()

    precise = [calibrate(held_out, {"precision": p}).cut.value for p in (0.5, 0.8, 0.9, 0.95, 0.98)]
    refusing = [calibrate(held_out, {"false_accept": s}).cut.value for s in (1.0, 0.5, 0.2, 0.1, 0.0)]

    for cuts in (precise, refusing):
        assert cuts == sorted(cuts)
        assert cuts[0] < cuts[-1]


def test_threshold_lies_between_two_cases():
    """Not on a case, where rounding would decide; below all cases if all are to pass."""
    between = calibrate(cases([2.0] * 30, [], [1.0] * 30), {"false_accept": 0.0})
    all_pass = calibrate(cases([2.0] * 30, [], [1.0] * 30), {"false_accept": 1.0})

    assert between.cut.value == pytest.approx((between.in_scope(1.0) + between.in_scope(2.0)) / 2)
    assert 0.0 < all_pass.cut.value < all_pass.in_scope(1.0)


def test_one_case_less_hardly_moves_the_threshold(monkeypatch):
    """Counts at single thresholds would move it much further."""
    held_out = scattered(known=300, out_of_scope=300)

    smooth = moves(held_out)
    monkeypatch.setattr(threshold_choice, "_AROUND", np.zeros(1))
    counted = moves(held_out)

    assert max(smooth) < 0.005 < 0.02 < max(counted)


def test_threshold_of_few_cases_starts_from_the_one_that_suits_small_registries(monkeypatch):
    """More cases move it towards what they say."""
    few, many = (calibrate(scattered(known=n, out_of_scope=n), PRECISE).cut.value for n in (40, 4000))
    monkeypatch.setattr(threshold_choice, "_PRIOR_CASES", 0)
    alone = [calibrate(scattered(known=n, out_of_scope=n), PRECISE).cut.value for n in (40, 4000)]

    assert alone[0] + 0.05 < few < 0.86
    assert alone[1] < many < alone[1] + 0.05


@pytest.mark.parametrize(("target", "share"), [(PRECISE, 0.0), ({"precision": 0.95}, 0.1), (BALANCED, 0.1)])
def test_without_strangers_or_with_a_target_at_any_price_the_cases_decide_alone(monkeypatch, target, share):
    held_out = scattered(known=40, out_of_scope=40)
    found = calibrate(held_out, target, out_of_scope_share=share).cut

    monkeypatch.setattr(threshold_choice, "_PRIOR_CASES", 0)
    assert calibrate(held_out, target, out_of_scope_share=share).cut == found


def moves(held_out: HeldOut) -> list[float]:
    """Return how far the threshold moves without one case, for each tenth case."""
    number = np.arange(len(held_out.rows))
    without = [HeldOut(*(getattr(held_out, f)[number != one] for f in HeldOut.__slots__)) for one in number[::10]]
    usual, *others = (calibrate(some, PRECISE, out_of_scope_share=0.15).cut.value for some in [held_out, *without])
    return [abs(value - usual) for value in others]


def parted(easy: int, hard: int, *, out_of_scope: float = 0.5) -> tuple[HeldOut, list[int]]:
    """Return cases of two parts, and the part of each; the wrong cases of the second part have more evidence."""
    random = np.random.default_rng(9)
    part_of, evidence, right = [], [], []
    for part, (count, more) in enumerate([(easy, 0.0), (hard, 0.7)]):
        wrong = int(count * out_of_scope)
        evidence += [*random.normal(1.8, 0.3, count - wrong), *random.normal(0.8 + more, 0.3, wrong)]
        right += [True] * (count - wrong) + [False] * wrong
        part_of += [part] * count
    numbers = np.array(part_of)
    known = np.array(right)
    place = np.where(known, 0, RANKED)
    return HeldOut(
        ranked_of(np.array(evidence), 1.0), numbers, place, known, np.arange(len(numbers)), np.ones(len(numbers))
    ), part_of


def by_part(kind: str, held_out: HeldOut, part_of: list[int], names: list[str], target=HALF_PRECISE) -> Calibration:
    """Calibrate with the parts as languages of the utterances, or as first intents."""
    if kind == "language":
        return calibrate(held_out, target, ["x", "y"], [names[part] or None for part in part_of])
    return calibrate(held_out, target, names)


def cuts_of(kind: str, calibration: Calibration) -> Mapping[str, LearnedCut]:
    return calibration.by_language if kind == "language" else calibration.by_intent


KINDS = pytest.mark.parametrize("kind", ["language", "intent"])


@KINDS
def test_language_or_intent_has_its_own_threshold(kind):
    """A harder one has a higher threshold."""
    calibration = by_part(kind, *parted(400, 300), ["aa", "bb"])

    easy, hard = (cuts_of(kind, calibration)[name] for name in ("aa", "bb"))

    assert hard.value > calibration.cut.value > easy.value
    assert (easy.cases, hard.cases, calibration.cut.cases) == (400, 300, 700)


@KINDS
def test_own_threshold_is_shrunk_towards_the_common_one(kind):
    """The common one counts as much as 400 cases."""
    held_out, part_of = parted(400, 100)
    calibration = by_part(kind, held_out, part_of, ["aa", "bb"])
    values = np.array([calibration.in_scope(evidence) for evidence in held_out.evidence])
    hard = np.array(part_of) == 1
    asked = asked_about(calibration.confidences_many(held_out.ranked))
    chances = Chances(values, held_out.right, asked, held_out.right, held_out.known, shares_of(held_out))
    own = chances.select(hard).chosen(HALF_PRECISE).value

    found = cuts_of(kind, calibration)["bb"].value

    assert own > calibration.cut.value
    assert found == pytest.approx((100 * own + 400 * calibration.cut.value) / 500)


@KINDS
@pytest.mark.parametrize(
    ("hard", "out_of_scope", "has_its_own"), [(59, 0.5, False), (60, 0.5, True), (60, 0.19, False), (60, 0.2, True)]
)
def test_own_threshold_needs_sixty_cases_and_twelve_wrong_ones(kind, hard, out_of_scope, has_its_own):
    held_out, part_of = parted(400, hard, out_of_scope=out_of_scope)

    calibration = by_part(kind, held_out, part_of, ["aa", "bb"])

    assert ("bb" in cuts_of(kind, calibration)) is has_its_own
    assert "aa" in cuts_of(kind, calibration)


def test_intent_that_is_never_right_has_no_own_threshold():
    held_out, _ = parted(400, 100, out_of_scope=1.0)
    held_out.place[:200], held_out.known[:200] = 0, True

    assert list(calibrate(held_out, BALANCED, ["aa", "bb"]).by_intent) == ["aa"]


@pytest.mark.parametrize("names", [["aa", "aa"], ["aa", ""], ["", ""]])
def test_single_language_has_no_own_threshold(names):
    calibration = by_part("language", *parted(400, 300), names)

    assert calibration.by_language == {}
    assert calibration.cut is not None


@pytest.mark.parametrize(
    ("confidences", "likely", "asked"),
    [
        ([0.51, 0.45, 0.0, 0.0], None, False),
        ([0.5, 0.5, 0.0, 0.0], None, True),
        ([0.49, 0.45, 0.0, 0.0], None, True),
        ([0.2, 0.2, 0.0, 0.0], None, True),  # whether the message is in scope is another question
        ([0.3, 0.2, 0.2, 0.03], None, True),
        ([0.4, 0.3, 0.2, 0.0], 0.8, True),
        ([0.3, 0.2, 0.2, 0.1], 0.8, False),
    ],
)
def test_bot_asks_if_the_first_is_more_likely_wrong_than_right(confidences, likely, asked):
    assert asked_about(np.array([confidences]), likely).tolist() == [asked]


def test_case_that_is_asked_about_is_not_answered():
    """It counts neither for the precision nor for the coverage of a threshold."""
    clear, close = cases([2.0] * 60, [], [0.0] * 60), cases([2.0] * 20, [2.0] * 20, gap=0.0)
    held_out = HeldOut(*(np.concatenate([getattr(clear, f), getattr(close, f)]) for f in HeldOut.__slots__))

    found = calibrate(held_out, BALANCED).cut

    assert found.precision == 1.0
    assert found.coverage == pytest.approx(0.6)
    assert found.refused == 1.0


CUT = LearnedCut(0.41, 0.95, 0.8, 0.6, 700, "a note")


@pytest.mark.parametrize(
    "calibration",
    [
        Calibration(),
        Calibration(cases=7),
        Calibration((-4.2, 3.5), CUT, {}, {}, 5.2, 2992),
        Calibration((-4.2, 3.5), CUT, {"de": CUT, "pt-BR": CUT}, {"order": CUT}, 0.0, 2992),
        calibrate(scattered(), PRECISE, ["a", "b", "c", "d"], ["en", "de"] * 200),
    ],
)
def test_calibration_round_trips_through_json(calibration):
    assert Calibration.from_dict(json.loads(json.dumps(calibration.to_dict()))) == calibration


@given(st.floats(-1e6, 1e6), st.tuples(st.floats(-1e6, 1e6), st.floats(0.0, 1e6)))
def test_in_scope_is_a_probability_for_any_curve(evidence, curve):
    assert 0.0 <= Calibration(curve).in_scope(evidence) <= 1.0


def test_more_expected_strangers_raise_the_threshold_and_lower_the_confidence():
    held_out = scattered()
    few, many = (calibrate(held_out, BALANCED, out_of_scope_share=share) for share in (0.05, 0.5))

    assert few.in_scope(1.4) > many.in_scope(1.4)
    assert few.evidence(few.cut.value) < many.evidence(many.cut.value)


def test_share_is_that_of_all_messages():
    """A fifth of all messages weighs a quarter of the four fifths in scope."""
    held_out = scattered(known=200, out_of_scope=50)
    weights = calibration_module.shares_of(held_out, 0.2)

    assert weights[~held_out.known].sum() / weights.sum() == pytest.approx(0.2)


@pytest.mark.parametrize("target", [BALANCED, {"false_accept": 0.05}])
def test_without_strangers_rates_among_them_stay_defined(target):
    held_out = scattered()
    cut = calibrate(held_out, target, out_of_scope_share=0.0).cut

    assert 0.0 < cut.refused < 1.0
    if "false_accept" in target:
        assert cut.refused >= 0.95 - 1e-9


def test_labelled_messages_have_no_part_in_thresholds_of_intents_and_languages():
    """They have the row -1."""
    held_out = scattered()
    labelled = replace(held_out, rows=np.full(len(held_out.rows), -1))
    intents, languages = ["a", "b", "c"], ["en", "de"] * 200

    assert calibrate(held_out, BALANCED, intents, languages).by_intent
    found = calibrate(labelled, BALANCED, intents, languages)
    assert (found.by_intent, found.by_language) == ({}, {})
    assert found.cut == calibrate(held_out, BALANCED, intents, languages).cut


def test_weights_of_cases_act_as_repetition():
    held_out = scattered()
    twice = HeldOut(*(np.concatenate([getattr(held_out, name)] * 2) for name in HeldOut.__slots__))

    found = calibrate(replace(held_out, weights=np.full(len(held_out.rows), 2.0)), BALANCED)

    assert found.curve == pytest.approx(calibrate(twice, BALANCED).curve)
    assert found.cut.value == pytest.approx(calibrate(twice, BALANCED).cut.value)


def test_labelled_share_round_trip():
    calibration = Calibration(cases=3, labelled=LabelledShare(0.2, 0.1, 0.4, 30))

    assert Calibration.from_dict(json.loads(json.dumps(calibration.to_dict()))) == calibration
    assert Calibration.from_dict(Calibration().to_dict()).labelled is None
