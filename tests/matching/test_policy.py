"""Decisions from scores and thresholds: pure, monotone, and independent of the order of candidates."""

from __future__ import annotations

import dataclasses

import pytest
from hypothesis import given
from hypothesis import strategies as st

from intentmatch.core.result import Candidate
from intentmatch.core.types import Utterance
from intentmatch.matching.policy import Cut, Policy, decide, policy_cuts

HALF = Policy(Cut(0.5, "test"))


def candidates_of(**scores: float) -> list[Candidate]:
    return [Candidate(intent, score) for intent, score in scores.items()]


def verdict(scores: dict[str, float], policy: Policy) -> tuple[str, str | None]:
    decision = decide(candidates_of(**scores), policy)
    return decision.verdict, decision.ranked[0].intent if decision.verdict == "matched" else None


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


def test_intent_below_its_own_threshold_cannot_win():
    """The next intent that passes wins and comes first."""
    policy = Policy(Cut(0.5, "default"), by_intent={"a": Cut(0.95, "own")})

    decision = decide(candidates_of(a=0.9, b=0.6, c=0.7), policy)

    assert decision.verdict == "matched"
    assert [candidate.intent for candidate in decision.ranked] == ["c", "a", "b"]
    assert decision.cut == Cut(0.5, "default")
    assert "a has a score of 0.90, but stays below its threshold 0.95 (own)" in decision.reason


def test_intent_below_its_own_threshold_is_no_rival():
    policy = Policy(Cut(0.5, "default"), by_intent={"a": Cut(0.95, "own")}, margin=0.1)

    assert decide(candidates_of(a=0.9, b=0.89), policy).verdict == "matched"


def test_rivals_lie_within_the_margin_of_the_best():
    """Measured from the best, not from one to the next; the best comes first."""
    decision = decide(candidates_of(d=0.7, c=0.75, b=0.8, a=0.85), Policy(Cut(0.5, "test"), margin=0.125))

    assert decision.verdict == "ambiguous"
    assert [rival.intent for rival in decision.rivals] == ["a", "b", "c"]
    assert "a (0.85) and b (0.80) and c (0.75) are within 0.12 of each other" in decision.reason


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
        "a comes nearest with a score of 0.30, below the threshold 0.50 (learned)."
    )
    assert decide((), policy).reason == "there is nothing to compare the message with."


@pytest.mark.parametrize(
    ("threshold", "default", "by_language"),
    [
        ({}, Cut(0.41, "learned"), {}),
        ({"default": 0.0}, Cut(0.0, "bot.yaml:2"), {}),
        ({"de": 0.0}, Cut(0.41, "learned"), {"de": Cut(0.0, "for de, bot.yaml:2")}),
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
    """The first candidate passes unless all fail; there are no or several rivals; the rest is ranked by score."""
    decision = decide(candidates_of(**scores), policy, language)
    passing = [c for c in decision.ranked if c.score >= policy.cut(c, language).value]

    assert sorted(c.intent for c in decision.ranked) == sorted(scores)
    assert (decision.verdict == "out_of_scope") == (not passing)
    assert (decision.verdict == "ambiguous") == (len(decision.rivals) > 1) == bool(decision.rivals)
    assert not passing or decision.ranked[0].score == max(c.score for c in passing)
    assert [c.score for c in decision.ranked[1:]] == sorted((c.score for c in decision.ranked[1:]), reverse=True)
    assert set(decision.rivals) <= set(passing)


@given(CANDIDATES, POLICIES, LANGUAGES, st.floats(0.0, 1.0))
def test_raising_the_winner_keeps_it_matched(scores, policy, language, more):
    decision = decide(candidates_of(**scores), policy, language)
    if decision.verdict != "matched":
        return
    winner = decision.ranked[0]

    raised = decide(candidates_of(**{**scores, winner.intent: winner.score + more}), policy, language)

    assert (raised.verdict, raised.ranked[0].intent) == ("matched", winner.intent)


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


def candidates_with_confidence(**candidates: tuple[float, float, float]) -> list[Candidate]:
    """Return candidates from their scores, confidences and evidence."""
    return [
        Candidate(name, score, confidence=confidence, evidence=evidence)
        for name, (score, confidence, evidence) in candidates.items()
    ]


LEARNED = Policy(Cut(0.5, "learned", "confidence"), margin=0.1, margin_on_score=False)


@pytest.mark.parametrize(
    ("candidates", "verdict", "first"),
    [
        ({"a": (0.1, 0.5, 1.0)}, "matched", "a"),
        ({"a": (0.9, 0.49, 1.0)}, "out_of_scope", "a"),
        ({"a": (0.3, 0.8, 1.5), "b": (0.9, 0.6, 1.3)}, "matched", "a"),
        ({"a": (0.3, 0.8, 1.5), "b": (0.9, 0.78, 1.45)}, "ambiguous", "a"),
        ({"a": (0.3, 0.8, 1.5), "b": (0.3, 0.7, 1.4)}, "matched", "a"),
        ({"a": (0.3, 0.52, 1.5), "b": (0.3, 0.49, 1.49)}, "matched", "a"),
    ],
)
def test_learned_threshold_is_on_confidence_and_learned_margin_on_evidence(candidates, verdict, first):
    """Scores do not matter."""
    decision = decide(candidates_with_confidence(**candidates), LEARNED)

    assert (decision.verdict, decision.ranked[0].intent) == (verdict, first)


def test_each_candidate_is_compared_on_the_measure_of_its_threshold():
    """The reason names the measure."""
    policy = dataclasses.replace(LEARNED, by_intent={"a": Cut(0.4, "the author's")})

    decision = decide(candidates_with_confidence(a=(0.45, 0.1, 0.2), b=(0.9, 0.45, 1.2)), policy)

    assert decision.verdict == "matched"
    assert decision.reason == (
        "a has a score of 0.45, at or above the threshold 0.40 (the author's); b has a confidence of 0.45, but stays "
        "below its threshold 0.50 (learned)."
    )


def test_author_margin_is_on_the_score():
    """Also if the second has the higher score."""
    policy = dataclasses.replace(LEARNED, margin_on_score=True)

    assert decide(candidates_with_confidence(a=(0.5, 0.9, 2.0), b=(0.45, 0.6, 1.3)), policy).verdict == "ambiguous"
    assert decide(candidates_with_confidence(a=(0.5, 0.9, 2.0), b=(0.8, 0.6, 1.3)), policy).verdict == "ambiguous"
    assert decide(candidates_with_confidence(a=(0.8, 0.9, 2.0), b=(0.5, 0.6, 1.95)), policy).verdict == "matched"


def test_score_is_compared_without_a_confidence():
    """Exact hits have none when they are decided."""
    assert decide(candidates_of(a=1.0), LEARNED).verdict == "matched"
    assert decide(candidates_of(a=0.49), LEARNED).verdict == "out_of_scope"


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
def test_doubt_of_a_confidence_is_its_expected_error(confidence, cut, band, expected):
    """With a band, it is nearness to the threshold."""
    policy = dataclasses.replace(LEARNED, default=Cut(cut, "learned", "confidence"), band=band)

    assert decide(candidates_with_confidence(a=(0.5, confidence, 1.0)), policy).doubtful is expected
