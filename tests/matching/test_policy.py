"""Decisions from scores and thresholds: pure, monotone, and independent of the order of candidates."""

from __future__ import annotations

import dataclasses

import pytest
from hypothesis import given
from hypothesis import settings as run
from hypothesis import strategies as st

from intentmatch.core.result import Candidate
from intentmatch.core.types import Utterance
from intentmatch.learning.calibration import Calibration
from intentmatch.matching.policy import Cut, Policy, decide, in_scope, policy_cuts

HALF = Policy(Cut(0.5, "test"))


def candidates_of(**scores: float) -> list[Candidate]:
    return [Candidate(intent, score) for intent, score in scores.items()]


def verdict(scores: dict[str, float], policy: Policy) -> tuple[str, str | None]:
    decision = decide(candidates_of(**scores), policy)
    return decision.verdict, decision.ranked[0].intent if decision.verdict == "matched" else None


@pytest.mark.parametrize(
    ("score", "cut", "says"),
    [
        (0.4961, 0.5, "a score of 0.496, below the threshold 0.500"),
        (0.49996, 0.5, "a score of 0.49996, below the threshold 0.50000"),
        (0.48, 0.5, "a score of 0.48, below the threshold 0.50"),
    ],
)
def test_value_just_below_its_threshold_is_shown_as_below_it(score, cut, says):
    decision = decide(candidates_of(a=score), Policy(Cut(cut, "test")))
    assert decision.reason == f"nothing like your lines: a comes nearest with {says} (test)."


def test_probability_just_below_its_threshold_is_shown_as_below_it():
    candidate = Candidate("a", 0.5, confidence=0.6864)
    decision = decide([candidate], Policy(Cut(0.6911, "test", "in_scope")))
    assert "a probability of 68.6%, below the threshold 69.1% (test)" in decision.reason


@pytest.mark.parametrize(
    ("scores", "cut", "margin", "expected"),
    [
        ({}, 0.5, 0.1, ("out_of_scope", None)),
        ({"a": 0.7}, 0.5, 0.1, ("matched", "a")),
        ({"a": 0.4}, 0.5, 0.1, ("out_of_scope", None)),
        ({"a": 0.5}, 0.5, 0.1, ("matched", "a")),
        ({"a": 0.0}, 0.0, 0.0, ("matched", "a")),
        ({"a": -0.1}, 0.0, 0.0, ("out_of_scope", None)),
        ({"a": 1.0}, 1.0, 0.0, ("matched", "a")),
        ({"a": 0.999}, 1.0, 0.0, ("out_of_scope", None)),
        ({"a": 0.5, "b": 0.9}, 0.5, 0.1, ("matched", "b")),
        ({"a": 0.875, "b": 0.9}, 0.5, 0.1, ("ambiguous", None)),
        ({"a": 0.75, "b": 0.875}, 0.5, 0.125, ("matched", "b")),
        ({"a": 0.9, "b": 0.9}, 0.5, 0.01, ("ambiguous", None)),
        ({"a": 0.9, "b": 0.9}, 0.5, 0.0, ("matched", "a")),
        ({"a": 0.9, "b": 0.9}, 0.95, 0.0, ("out_of_scope", None)),
        ({"a": 0.45, "b": 0.51}, 0.5, 0.1, ("matched", "b")),
        ({"a": 0.4, "b": 0.4}, 0.5, 0.1, ("out_of_scope", None)),
        ({"a": 0.9, "b": 0.1}, 0.0, 1.0, ("ambiguous", None)),
    ],
)  # fmt: skip
def test_verdict_follows_from_scores_threshold_and_margin(scores, cut, margin, expected):
    """A score equal to the threshold passes, and 0.0 is a threshold."""
    assert verdict(scores, Policy(Cut(cut, "test"), margin=margin)) == expected


