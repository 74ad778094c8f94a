"""Held-out utterances and test cases: the decision path of production, and nothing of what is asked inside it."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import numpy as np
import pytest
from answers import LINES, NEGATIVES, registry_of
from fakes import WordHashEncoder

from intentmatch import Matcher
from intentmatch.core.errors import InputError
from intentmatch.core.types import Case
from intentmatch.evaluation import evaluate, held_out, on_cases
from intentmatch.evaluation.folds import split, without
from intentmatch.evaluation.outcomes import Outcome
from intentmatch.evaluation.runner import Asker, RememberingEncoder
from intentmatch.text.normalize import clean

SETTINGS = {"threshold": 0.5, "margin": 0.05, "cache": "off"}


def test_every_utterance_is_asked_in_scope_and_out_of_it(matcher: Matcher):
    """Those that cannot be held out are counted; negatives are asked beside them."""
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
def test_no_answer_rests_on_what_was_held_out(matcher: Matcher, folds):
    """The nearest utterance is never the message, nor, out of scope, one of its own intent."""
    owner_of = {text: name for name, texts in LINES.items() for text in texts}

    for found in held_out(matcher, folds=folds).outcomes:
        if found.nearest is None:
            continue
        assert found.nearest.text != found.case.text
        if not found.in_scope:
            assert owner_of[found.nearest.text] != owner_of[found.case.text]


def test_no_near_duplicate_answers_for_its_twin(matcher: Matcher):
    """The three spellings of one line are held out together, so none of them has an exact hit."""
    spellings = {text for text in LINES["status"] if text.startswith("where is my or")}

    for found in held_out(matcher, folds="loo").outcomes:
        if found.case.text in spellings:
            assert found.nearest.text not in spellings
            assert found.score < 1.0


def test_a_fold_answers_as_a_matcher_of_the_rest_would():
    """Score for score, threshold for threshold: the decision path is that of production."""
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


def test_settings_count(matcher: Matcher):
    """A threshold that nothing reaches refuses everything that is not spelt the same."""
    strict = Matcher.load(registry_of(LINES), encoder=WordHashEncoder(), threshold=1.0, fuzzy=1.0, cache="off")

    assert held_out(strict).numbers.lost == 1.0
    assert held_out(strict).numbers.oos_recall == 1.0
    assert held_out(matcher).numbers.lost < 1.0


class StrictReranker:
    """Finds nothing alike, and counts how often it was asked."""

    name = "strict"

    def __init__(self) -> None:
        self.asked = 0

    def score(self, message: str, utterances: list[str]) -> np.ndarray:
        self.asked += 1
        return np.zeros(len(utterances), dtype=np.float32)


def test_a_reranker_is_asked_as_in_production():
    """In doubt, in every fold; and the report names it."""
    reranker = StrictReranker()
    matcher = Matcher.load(registry_of(LINES), encoder=WordHashEncoder(), reranker=reranker, band=1.0, cache="off")

    report = evaluate(matcher)

    assert reranker.asked >= report.headline.numbers.cases
    assert report.facts["reranker"] == "strict"
    assert report.headline.numbers.lost == 1.0


def test_nothing_is_encoded_twice(matcher: Matcher, encoder: WordHashEncoder):
    """Utterances not even once: they were when the registry was built. Messages once, besides the timing."""
    encoder.encoded.clear()

    part = held_out(matcher, folds=4)

    texts = {clean(u.text) for u in (*matcher.registry.utterances, *matcher.registry.negatives)}
    assert len(encoder.encoded) <= len(texts) + part.latency.messages
    assert set(encoder.encoded) <= texts


def test_latency_is_of_single_matches(matcher: Matcher):
    """Plausible, in order, and of no more messages than were asked."""
    part = on_cases(matcher, [Case("where is it", "status")] * 3)

    assert 0.0 < part.latency.p50 <= part.latency.p99
    assert part.latency.messages == 3
    assert on_cases(matcher, []).latency is None


def test_many_messages_are_timed_in_part(matcher: Matcher):
    """About two hundred of them, spread over all."""
    part = on_cases(matcher, [Case("where is it", "status")] * 1000)

    assert part.latency.messages == 200
    assert len(part.outcomes) == 1000


def test_cases_are_asked_of_the_matcher_as_it_is(matcher: Matcher):
    """The whole registry answers, and the case's language is not told."""
    cases = [
        Case("cancel my order", "cancel", "de"),
        Case("quantum physics", None),
        Case("my order", ("status", "cancel")),
    ]

    part = on_cases(matcher, cases)

    assert list(part.outcomes) == [Outcome.from_result(case, matcher.match(case.text)) for case in cases]


def test_the_same_seed_gives_the_same_report(matcher: Matcher):
    """But for the time it took."""
    first, second = (held_out(matcher, seed=3) for _ in range(2))

    assert replace(first, latency=None) == replace(second, latency=None)


def test_progress_is_told_to_the_end(matcher: Matcher):
    """Never backwards, and at the end all of it."""
    told: list[tuple[str, int, int | None]] = []

    held_out(matcher, tell=lambda *news: told.append(news))

    done = [count for _, count, _ in told]
    assert done == sorted(done)
    assert told[-1] == ("held-out utterances", told[0][2], told[0][2])


def test_without_tests_the_registry_and_its_own_tests_are_asked():
    """Both parts, the test cases last; with tests only those."""
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


def test_a_registry_of_one_line_gives_a_report_of_nothing():
    """Nothing can be held out and no intent left out; that is said and not counted."""
    matcher = Matcher.load(registry_of({"a": ["hello"]}), encoder=WordHashEncoder(), cache="off")

    report = evaluate(matcher, curve=True)

    assert report.headline.outcomes == ()
    assert report.headline.not_asked == 1
    assert report.headline.numbers.overall is None
    assert report.curve == ()


def test_one_fold_is_refused(matcher: Matcher):
    """As the command line does."""
    with pytest.raises(InputError, match="2 folds or more"):
        evaluate(matcher, folds=1)


def test_a_remembering_encoder_is_the_other_in_all_it_says():
    """Its name, fingerprint and vectors; optional members are there when the other has them."""
    encoder = WordHashEncoder()
    remembering = RememberingEncoder(encoder, {})
    texts = ["hello", "there", "hello"]

    assert np.array_equal(remembering.encode(texts), WordHashEncoder().encode(texts))
    assert encoder.encoded == ["hello", "there"]
    assert remembering.encode([]).shape == (0, encoder.dim)
    assert (remembering.name, remembering.fingerprint) == (encoder.name, encoder.fingerprint)
    assert not hasattr(remembering, "languages")
    encoder.languages = frozenset({"en"})
    assert remembering.languages == {"en"}


def test_kinds_are_remembered_apart():
    """An asymmetric encoder has two vectors for one text."""
    encoder = WordHashEncoder()
    remembering = RememberingEncoder(encoder, {"hello": np.zeros(encoder.dim, np.float32)})

    assert not remembering.encode(["hello"]).any()
    assert remembering.encode(["hello"], kind="query").any()


def test_an_asker_that_asked_nothing_took_no_time(matcher: Matcher):
    """None, and no division by nothing."""
    assert Asker(matcher, "nothing", 0).latency is None
