"""Evidence to confidence, and cuts that reach their target, against a twin that tries every cut there is."""

from __future__ import annotations

import json
from collections.abc import Mapping
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from intentmatch.learning import calibration as room
from intentmatch.learning.calibration import Calibration, LearnedCut, calibrate
from intentmatch.learning.cross_validation import HeldOut

PRECISE = {"precision": 0.95, "give_up": 0.005}
BALANCED = {"balance": True}
HALF_PRECISE = {"precision": 0.97}


def cases(
    right: list[float], wrong: list[float] = (), strangers: list[float] = (), *, gap: float = 1.0, leading: int = 0
) -> HeldOut:
    """Held-out cases by their evidence: right, wrong though known, and out of scope."""
    evidence = np.array([*right, *wrong, *strangers], dtype=np.float64)
    count, known = len(evidence), len(right) + len(wrong)
    return HeldOut(
        evidence=evidence,
        gap=np.full(count, gap),
        leading=np.full(count, leading),
        second=np.full(count, leading + 1),
        right=np.arange(count) < len(right),
        known=np.arange(count) < known,
        rows=np.arange(count),
    )


def scattered(seed: int = 7, known: int = 200, strangers: int = 200, *, apart: float = 0.8) -> HeldOut:
    """Cases as a registry has them: what is known has more evidence mostly, and what has more is right more often."""
    random = np.random.default_rng(seed)
    evidence = np.concatenate([random.normal(1.0 + apart, 0.4, known), random.normal(1.0, 0.4, strangers)])
    there = np.arange(known + strangers) < known
    right = there & (random.random(len(evidence)) < 1 / (1 + np.exp(-4 * (evidence - 1.0))))
    gap = np.abs(random.normal(0.3, 0.2, len(evidence)))
    return HeldOut(
        evidence, gap, random.integers(0, 3, len(evidence)), np.full(len(evidence), 3), right, there,
        np.arange(len(evidence)),
    )  # fmt: skip


def shares_of(held_out: HeldOut) -> np.ndarray:
    """How much each case counts: strangers are a tenth of the messages in scope."""
    known = held_out.known
    return np.where(known, 1.0, 0.1 * known.sum() / max(1, (~known).sum()))


def measured(held_out: HeldOut, calibration: Calibration, cut: float) -> dict[str, float]:
    """What a cut does to the cases, one case at a time."""
    right = given_ = answered = accepted = refused = inside = outside = 0.0
    for number, share in enumerate(shares_of(held_out).tolist()):
        passes = calibration.confidence(held_out.evidence[number]) >= cut
        right += share * (passes and held_out.right[number])
        given_ += share * passes
        if held_out.known[number]:
            inside += share
            answered += share * passes
        else:
            outside += share
            accepted += share * passes
            refused += share * (not passes)
    return {
        "precision": right / given_ if given_ else 0.0,
        "coverage": answered / inside if inside else 0.0,
        "refused": refused / outside if outside else 0.0,
        "false_accept": accepted / outside if outside else 0.0,
        "overall": (right + refused) / (inside + outside),
        "given": given_,
    }


def every_cut(held_out: HeldOut, calibration: Calibration) -> list[dict[str, float]]:
    """What each cut does that lets at least one case pass, from the highest to the lowest."""
    confidences = sorted({calibration.confidence(evidence) for evidence in held_out.evidence}, reverse=True)
    return [measured(held_out, calibration, cut) for cut in confidences]


# Tenths tie often, as the evidence of equal lines does.
EVIDENCE = st.lists(st.integers(-10, 30).map(lambda tenths: tenths / 10), min_size=20, max_size=45)


@st.composite
def held_outs(draw) -> HeldOut:
    return cases(draw(EVIDENCE), draw(st.one_of(st.just([]), EVIDENCE)), draw(EVIDENCE))


HELD_OUT = held_outs()