@pytest.mark.parametrize(
    ("language", "nearest", "expected"),
    [
        (None, None, "default"),
        ("", None, "default"),
        ("de", None, "de"),
        ("de-AT", None, "de"),
        ("pt-BR", None, "pt-BR"),
        ("pt", None, "default"),
        ("fr", "de", "default"),
        (None, "de", "de"),
        (None, "de-CH", "de"),
        (None, "fr", "default"),
    ],
)
def test_threshold_by_language_is_exact_then_base_then_default(language, nearest, expected):
    """If the message's language is unknown, that of the nearest utterance counts."""
    policy = Policy(Cut(0.5, "default"), {"de": Cut(0.4, "de"), "pt-BR": Cut(0.3, "pt-BR")})
    candidate = Candidate("a", 0.9, Utterance("x", nearest))

    assert policy.cut(candidate, language).origin == expected


def test_threshold_of_intent_wins_over_language_and_default():
    """Even if it is 0.0."""
    default, german, own = Cut(0.9, "default"), Cut(0.5, "de"), Cut(0.0, "own")
    candidate = Candidate("a", 0.1)

    assert Policy(default, {"de": german}, {"a": own}).cut(candidate, "de") == own
    assert Policy(default, {"de": german}, {"b": own}).cut(candidate, "de") == german
    assert Policy(default, {"de": german}, {"b": own}).cut(candidate, "en") == default


def test_intent_below_its_own_threshold_does_not_hand_the_message_to_the_next():
    """The message is out of scope, although the others pass their thresholds."""
    policy = Policy(Cut(0.5, "default"), by_intent={"a": Cut(0.95, "own")})

    decision = decide(candidates_of(a=0.9, b=0.6, c=0.7), policy)

    assert decision.verdict == "out_of_scope"
    assert [candidate.intent for candidate in decision.ranked] == ["a", "c", "b"]
    assert decision.cut == Cut(0.95, "own")
    assert decision.reason.endswith("a comes nearest with a score of 0.90, below the threshold 0.95 (own).")


def test_intent_below_its_own_threshold_is_no_rival():
    """If the margin decides, which an author wrote as well."""
    policy = Policy(Cut(0.5, "default"), by_intent={"b": Cut(0.95, "own")}, margin=0.1)

    assert decide(candidates_of(a=0.9, b=0.89), policy).verdict == "matched"


def test_rivals_lie_within_the_margin_of_the_best():
    """Measured from the best, not from one to the next; the best comes first."""
    decision = decide(candidates_of(d=0.7, c=0.75, b=0.8, a=0.85), Policy(Cut(0.5, "test"), margin=0.125))

    assert decision.verdict == "ambiguous"
    assert [rival.intent for rival in decision.rivals] == ["a", "b", "c"]
    of_all = "three of your intents: the scores of a (0.85) and b (0.80) and c (0.75)"
    assert decision.reason == f"{of_all} are within 0.12 of each other."


@pytest.mark.parametrize(
    ("scores", "expected"),
    [
        ({"a": 0.9, "b": 0.2}, False),
        ({"a": 0.52, "b": 0.2}, True),
        ({"a": 0.48}, True),
        ({"a": 0.2}, False),
        ({"a": 0.9, "b": 0.88}, True),
        ({}, False),
    ],
)
def test_decision_is_doubtful_near_the_threshold_or_with_rivals(scores, expected):
    assert decide(candidates_of(**scores), dataclasses.replace(HALF, margin=0.05, band=0.05)).doubtful is expected


def test_reason_names_scores_threshold_and_its_origin():
    policy = Policy(Cut(0.5, "learned"), margin=0.05)

    assert decide(candidates_of(a=0.8, b=0.6), policy).reason == (
        "a has a score of 0.80, at or above the threshold 0.50 (learned), and is ahead of b with 0.60."
    )
    assert (
        decide(candidates_of(a=0.8), policy).reason
        == "a has a score of 0.80, at or above the threshold 0.50 (learned)."
    )
    assert decide(candidates_of(a=0.3, b=0.2), policy).reason == (
        "nothing like your lines: a comes nearest with a score of 0.30, below the threshold 0.50 (learned)."
    )
    assert decide((), policy).reason == "there is nothing to compare the message with."