@given(HELD_OUT)
def test_confidence_rises_with_the_evidence(held_out):
    """More evidence is never less sure, whatever the cases say, and a confidence is a probability."""
    calibration = calibrate(held_out, BALANCED)

    confidences = [calibration.confidence(evidence) for evidence in np.linspace(-20.0, 20.0, 41)]

    assert all(0.0 <= less <= more <= 1.0 for less, more in pairwise(confidences))
    many = calibration.confidences(np.linspace(-20.0, 20.0, 41))
    assert many.tolist() == pytest.approx(confidences)


def test_confidence_tells_right_from_wrong():
    """Where more evidence means more often right, it rises steeply."""
    calibration = calibrate(scattered(), BALANCED)

    assert calibration.confidence(0.0) < 0.1 < 0.5 < calibration.confidence(1.5) < 0.95 < calibration.confidence(3.0)


@given(HELD_OUT)
def test_confidence_is_right_on_the_whole(held_out):
    """The mean confidence of the cases is the share that is right, strangers counted as a tenth."""
    shares = shares_of(held_out)

    confidences = calibrate(held_out, BALANCED).confidences(held_out.evidence)

    assert shares @ confidences == pytest.approx(shares @ held_out.right, rel=1e-3)


def test_confidence_where_evidence_misleads():
    """Where more evidence means less often right it says nothing, and each has the chance that all have."""
    held_out = cases([0.0, 0.1, 0.2, 0.3] * 10, [], [2.0, 2.1, 2.2] * 10)

    calibration = calibrate(held_out, BALANCED)

    assert calibration.confidence(0.0) == calibration.confidence(3.0) == pytest.approx(1 / 1.1, abs=1e-3)


@pytest.mark.parametrize("far", [0.0, 5.0, 30.0])
def test_confidence_where_all_is_plain(far):
    """Cases that fall apart into right and wrong have a curve that ends, wherever they lie."""
    calibration = calibrate(cases([far + 2.0] * 30, [], [far] * 30), BALANCED)

    assert np.isfinite(calibration.curve).all()
    assert calibration.confidence(far) < 0.2 < 0.9 < calibration.confidence(far + 2.0)


@pytest.mark.parametrize(
    "held_out",
    [
        cases([]),
        cases([1.0] * 19, [], [0.0] * 100),
        cases([1.0] * 100, [0.5] * 10, [0.0] * 9),
        cases([], [1.0] * 50, [0.0] * 50),
        cases([1.0] * 500),
    ],
)
@pytest.mark.parametrize("target", [PRECISE, {"false_accept": 0.1}, BALANCED])
def test_too_few_cases_teach_nothing(held_out, target):
    """Without twenty right and twenty wrong there is no curve, no cut and no confidence, but it says how many."""
    calibration = calibrate(held_out, target, ["a", "b"], ["en"] * len(held_out.rows))

    assert calibration == Calibration(cases=len(held_out.rows))
    assert calibration.confidence(1.0) is None
    assert calibration.confidences(np.ones(3)) is None


def test_twenty_of_either_kind_are_enough():
    """One more than too few teaches a cut."""
    calibration = calibrate(cases([1.0] * 20, [0.5] * 10, [0.0] * 10), BALANCED)

    assert calibration.cut is not None
    assert calibration.cases == calibration.cut.cases == 40


def test_the_same_cases_teach_the_same():
    """Calibration is deterministic, to the last digit."""
    names, languages = ["a", "b", "c", "d"], ["en", "de"] * 200

    assert calibrate(scattered(), PRECISE, names, languages) == calibrate(scattered(), PRECISE, names, languages)


@given(HELD_OUT, st.randoms(use_true_random=False))
def test_the_order_of_cases_teaches_nothing(held_out, random):
    """Cases in any order give the same cut, but for the last digits of sums."""
    order = list(range(len(held_out.rows)))
    random.shuffle(order)
    shuffled = HeldOut(*(getattr(held_out, name)[order] for name in HeldOut.__slots__))

    one, other = calibrate(held_out, BALANCED), calibrate(shuffled, BALANCED)

    assert other.curve == pytest.approx(one.curve, rel=1e-4, abs=1e-6)
    assert other.cut.coverage == pytest.approx(one.cut.coverage)