@pytest.mark.parametrize(
    ("threshold", "default", "by_language"),
    [
        ({}, Cut(0.41, "learned"), {}),
        ({"default": 0.0}, Cut(0.0, "bot.yaml:2"), {}),
        ({"de": 0.0}, Cut(0.41, "learned"), {"de": Cut(0.0, "for de, bot.yaml:2")}),
        ({"default": "90%", "de": 0.5}, Cut(0.9, "bot.yaml:2", "confidence"), {"de": Cut(0.5, "for de, bot.yaml:2")}),
        ({"default": 0.6, "de": 0.5}, Cut(0.6, "bot.yaml:2"), {"de": Cut(0.5, "for de, bot.yaml:2")}),
    ],
)
def test_learned_default_is_used_unless_a_default_is_set(threshold, default, by_language):
    """Thresholds by language may be set beside either."""
    assert policy_cuts(threshold, "bot.yaml:2", Cut(0.41, "learned")) == (default, by_language)


SCORES = st.floats(-1.0, 1.0)
CUTS = st.floats(0.0, 1.0).map(lambda value: Cut(value, "drawn"))
CANDIDATES = st.dictionaries(st.sampled_from("abcdef"), SCORES, max_size=6)
POLICIES = st.builds(
    Policy,
    default=CUTS,
    by_language=st.dictionaries(st.sampled_from(["de", "en"]), CUTS),
    by_intent=st.dictionaries(st.sampled_from("abcdef"), CUTS, max_size=3),
    margin=st.floats(0.0, 0.5),
    band=st.floats(0.0, 0.5),
)
LANGUAGES = st.sampled_from([None, "de", "en", "fr"])


@given(CANDIDATES, POLICIES, LANGUAGES, st.randoms(use_true_random=False))
def test_decision_does_not_depend_on_the_order_of_candidates(scores, policy, language, random):
    shuffled = candidates_of(**scores)
    random.shuffle(shuffled)

    assert decide(shuffled, policy, language) == decide(candidates_of(**scores), policy, language)


@given(CANDIDATES, POLICIES, LANGUAGES)
def test_decision_is_consistent(scores, policy, language):
    """The first candidate passes or the message is out of scope; there are no or several rivals, ranked by score."""
    decision = decide(candidates_of(**scores), policy, language)
    passing = [c for c in decision.ranked if c.score >= policy.cut(c, language).value]

    assert sorted(c.intent for c in decision.ranked) == sorted(scores)
    assert (decision.verdict == "out_of_scope") == (decision.ranked[:1] != tuple(passing[:1]) or not passing)
    assert (decision.verdict == "ambiguous") == (len(decision.rivals) > 1) == bool(decision.rivals)
    assert [c.score for c in decision.ranked] == sorted((c.score for c in decision.ranked), reverse=True)
    assert set(decision.rivals) <= set(passing)


@given(CANDIDATES, POLICIES, LANGUAGES, st.floats(0.0, 1.0))
def test_raising_thresholds_keeps_messages_out_of_scope(scores, policy, language, more):
    if decide(candidates_of(**scores), policy, language).verdict != "out_of_scope":
        return

    def higher(cut: Cut) -> Cut:
        return Cut(cut.value + more, cut.origin)

    stricter = [
        dataclasses.replace(policy, default=higher(policy.default)),
        dataclasses.replace(policy, by_language={code: higher(cut) for code, cut in policy.by_language.items()}),
        dataclasses.replace(policy, by_intent={intent: higher(cut) for intent, cut in policy.by_intent.items()}),
    ]

    assert {decide(candidates_of(**scores), each, language).verdict for each in stricter} == {"out_of_scope"}


@given(CANDIDATES, POLICIES, LANGUAGES, st.floats(0.0, 0.5))
def test_wider_margin_keeps_rivals(scores, policy, language, more):
    decision = decide(candidates_of(**scores), policy, language)
    wider = decide(candidates_of(**scores), dataclasses.replace(policy, margin=policy.margin + more), language)

    assert set(decision.rivals) <= set(wider.rivals)
    assert (decision.verdict == "out_of_scope") == (wider.verdict == "out_of_scope")


def test_raised_score_of_the_winner_keeps_it_matched():
    policy = Policy(Cut(0.5, "default"), margin=0.1)

    for score in (0.8, 0.85, 1.0):
        decision = decide(candidates_of(a=score, b=0.6), policy)
        assert (decision.verdict, decision.ranked[0].intent) == ("matched", "a")