@given(HELD_OUT, st.sampled_from([PRECISE, BALANCED, {"false_accept": 0.1}, {"precision": 0.5}]))
def test_a_cut_says_what_it_does_to_the_cases(held_out, target):
    """Precision, coverage and the share refused are those of the cases, counted one by one."""
    calibration = calibrate(held_out, target)

    twin = measured(held_out, calibration, calibration.cut.value)

    for name in ("precision", "coverage", "refused"):
        assert getattr(calibration.cut, name) == pytest.approx(twin[name], abs=1e-9)


@given(HELD_OUT, st.sampled_from([0.3, 0.5, 0.8, 0.9, 0.95, 1.0]))
def test_a_precision_is_reached_where_any_cut_reaches_it(held_out, wanted):
    """And of the cuts that do, the one that answers most; where none does, the note says so and the fewest pass."""
    calibration = calibrate(held_out, {"precision": wanted})
    assume(calibration.curve[1] > 1e-3)

    found = measured(held_out, calibration, calibration.cut.value)
    every = every_cut(held_out, calibration)
    reaching = [cut for cut in every if cut["precision"] >= wanted - 1e-12]

    if reaching:
        assert found["precision"] >= wanted - 1e-9
        assert found["given"] == pytest.approx(max(cut["given"] for cut in reaching))
        assert calibration.cut.note == ""
    else:
        assert found["given"] == pytest.approx(min(cut["given"] for cut in every))
        assert calibration.cut.note == f"no cut reaches a precision of {wanted:.0%}"


@given(HELD_OUT, st.sampled_from([0.3, 0.5, 0.8, 0.9, 0.95]), st.sampled_from([0.0, 0.005, 0.03, 0.1]))
def test_what_a_precision_may_cost_is_bounded(held_out, wanted, allowed):
    """No cut gives up more of what would be right than it may; within that, the precision is reached if it can be."""
    calibration = calibrate(held_out, {"precision": wanted, "give_up": allowed})
    assume(calibration.curve[1] > 1e-3)

    found = measured(held_out, calibration, calibration.cut.value)
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


def test_the_note_says_what_is_given_up():
    """In words and numbers that an author can act on."""
    often_wrong = cases([1.0, 1.5, 2.0] * 20, [1.0, 1.2, 1.9] * 10, [0.0] * 20)
    always_wrong = cases([1.0, 1.5, 2.0] * 20, [1.0, 1.5, 2.0] * 20, [0.0] * 20)

    assert calibrate(always_wrong, PRECISE).cut.note == "no cut reaches a precision of 95%"
    assert (
        calibrate(often_wrong, PRECISE).cut.note
        == "a precision of 95% would cost too much; this cut costs 0.5% at most"
    )


@given(HELD_OUT, st.sampled_from([0.0, 0.05, 0.1, 0.5, 1.0]))
def test_no_more_strangers_are_answered_than_allowed(held_out, allowed):
    """And of the cuts that keep to it, the one that answers most; where none does, nothing is answered."""
    calibration = calibrate(held_out, {"false_accept": allowed})
    assume(calibration.curve[1] > 1e-3)

    found = measured(held_out, calibration, calibration.cut.value)
    keeping = [cut for cut in every_cut(held_out, calibration) if cut["false_accept"] <= allowed + 1e-12]

    assert found["false_accept"] <= allowed + 1e-9
    if keeping:
        assert found["given"] == pytest.approx(max(cut["given"] for cut in keeping))
        assert calibration.cut.note == ""
    else:
        assert found["given"] == 0.0
        assert calibration.cut.note == "out-of-scope messages cannot be told from messages in scope"


@given(HELD_OUT)
def test_balance_is_most_rightly_answered_or_refused(held_out):
    """No cut does better on the cases."""
    calibration = calibrate(held_out, BALANCED)
    assume(calibration.curve[1] > 1e-3)

    found = measured(held_out, calibration, calibration.cut.value)

    assert found["overall"] == pytest.approx(max(cut["overall"] for cut in every_cut(held_out, calibration)))
    assert calibration.cut.note == ""