TENTHS = st.integers(0, 10).map(lambda number: number / 10)
MEASURES = st.sampled_from(["score", "confidence", "in_scope"])
ANY_CUTS = st.builds(Cut, TENTHS, st.just("drawn"), MEASURES)
ANY_POLICIES = st.builds(
    Policy,
    default=ANY_CUTS,
    by_language=st.dictionaries(st.sampled_from(["de", "en"]), ANY_CUTS),
    by_intent=st.dictionaries(st.sampled_from("abcd"), ANY_CUTS),
    margin=st.one_of(st.none(), st.sampled_from([0.0, 0.1, 0.5])),
)


@st.composite
def ranked_candidates(draw) -> list[Candidate]:
    """Return candidates with scores, evidence and, often, confidences that add up to at most 1; with many ties."""
    names = draw(st.lists(st.sampled_from("abcd"), unique=True, max_size=4))
    evidence = [draw(TENTHS) for _ in names]
    shares = draw(st.one_of(st.none(), TENTHS))
    calibration = Calibration((10.0 * (shares or 0.0) - 5.0, 1.0), sharpness=draw(st.sampled_from([0.0, 3.0, 20.0])))
    confidences = [None] * len(names) if shares is None else calibration.confidences(evidence)
    return [
        Candidate(name, draw(TENTHS), confidence=confidence, evidence=of)
        for name, confidence, of in zip(names, confidences, evidence, strict=True)
    ]


@run(max_examples=300)
@given(ranked_candidates(), ANY_POLICIES, LANGUAGES, st.sampled_from("abcd"), ANY_CUTS)
def test_stricter_threshold_of_an_intent_never_gives_another_intent(candidates, policy, language, name, other):
    """The law of thresholds: whatever the threshold of an intent becomes, no other intent is matched instead."""
    before = decide(candidates, policy, language)

    after = decide(candidates, dataclasses.replace(policy, by_intent={**policy.by_intent, name: other}), language)

    if before.verdict == "matched" and after.verdict == "matched":
        assert after.ranked[0].intent == before.ranked[0].intent
    if after.verdict == "matched":
        assert after.ranked[0] == max(candidates, key=lambda c: (c.rank, -ord(c.intent)))


def candidates_with_confidence(**candidates: tuple[float, float, float]) -> list[Candidate]:
    """Return candidates from their scores, confidences and evidence."""
    return [
        Candidate(name, score, confidence=confidence, evidence=evidence)
        for name, (score, confidence, evidence) in candidates.items()
    ]


LEARNED = Policy(Cut(0.5, "learned", "in_scope"), margin=None)
SURE = Policy(Cut(0.9, "bot.yaml:3", "confidence"), margin=None)


@pytest.mark.parametrize(
    ("candidates", "verdict"),
    [
        ({"a": (0.1, 0.51, 1.0)}, "matched"),
        ({"a": (0.1, 0.5, 1.0)}, "out_of_scope"),
        ({"a": (0.9, 0.49, 1.0)}, "out_of_scope"),
        ({"a": (0.1, 0.4, 1.0), "b": (0.1, 0.1, 0.5)}, "ambiguous"),
        ({"a": (0.9, 0.6, 1.5), "b": (0.9, 0.35, 1.3)}, "matched"),
        ({"a": (0.3, 0.47, 1.5), "b": (0.9, 0.43, 1.45)}, "ambiguous"),
        ({"a": (0.3, 0.3, 1.5), "b": (0.9, 0.2, 1.45), "c": (0.9, 0.15, 1.4), "d": (0.9, 0.1, 1.3)}, "ambiguous"),
        ({"a": (0.3, 0.4, 1.5), "b": (0.9, 0.3, 1.45), "c": (0.9, 0.2, 1.4)}, "ambiguous"),
    ],
)
def test_learned_threshold_is_on_the_sum_of_the_confidences(candidates, verdict):
    """Scores do not matter; the bot asks if the first intent is more likely wrong than right."""
    decision = decide(candidates_with_confidence(**candidates), LEARNED)

    assert (decision.verdict, decision.ranked[0].intent) == (verdict, "a")