def test_stricter_targets_have_higher_cuts():
    """More precision, or fewer strangers, is never a lower cut."""
    held_out = scattered()

    precise = [calibrate(held_out, {"precision": p}).cut.value for p in (0.5, 0.8, 0.9, 0.95, 0.98)]
    refusing = [calibrate(held_out, {"false_accept": s}).cut.value for s in (1.0, 0.5, 0.2, 0.1, 0.0)]

    for cuts in (precise, refusing):
        assert cuts == sorted(cuts)
        assert cuts[0] < cuts[-1]


def test_a_cut_lies_between_cases():
    """Not on one of them, where the last digit would decide; below all where all are to pass."""
    between = calibrate(cases([2.0] * 30, [], [1.0] * 30), {"false_accept": 0.0})
    all_pass = calibrate(cases([2.0] * 30, [], [1.0] * 30), {"false_accept": 1.0})

    assert between.cut.value == pytest.approx((between.confidence(1.0) + between.confidence(2.0)) / 2)
    assert 0.0 < all_pass.cut.value < all_pass.confidence(1.0)


def parted(easy: int, hard: int, *, strangers: float = 0.5) -> tuple[HeldOut, list[int]]:
    """Two parts of cases: in the second, strangers have as much evidence as the first's right ones."""
    random = np.random.default_rng(9)
    part_of, evidence, right = [], [], []
    for part, (count, more) in enumerate([(easy, 0.0), (hard, 0.7)]):
        wrong = int(count * strangers)
        evidence += [*random.normal(1.8, 0.3, count - wrong), *random.normal(0.8 + more, 0.3, wrong)]
        right += [True] * (count - wrong) + [False] * wrong
        part_of += [part] * count
    numbers = np.array(part_of)
    known = np.array(right)
    return (
        HeldOut(
            np.array(evidence), np.ones(len(numbers)), numbers, 1 - numbers, np.array(right), known,
            np.arange(len(numbers)),
        ),
        part_of,
    )  # fmt: skip


def by_part(kind: str, held_out: HeldOut, part_of: list[int], names: list[str], target=HALF_PRECISE) -> Calibration:
    """Calibrated with the parts as languages of the utterances, or as the leading intents."""
    if kind == "language":
        return calibrate(held_out, target, ["x", "y"], [names[part] or None for part in part_of])
    return calibrate(held_out, target, names)


def cuts_of(kind: str, calibration: Calibration) -> Mapping[str, LearnedCut]:
    return calibration.by_language if kind == "language" else calibration.by_intent


KINDS = pytest.mark.parametrize("kind", ["language", "intent"])


@KINDS
def test_a_part_has_a_cut_of_its_own(kind):
    """Where one language or intent is harder than another its cut is higher, with its own cases behind it."""
    calibration = by_part(kind, *parted(400, 300), ["aa", "bb"])

    easy, hard = (cuts_of(kind, calibration)[name] for name in ("aa", "bb"))

    assert hard.value > calibration.cut.value > easy.value
    assert (easy.cases, hard.cases, calibration.cut.cases) == (400, 300, 700)


@KINDS
def test_the_cut_of_a_part_is_drawn_to_the_common_one(kind):
    """As if that rested on four hundred cases: it lies between the two, nearer to its own the more cases it has."""
    held_out, part_of = parted(400, 100)
    calibration = by_part(kind, held_out, part_of, ["aa", "bb"])
    confidences = calibration.confidences(held_out.evidence)
    some = np.array(part_of) == 1
    shares = shares_of(held_out)
    chances = room._Chances(confidences, held_out.right, held_out.known, shares)
    own = room._chosen(chances.select(some), HALF_PRECISE).value

    found = cuts_of(kind, calibration)["bb"].value

    assert own > calibration.cut.value
    assert found == pytest.approx((100 * own + 400 * calibration.cut.value) / 500)