def test_at_most_three_likely_intents_are_rivals():
    four = {"a": (0.9, 0.4, 1.5), "b": (0.9, 0.3, 1.4), "c": (0.9, 0.12, 1.3), "d": (0.9, 0.1, 1.2)}
    few = {"a": (0.9, 0.47, 1.5), "b": (0.9, 0.43, 1.4), "c": (0.9, 0.04, 1.3)}

    assert [c.intent for c in decide(candidates_with_confidence(**four), SURE).rivals] == ["a", "b", "c"]
    assert [c.intent for c in decide(candidates_with_confidence(**few), LEARNED).rivals] == ["a", "b"]


def test_strict_learned_threshold_refuses_before_it_asks():
    strict = Policy(Cut(0.95, "learned", "in_scope"), margin=None)

    assert decide(candidates_with_confidence(a=(0.9, 0.5, 1.5), b=(0.9, 0.4, 1.4)), strict).verdict == "out_of_scope"


@pytest.mark.parametrize(
    ("candidates", "verdict"),
    [
        ({"a": (0.1, 0.9, 1.0)}, "matched"),
        ({"a": (0.9, 0.89, 1.0), "b": (0.9, 0.05, 0.5)}, "out_of_scope"),
        ({"a": (0.9, 0.7, 1.0), "b": (0.9, 0.25, 0.9)}, "ambiguous"),
        ({"a": (0.9, 0.6, 1.0), "b": (0.9, 0.15, 0.9)}, "out_of_scope"),
    ],
)
def test_threshold_of_an_author_on_the_confidence(candidates, verdict):
    """Below it, the bot asks if two or three intents are likely together; the runner-up never wins."""
    assert decide(candidates_with_confidence(**candidates), SURE).verdict == verdict


def test_threshold_of_an_author_on_the_score_may_ask_too():
    policy = dataclasses.replace(LEARNED, by_intent={"a": Cut(0.8, "the author's")})

    close = decide(candidates_with_confidence(a=(0.7, 0.65, 1.5), b=(0.9, 0.3, 1.3)), policy)
    clear = decide(candidates_with_confidence(a=(0.7, 0.99, 1.5), b=(0.9, 0.01, 1.3)), policy)

    assert (close.verdict, [c.intent for c in close.rivals]) == ("ambiguous", ["a", "b"])
    assert clear.verdict == "out_of_scope"
    assert clear.reason.endswith("a comes nearest with a score of 0.70, below the threshold 0.80 (the author's).")


@pytest.mark.parametrize(
    ("policy", "candidates", "reason"),
    [
        (
            LEARNED,
            {"a": (0.4, 0.7, 1.5), "b": (0.9, 0.2, 1.3)},
            "one of your intents is meant with a probability of 90%, at or above the threshold 50% (learned); a has a "
            "confidence of 70%, b of 20%.",
        ),
        (
            LEARNED,
            {"a": (0.4, 0.3, 1.5), "b": (0.9, 0.1, 1.3)},
            "nothing like your lines: a comes nearest; one of your intents is meant with a probability of 40%, "
            "below the threshold 50% (learned).",
        ),
        (
            LEARNED,
            {"a": (0.4, 0.45, 1.5), "b": (0.9, 0.4, 1.3)},
            "two of your intents: it could be a (45%) or b (40%), by their confidence; none of them is likely enough"
            " alone.",
        ),
        (
            SURE,
            {"a": (0.4, 0.95, 1.5), "b": (0.9, 0.02, 1.3)},
            "a has a confidence of 95%, at or above the threshold 90% (bot.yaml:3), and is ahead of b with 2%.",
        ),
        (
            SURE,
            {"a": (0.4, 0.85, 1.5)},
            "nothing like your lines: a comes nearest with a confidence of 85%, below the threshold 90% (bot.yaml:3).",
        ),
    ],
)
def test_reason_compares_like_with_like(policy, candidates, reason):
    """Probabilities are percentages and scores are numbers; one sentence never compares the two."""
    assert decide(candidates_with_confidence(**candidates), policy).reason == reason