@KINDS
@pytest.mark.parametrize(
    ("hard", "strangers", "has_its_own"), [(59, 0.5, False), (60, 0.5, True), (60, 0.19, False), (60, 0.2, True)]
)
def test_a_part_needs_cases_of_its_own(kind, hard, strangers, has_its_own):
    """Sixty cases, twelve of them wrong, are enough, and one less is not: then the common cut holds."""
    held_out, part_of = parted(400, hard, strangers=strangers)

    calibration = by_part(kind, held_out, part_of, ["aa", "bb"])

    assert ("bb" in cuts_of(kind, calibration)) is has_its_own
    assert "aa" in cuts_of(kind, calibration)


def test_a_part_that_is_never_right_has_no_cut():
    """What never leads rightly teaches nothing about when to believe it."""
    held_out, _ = parted(400, 100, strangers=1.0)
    held_out.right[:200] = held_out.known[:200] = True

    assert list(calibrate(held_out, BALANCED, ["aa", "bb"]).by_intent) == ["aa"]


@pytest.mark.parametrize("names", [["aa", "aa"], ["aa", ""], ["", ""]])
def test_one_language_is_not_told_from_itself(names):
    """A registry in one language, or whose author named none or only one, has the common cut alone."""
    calibration = by_part("language", *parted(400, 300), names)

    assert calibration.by_language == {}
    assert calibration.cut is not None


def close(count: int, right: int, gap: float, others: int = 100) -> HeldOut:
    """So many cases with a gap, some of them right, and others that are right and far from their second."""
    held_out = cases([2.0] * (right + others), [2.0] * (count - right), [0.0] * 30)
    held_out.gap[:right] = gap
    held_out.gap[right + others : count + others] = gap
    return held_out


@pytest.mark.parametrize(
    ("count", "right", "gap", "margin"),
    [
        (30, 10, 0.02, 0.02),
        (30, 10, 0.03, 0.03),
        (30, 10, 0.031, 0.0),
        (30, 14, 0.02, 0.02),
        (30, 15, 0.02, 0.0),
        (30, 30, 0.02, 0.0),
        (10, 0, 0.01, 0.01),
        (9, 0, 0.01, 0.0),
    ],
)  # fmt: skip
def test_the_margin_is_where_the_first_is_right_too_seldom(count, right, gap, margin):
    """Asking is worth it where the first of two is right less than every other time, in ten cases or more."""
    held_out = close(count, right, gap)
    # Twenty wrong cases teach a curve whatever the margin.
    assert calibrate(held_out, BALANCED).margin == pytest.approx(margin)


def test_strangers_have_no_say_in_the_margin():
    """Of what is out of scope neither of two is right, however close they are."""
    held_out = cases([2.0] * 50, [1.0] * 5, [0.0] * 50)
    held_out.gap[55:] = 0.01

    assert calibrate(held_out, BALANCED).margin == 0.0


def test_ties_are_counted_together():
    """Cases with the very same gap are asked about or not, whatever their order."""
    held_out = close(30, 20, 0.02)
    other = HeldOut(*(getattr(held_out, name)[::-1] for name in HeldOut.__slots__))

    assert calibrate(held_out, BALANCED).margin == calibrate(other, BALANCED).margin == 0.0


CUT = LearnedCut(0.41, 0.95, 0.8, 0.6, 700, "a note")


@pytest.mark.parametrize(
    "calibration",
    [
        Calibration(),
        Calibration(cases=7),
        Calibration((-4.2, 3.5), CUT, {}, {}, 0.02, 2992),
        Calibration((-4.2, 3.5), CUT, {"de": CUT, "pt-BR": CUT}, {"order": CUT}, 0.0, 2992),
        calibrate(scattered(), PRECISE, ["a", "b", "c", "d"], ["en", "de"] * 200),
    ],
)
def test_a_calibration_survives_json(calibration):
    """`from_dict` is the inverse of `to_dict`, through JSON and back, to the last digit."""
    assert Calibration.from_dict(json.loads(json.dumps(calibration.to_dict()))) == calibration


@given(st.floats(-1e6, 1e6), st.tuples(st.floats(-1e6, 1e6), st.floats(0.0, 1e6)))
def test_a_confidence_is_a_probability(evidence, curve):
    """Whatever was learned, a confidence lies between 0 and 1."""
    assert 0.0 <= Calibration(curve).confidence(evidence) <= 1.0