def test_author_margin_is_on_the_score():
    """Also if the second has the higher score."""
    policy = dataclasses.replace(LEARNED, margin=0.1)

    assert decide(candidates_with_confidence(a=(0.5, 0.6, 2.0), b=(0.45, 0.3, 1.3)), policy).verdict == "ambiguous"
    assert decide(candidates_with_confidence(a=(0.5, 0.6, 2.0), b=(0.8, 0.3, 1.3)), policy).verdict == "ambiguous"
    assert decide(candidates_with_confidence(a=(0.8, 0.5, 2.0), b=(0.5, 0.45, 1.95)), policy).verdict == "matched"


def test_margin_of_zero_never_asks():
    """Not even where others have higher scores than the first one, which is first by its evidence."""
    decision = decide(
        candidates_with_confidence(a=(0.5, 0.4, 2.0), b=(0.8, 0.3, 1.3), c=(0.7, 0.2, 1.2)),
        dataclasses.replace(LEARNED, margin=0.0),
    )

    assert (decision.verdict, decision.ranked[0].intent, decision.rivals) == ("matched", "a", ())


def test_score_is_compared_without_a_confidence():
    assert decide(candidates_of(a=1.0), LEARNED).verdict == "matched"
    assert decide(candidates_of(a=0.49), LEARNED).verdict == "out_of_scope"


def test_in_scope_probability_is_the_sum_of_the_confidences():
    """Not above 1, whatever rounding does."""
    assert in_scope(candidates_with_confidence(a=(0.5, 0.5, 1.0), b=(0.5, 0.25, 0.9))) == 0.75
    assert in_scope(candidates_with_confidence(a=(0.5, 0.7, 1.0), b=(0.5, 0.3 + 1e-9, 0.9))) == 1.0
    assert in_scope(candidates_of(a=0.5)) is None
    assert in_scope([]) is None


@pytest.mark.parametrize(
    ("confidence", "cut", "band", "expected"),
    [
        (0.95, 0.5, None, False),
        (0.7, 0.5, None, True),
        (0.3, 0.5, None, True),
        (0.1, 0.5, None, False),
        (0.7, 0.5, 0.1, False),
        (0.95, 0.9, 0.1, True),
        (0.95, 0.95, 0.0, False),
    ],
)
@pytest.mark.parametrize("measure", ["confidence", "in_scope"])
def test_doubt_of_a_confidence_is_its_expected_error(measure, confidence, cut, band, expected):
    """With a band, it is nearness to the threshold."""
    policy = dataclasses.replace(LEARNED, default=Cut(cut, "learned", measure), band=band)

    assert decide(candidates_with_confidence(a=(0.5, confidence, 1.0)), policy).doubtful is expected


def test_sure_message_with_an_unsure_intent_is_doubtful():
    decision = decide(candidates_with_confidence(a=(0.5, 0.65, 1.0), b=(0.5, 0.3, 0.9)), LEARNED)

    assert (decision.verdict, decision.doubtful) == ("matched", True)


@pytest.mark.parametrize(
    ("confidences", "expected"),
    [
        ((0.51, 0.45), "matched"),
        ((0.49, 0.45), "ambiguous"),
        ((0.49, 0.2, 0.03, 0.03, 0.03), "ambiguous"),
        ((0.42, 0.07, 0.07, 0.07, 0.07, 0.07), "ambiguous"),
        ((0.42, *[0.04] * 10), "out_of_scope"),
    ],
)
def test_intent_that_is_more_likely_wrong_than_right_is_never_matched(confidences, expected) -> None:
    """However the rest of the probability is scattered. Without a second intent to offer, nothing is asked."""
    policy = Policy(Cut(0.6, "test", "in_scope"), margin=None)
    candidates = [Candidate(f"i{n}", 0.9 - n / 100, confidence=of) for n, of in enumerate(confidences)]

    decision = decide(candidates, policy)

    assert decision.verdict == expected
    assert "i0" in decision.reason


def test_author_may_match_what_is_more_likely_wrong_than_right() -> None:
    policy = Policy(Cut(0.3, "test", "confidence"), margin=None)
    candidates = [Candidate("a", 0.9, confidence=0.35), Candidate("b", 0.8, confidence=0.02)]

    assert decide(candidates, policy).verdict == "matched"
