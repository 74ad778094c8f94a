"""The pipeline from one message to a result."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from datetime import datetime
from pathlib import Path

import numpy as np
import pytest
import tiers
from fakes import WordHashEncoder
from hypothesis import given, settings
from hypothesis import strategies as st

from intentmatch.core.errors import InputError, IntentMatchError
from intentmatch.core.result import Candidate, MatchResult
from intentmatch.core.types import Intent, Registry, Slot, SlotValue, Utterance
from intentmatch.index import ExactIndex
from intentmatch.learning.fusion import fused_score
from intentmatch.learning.word_alignment import LEADING, WORD_WEIGHT
from intentmatch.matching.matcher import Matcher
from intentmatch.pieces.embedded import known_pieces
from intentmatch.reading.correction import Corrector
from intentmatch.reading.reader import MAX_CHARACTERS
from intentmatch.text.accents import typed_without_accents
from intentmatch.text.normalize import clean, fold


def intent(name: str, *lines: str, **more: object) -> Intent:
    return Intent(name, tuple(Utterance(line, "en") for line in lines), **more)  # type: ignore[arg-type]


ORDERS = intent("status", "where is my order", "track my parcel", title="Where is it?", responses={"en": "On its way."})
CANCEL = intent("cancel", "cancel my order", "stop the purchase", title="Cancel it")
GREET = intent("greet", "hello", "good morning")


def matcher(*intents: Intent, **settings: object) -> Matcher:
    options = {"encoder": WordHashEncoder(), "threshold": 0.5, "cache": "off", **settings}
    return Matcher.load(Registry(intents or (ORDERS, CANCEL, GREET)), **options)  # type: ignore[arg-type]


def test_titles_use_the_language_of_the_result() -> None:
    """Without a title for that language, the default title is used."""
    titled = intent("cancel", "cancel my order", "stop the purchase", title="Cancel it", titles={"de": "Stornieren"})
    bot = matcher(ORDERS, titled, GREET, margin=0.4, threshold=0.3)

    titles = {
        code: {c.intent: c.title for c in bot.match("my order", language=code).rivals} for code in ("en", "de-AT")
    }

    assert titles["en"] == {"status": "Where is it?", "cancel": "Cancel it"}
    assert titles["de-AT"] == {"status": "Where is it?", "cancel": "Stornieren"}


def test_message_chooses_among_the_variants_of_a_response() -> None:
    bot = matcher(
        intent("greet", "hello", "good morning", responses={"en": "Hi."}, more_responses={"en": ("Hello.",)}), CANCEL
    )

    said = {text: bot.match(text).response for text in ("hello", "Hello!", "HELLO", "good morning", "hello!!")}

    assert set(said.values()) == {"Hi.", "Hello."}
    assert said == {text: bot.match(text).response for text in said}


def test_exact_hit_is_not_encoded() -> None:
    """Case and punctuation do not matter; the score is 1.0."""
    bot = matcher()
    encoder = bot.encoder
    assert isinstance(encoder, WordHashEncoder)
    encoder.encoded.clear()

    result = bot.match("Where is my ORDER?!")

    assert (result.verdict, result.intent, result.score, result.confidence) == ("matched", "status", 1.0, 1.0)
    assert result.trace.decided_by == "exact"
    assert result.candidates[0].utterance == ORDERS.utterances[0]
    assert result.response == "On its way."
    assert encoder.encoded == []


def test_typing_mistake_matches_by_spelling() -> None:
    """The runners-up are still listed."""
    result = matcher().match("cancle my ordre")

    assert (result.verdict, result.intent, result.trace.decided_by) == ("matched", "cancel", "fuzzy")
    assert result.score == pytest.approx(1 - 2 / 15)
    assert [c.intent for c in result.candidates][1:]


def test_fuzzy_setting_of_one_turns_typo_tolerance_off() -> None:
    assert matcher(fuzzy=1.0).match("cancle my ordre").trace.decided_by == "dense"


def test_message_below_the_threshold_is_out_of_scope() -> None:
    """The nearest candidates are still listed."""
    result = matcher().match("quantum chromodynamics")

    assert (result.verdict, result.intent, result.response) == ("out_of_scope", None, None)
    assert result.candidates
    assert result.rivals == ()
    assert "below the threshold 0.50 (argument)" in result.trace.reason


def test_intents_within_the_margin_are_ambiguous() -> None:
    result = matcher(margin=0.4, threshold=0.3).match("my order")

    assert (result.verdict, result.intent) == ("ambiguous", None)
    assert {rival.title for rival in result.rivals} == {"Where is it?", "Cancel it"}


def test_negative_lowers_the_score_of_its_intent() -> None:
    """The nearer the message is to the negative, the lower the score."""
    negatives = (Utterance("cancel my appointment", "en"),)
    plain = matcher(CANCEL, GREET).match("cancel my appointment please")
    pushed = matcher(intent("cancel", *[u.text for u in CANCEL.utterances], negatives=negatives), GREET)

    result = pushed.match("cancel my appointment please")

    assert plain.candidates[0].intent == "cancel"
    assert next(c.score for c in result.candidates if c.intent == "cancel") < plain.candidates[0].score / 2
    itself = pushed.match("cancel my appointment")
    assert next(c.score for c in itself.candidates if c.intent == "cancel") == pytest.approx(0.0, abs=1e-5)
    assert pushed.match("cancel my order").intent == "cancel"


def test_threshold_of_intent_overrides_the_global_one() -> None:
    """In both directions; the trace names it."""
    strict = intent("cancel", *[u.text for u in CANCEL.utterances], threshold=0.99)
    lax = intent("cancel", *[u.text for u in CANCEL.utterances], threshold=0.0)

    assert matcher(strict, threshold=0.1).match("cancel something or other").verdict == "out_of_scope"
    assert matcher(lax, threshold=1.0).match("cancel something or other").verdict == "matched"
    assert "the author's" in matcher(lax, threshold=1.0).match("cancel something or other").trace.threshold_origin


def test_threshold_by_language_uses_the_language_of_the_message() -> None:
    """The caller's language, or the guessed one."""
    bot = matcher(threshold={"default": 0.1, "de": 1.0})

    assert bot.match("cancel it").verdict == "matched"
    assert bot.match("cancel it", language="de").verdict == "out_of_scope"
    assert bot.match("cancel it", language="DE_at").verdict == "out_of_scope"


def test_threshold_of_zero_is_not_missing() -> None:
    result = matcher(threshold=0.0, margin=0.0).match("quantum chromodynamics order")

    assert result.trace.threshold == 0.0
    assert result.verdict == "matched"


def test_allowed_limits_every_kind_of_hit() -> None:
    """An unknown name is an error with a suggestion."""
    bot = matcher(threshold=0.2)

    assert bot.match("where is my order", allowed=["cancel"]).intent != "status"
    assert {c.intent for c in bot.match("order", allowed=["cancel", "greet"]).candidates} == {"cancel", "greet"}
    assert bot.match("where is my order", allowed=[]).verdict == "out_of_scope"
    with pytest.raises(InputError, match="Did you mean 'cancel'"):
        bot.match("x", allowed=["cancl"])


FLY = Intent(
    "fly",
    (Utterance("fly to Berlin", "en"), Utterance("flieg nach Berlin", "de")),
    slots=(
        Slot("city", "list", (SlotValue("Berlin"), SlotValue("Rome", (Utterance("Rom", "de"),)))),
        Slot("day", "date", required=True, questions={"en": "When?", "de": "Wann?"}),
    ),
)


@pytest.mark.parametrize("message", ["fly to Berlin", "fly to Berlni", "fly to Rome now please"])
def test_slots_of_the_matched_intent_are_read(message: str) -> None:
    """Missing slots have a question in the language of the result."""
    result = matcher(FLY, GREET, threshold=0.3).match(message, language="en")

    assert result.intent == "fly"
    (city,) = result.entities
    assert (city.slot, city.value) == ("city", "Rome" if "Rome" in message else "Berlin")
    assert message[city.start : city.end] == city.text
    assert [(missing.slot, missing.question) for missing in result.missing] == [("day", "When?")]
    stage = result.trace.stages[-1]
    assert (stage.name, stage.says) == ("slots", f"found city={city.value}; missing day")
    assert f"Found: city={city.value}.\nMissing: day." in result.explain()


def test_entity_spans_refer_to_the_original_message() -> None:
    """Spaces, invisible and full-width characters count."""
    message = "  \u200bfly \u202eto ＢＥＲＬＩＮ tomorrow"

    result = matcher(FLY, GREET, threshold=0.3).match(message, language="en", now=datetime(2026, 11, 21))

    assert [(entity.value, entity.text) for entity in result.entities] == [
        ("Berlin", "ＢＥＲＬＩＮ"),
        ("2026-11-22", "tomorrow"),
    ]
    assert all(message[entity.start : entity.end] == entity.text for entity in result.entities)
    assert result.missing == ()


def test_slots_are_read_only_if_the_verdict_is_matched() -> None:
    bot = matcher(FLY, GREET)

    for result in (bot.match("Berlin quantum chromodynamics"), bot.match("hello"), bot.match("")):
        assert (result.entities, result.missing) == ((), ())
        assert "slots" not in [stage.name for stage in result.trace.stages]


def test_slots_behind_the_character_limit_are_not_read() -> None:
    result = matcher(FLY, GREET, threshold=0.0, margin=0.0).match("fly " * 2500 + "Rome", allowed=["fly"])

    assert result.intent == "fly"
    assert result.entities == ()


def test_fuzzy_setting_also_governs_slot_values() -> None:
    assert matcher(FLY, threshold=0.0).match("fly to Berlni").entities
    assert not matcher(FLY, threshold=0.0, fuzzy=1.0).match("fly to Berlni").entities


def test_intent_with_when_needs_an_active_tag() -> None:
    """The same for exact, fuzzy and dense hits; `allowed` overrides the tags."""
    pay = intent("pay", "pay by card", "I want to pay now", when=("checkout", "basket"))
    bot = matcher(ORDERS, CANCEL, pay, threshold=0.2)

    for message in ("pay by card", "pay by crad", "by card I pay"):
        assert bot.match(message).intent != "pay"
        assert bot.match(message, context=["greeting"]).intent != "pay"
        assert bot.match(message, context=["basket", "greeting"]).intent == "pay"
        assert bot.match(message, allowed=["pay"]).intent == "pay"
        assert [found.intent for found in bot.match_many([message], context=["checkout"])] == ["pay"]
    assert bot.match("track my parcel").intent == "status"
    with pytest.raises(InputError, match="a list of tags"):
        bot.match("pay by card", context="checkout")


def test_trace_names_the_intent_that_would_have_matched() -> None:
    """Only if tags or `allowed` changed the answer."""
    pay = intent("pay", "pay by card", "I want to pay now", when=("checkout", "basket"))
    bot = matcher(ORDERS, CANCEL, pay, threshold=0.2)

    def would_match(message: str, **options: object) -> list[str]:
        return [s.says for s in bot.match(message, **options).trace.stages if s.name == "otherwise"]  # type: ignore[arg-type]

    assert would_match("pay by card") == ["pay (1.00) would have matched if checkout or basket were active"]
    assert would_match("track my parcel", allowed=["cancel"]) == ["status (1.00) would have matched"]
    assert would_match("pay by card", context=["basket"]) == []
    assert would_match("track my parcel") == []
    assert would_match("unheard of") == []


@pytest.mark.parametrize("message", ["", "   ", "?!…", "\u200b\u202e", "\x00\x01"])
def test_message_without_words_is_out_of_scope(message: str) -> None:
    result = matcher().match(message)

    assert (result.verdict, result.candidates, result.score, result.confidence) == ("out_of_scope", (), 0.0, None)
    assert result.explain() == "Out of scope: the message has no words."


def test_long_message_is_cut_with_a_note_in_the_trace() -> None:
    result = matcher().match("where is my order " * 5000)

    assert result.trace.stages[0].name == "clean"
    assert str(MAX_CHARACTERS) in result.trace.stages[0].says


def test_invalid_argument_raises_input_error() -> None:
    for wrong in (None, b"hello", 7):
        with pytest.raises(InputError, match="a message must be text"):
            matcher().match(wrong)  # type: ignore[arg-type]
    with pytest.raises(InputError, match=r"'deutsch' is not a language code; did you mean 'de'\?"):
        matcher().match("x", language="deutsch")
    with pytest.raises(InputError, match="top_k"):
        matcher().match("x", top_k=0)


def test_top_k_limits_candidates_but_not_rivals() -> None:
    bot = matcher(margin=0.4, threshold=0.3)

    assert len(bot.match("my order", top_k=1).candidates) == 1
    assert len(bot.match("my order", top_k=1).rivals) == 2
    assert len(bot.match("my order", top_k=50).candidates) == 3


def test_match_many_equals_match_for_each_message() -> None:
    """Repeated and empty messages included."""
    bot = matcher()
    messages = ["my order", "", "hello", "my order", "track that parcel", "hello"]

    assert bot.match_many(messages) == [bot.match(message) for message in messages]
    assert bot.match_many([]) == []


def test_match_many_encodes_each_text_once() -> None:
    """Exact hits are not encoded."""
    bot = matcher()
    assert isinstance(bot.encoder, WordHashEncoder)
    bot.encoder.encoded.clear()

    bot.match_many(["my order", "hello", "my order", "parcel"])

    assert sorted(bot.encoder.encoded) == ["my order", "parcel"]


def test_match_many_encodes_parts_with_their_messages(monkeypatch: pytest.MonkeyPatch) -> None:
    bot = matcher()
    messages = ["My parcel is late. Cancel my order now.", "track that parcel"]
    alone = [bot.match(message) for message in messages]
    calls: list[list[str]] = []
    encode = bot.encoder.encode
    monkeypatch.setattr(bot.encoder, "encode", lambda texts, **how: calls.append([*texts]) or encode(texts, **how))

    assert bot.match_many(messages) == alone
    assert [sorted(call) for call in calls] == [["Cancel my order now.", *messages]]


def test_explain_names_decision_threshold_and_runner_up() -> None:
    text = matcher(threshold=0.3, margin=0.01).match("cancel my orders now").explain()

    assert text.startswith("Matched: cancel has a score of 0.")
    assert "at or above the threshold 0.30 (argument)" in text
    assert "The nearest utterance of cancel is “cancel my order”." in text
    assert "Next: status 0." in text


def test_json_keys_do_not_depend_on_the_verdict() -> None:
    bot = matcher(margin=0.4, threshold=0.3)

    shapes = {frozenset(bot.match(m).to_dict()) for m in ("hello", "my order", "quantum", "")}

    assert len(shapes) == 1


def test_exact_hit_has_a_language_of_its_utterance() -> None:
    """The caller's language still wins."""
    registry = (
        Intent("no", (Utterance("no", "en"), Utterance("no", "it"))),
        Intent(
            "hi", (Utterance("hallo", "de"), Utterance("hola amigo, no es nada", "es"), Utterance("non no ciao", "fr"))
        ),
    )
    bot = matcher(*registry)

    assert bot.match("no").language in ("en", "it")
    assert bot.match("hallo").language == "de"
    assert bot.match("no", language="pt").language == "pt"


class EnglishEncoder(WordHashEncoder):
    """An encoder trained on English only, which ignores all characters that are not ASCII."""

    languages = frozenset({"en"})

    def unknown(self, text):  # type: ignore[no-untyped-def]
        return "".join(char for char in text if char.isalpha() and not char.isascii())

    def encode(self, texts, *, kind="utterance"):  # type: ignore[no-untyped-def]
        return super().encode(["".join(char for char in text if char.isascii()) for text in texts], kind=kind)


def coverage(message: str, language: str | None = None, encoder: WordHashEncoder | None = None) -> list[str]:
    result = matcher(encoder=encoder or EnglishEncoder()).match(message, language=language)
    return [stage.says for stage in result.trace.stages if stage.name == "coverage"]


def test_trace_names_uncovered_language_and_unknown_letters() -> None:
    assert coverage("iphi i-odolo yam", "xh") == ["fake was not trained on xh"]
    assert coverage("where is my ᎣᏓ please") == ["letters unknown to fake: 2 of 17 (Cherokee)"]
    assert coverage("my ᎣᏓ", "chr") == ["fake was not trained on chr; letters unknown to fake: 2 of 4 (Cherokee)"]


def test_trace_has_no_coverage_stage_for_covered_messages() -> None:
    """Nor for exact hits, nor for encoders without declared languages."""
    assert coverage("where is that order") == coverage("where is that order", "en-GB") == []
    assert coverage("where is my order", "xh") == []
    assert coverage("iphi i-ᎣᏓ yam", "xh", WordHashEncoder()) == []


def test_guessed_language_is_checked_for_coverage() -> None:
    xhosa = Intent("xhosa", (Utterance("iphi iphasile yam", "xh"), Utterance("ndifuna ukuyirhoxisa", "xh")))
    result = matcher(ORDERS, xhosa, encoder=EnglishEncoder()).match("ndifuna iphasile")

    assert result.language == "xh"
    assert "fake was not trained on xh" in [stage.says for stage in result.trace.stages]


def test_message_of_unknown_letters_is_out_of_scope() -> None:
    """The trace names the script."""
    result = matcher(encoder=EnglishEncoder()).match("ᎣᏓ ᎠᏂ")

    assert (result.verdict, result.candidates, result.trace.decided_by) == ("out_of_scope", (), "empty")
    assert result.trace.reason == "the encoder fake knows no part of this message."
    assert result.trace.stages[-1].says == "letters unknown to fake: 4 of 4 (Cherokee)"


def test_self_test_refuses_an_encoder_with_other_vectors() -> None:
    class Drifting(WordHashEncoder):
        def encode(self, texts, *, kind="utterance"):  # type: ignore[no-untyped-def]
            vectors = super().encode(texts, kind=kind)
            return vectors if len(texts) > 1 else -vectors

    with pytest.raises(IntentMatchError, match="self-test failed"):
        matcher(encoder=Drifting())


@settings(max_examples=150, deadline=None)
@given(st.text(), st.sampled_from([None, "de", "pt_BR", "zh-hant"]))
def test_any_text_gives_a_consistent_result(message: str, language: str | None) -> None:
    result = BOT.match(message, language=language)

    assert result.message == message
    assert (result.intent is not None) == (result.verdict == "matched")
    assert (len(result.rivals) >= 2) == (result.verdict == "ambiguous")
    assert [c.score for c in result.candidates[1:]] == sorted((c.score for c in result.candidates[1:]), reverse=True)
    assert all(-1.0 <= c.score <= 1.0 for c in result.candidates)
    assert result.confidence is None or 0.0 <= result.confidence <= 1.0


BOT = matcher()


TOPICS = {
    "parcel": ("my parcel", "the package I bought"),
    "invoice": ("an invoice", "the bill for march"),
    "password": ("my password", "the login secret"),
    "table": ("a table for two", "our dinner reservation"),
    "flight": ("the flight to rome", "my plane ticket"),
    "doctor": ("the doctor", "a medical appointment"),
    "heating": ("the heating", "my cold radiator"),
    "salary": ("my salary", "the monthly pay"),
    "printer": ("the printer", "our office scanner"),
    "holiday": ("a holiday", "my days off"),
}
FORMS = ("I have a question about {}", "{} please", "what about {} then", "help me with {}")


def trainable_intents(**more: dict[str, object]) -> tuple[Intent, ...]:
    """Return intents with enough utterances to train on; `more` holds extra arguments by intent."""
    return tuple(
        intent(name, *(form.format(thing) for thing in things for form in FORMS), **more.get(name, {}))
        for name, things in TOPICS.items()
    )


MESSAGES = [
    "is my parcel lost", "the bill is wrong", "login", "quantum chromodynamics", "dinner on the plane", "days",
    "my salary invoice", "where is the radiator", "pls help with the prniter", "",
]  # fmt: skip


@pytest.fixture(scope="module")
def trained() -> Matcher:
    """A matcher with a trained head and calibrated thresholds."""
    return Matcher.load(Registry(trainable_intents()), encoder=WordHashEncoder(), cache="off")


def trained_matcher(*intents: Intent, **settings: object) -> Matcher:
    return Matcher.load(
        Registry(intents or trainable_intents()),
        encoder=WordHashEncoder(),
        **{"cache": "off", **settings},  # type: ignore[arg-type]
    )


def test_candidates_are_ranked_by_evidence(trained: Matcher) -> None:
    """Not by score; the confidences follow from all evidence and add up to the in-scope probability."""
    by_score = []
    for message in MESSAGES[:-1]:
        result = trained.match(message, top_k=10)
        evidence = [c.evidence for c in result.candidates]
        confidences = [c.confidence for c in result.candidates]
        # The winner comes first. In these messages it is always the first by evidence.
        assert evidence == sorted(evidence, reverse=True)  # type: ignore[type-var]
        assert confidences == sorted(confidences, reverse=True)  # type: ignore[type-var]
        assert confidences == trained.artefact.calibration.confidences(evidence)  # type: ignore[arg-type]
        assert result.in_scope == pytest.approx(trained.artefact.calibration.in_scope(evidence[0]))  # type: ignore[arg-type]
        assert result.confidence == confidences[0]
        assert result.score == result.candidates[0].score
        by_score.append(
            [c.score for c in result.candidates] == sorted((c.score for c in result.candidates), reverse=True)
        )
    assert not all(by_score)


def test_five_intents_with_most_evidence_are_candidates(trained: Matcher) -> None:
    """Even if others have higher scores. Words count among these five only, so they are first without words."""

    def without_words(candidate: Candidate) -> float:
        return candidate.rank - WORD_WEIGHT * (candidate.words or 0.0)

    others = 0
    for message in MESSAGES[:-1]:
        every_intent = matched_all(trained, message)
        first_five = {c.intent for c in sorted(every_intent, key=without_words)[-5:]}
        others += first_five != {c.intent for c in sorted(every_intent, key=lambda c: -c.score)[:5]}

        assert {c.intent for c in trained.match(message, top_k=10).candidates} >= first_five
    assert others


def test_trace_shows_confidences_of_the_head(trained: Matcher) -> None:
    result = trained.match("my salary invoice")

    assert (result.verdict, result.intent, result.trace.decided_by) == ("matched", "salary", "head")
    says = {stage.name: stage.says for stage in result.trace.stages}
    assert says["head"].startswith(f"salary {result.confidence:.0%}, ")
    assert says["dense"].startswith(f"salary {result.score:.2f}, ")
    assert result.trace.threshold_origin.startswith("learned ")


def test_evidence_is_the_fused_score_of_index_head_and_words_and_background(trained: Matcher) -> None:
    """Words count for the leading intents, by their nearest utterance; the background counts for all intents alike."""
    artefact, text = trained.artefact, "is my parcel lost"
    trained_head = artefact.trained_head
    assert trained_head is not None
    vector, words = WordHashEncoder().encode([text])[0], trained_head.vectorizer.sparse(known_pieces(text))
    scores, _ = ExactIndex(artefact.vectors, trained.registry.owners, "mean2").scores(vector[None])
    assert trained_head.background is not None
    expected = fused_score(scores[0], trained_head.head.for_vectors(len(vector)).logits(vector, words))
    expected += trained_head.background.evidence(vector)

    candidates = trained.match(text, top_k=10).candidates

    assert trained_head.words is not None
    assert [c.words is not None for c in candidates] == [True] * LEADING + [False] * (len(candidates) - LEADING)
    for candidate in candidates:
        number = list(TOPICS).index(candidate.intent)
        assert candidate.score == pytest.approx(scores[0][number], abs=1e-6)
        row = trained.registry.utterances.index(candidate.utterance)
        if candidate.words is not None:
            assert candidate.words == pytest.approx(
                trained_head.words.similarities(known_pieces(text), [row])[0], abs=1e-6
            )
        assert candidate.evidence == pytest.approx(expected[number] + WORD_WEIGHT * (candidate.words or 0.0), abs=1e-5)


def test_small_registry_has_no_head_and_uses_fallback_thresholds() -> None:
    bot = trained_matcher(ORDERS, CANCEL, GREET)

    result = bot.match("cancel the order")

    assert bot.artefact.trained_head is None
    assert (bot.policy.default.value, bot.policy.default.on) == (0.32, "score")
    assert bot.policy.margin == 0.05
    assert [(c.evidence, c.confidence) for c in result.candidates] == [(c.score, None) for c in result.candidates]
    assert (result.verdict, result.confidence, result.trace.decided_by) == ("matched", None, "dense")


def test_author_threshold_is_on_the_score() -> None:
    """It replaces every learned threshold."""
    for threshold in (0.0, 0.3, 0.6, 1.0):
        bot = trained_matcher(threshold=threshold, margin=0.0)
        assert (bot.policy.by_language, bot.policy.by_intent) == ({}, {})
        for message in MESSAGES[:-1]:
            result = bot.match(message)
            assert (result.verdict == "matched") == (result.candidates[0].score >= threshold)
            assert (result.trace.threshold, result.trace.threshold_on) == (threshold, "score")
            assert result.trace.threshold_origin == "argument"


def test_threshold_of_one_language_keeps_the_learned_default() -> None:
    """Learned thresholds of intents are dropped."""
    bot = trained_matcher(threshold={"de": 1.0})

    assert (bot.policy.default.on, bot.policy.by_intent, list(bot.policy.by_language)) == ("in_scope", {}, ["de"])
    assert bot.policy.by_language["de"].on == "score"
    assert bot.match("my parcel").verdict == "matched"
    assert bot.match("my parcel", language="de").verdict == "out_of_scope"


def test_threshold_of_intent_is_on_the_score_and_wins() -> None:
    """Over learned thresholds and that of the language, for this intent only."""
    for threshold, verdict in ((0.0, "matched"), (1.0, "out_of_scope")):
        bot = trained_matcher(*trainable_intents(parcel={"threshold": threshold}), margin=0.0)
        result = bot.match("is my parcel lost", allowed=["parcel"])
        assert (result.verdict, result.trace.threshold) == (verdict, threshold)
        assert result.trace.threshold_origin == "the author's, from code"
        assert bot.match("days off", allowed=["holiday"]).trace.threshold_origin.startswith("learned ")
    strict = trained_matcher(*trainable_intents(parcel={"threshold": 0.1}), threshold={"default": 1.0, "en": 1.0})
    assert strict.match("is my parcel lost").intent == "parcel"


def test_intent_with_a_lenient_threshold_does_not_win_from_behind() -> None:
    """It passes its own threshold while the first intent fails its own."""
    bot = trained_matcher(*trainable_intents(printer={"threshold": 0.0}), threshold=1.0)

    results = [bot.match(message) for message in MESSAGES[:-1]]

    assert all(result.intent in (None, "printer") for result in results)
    assert any(result.candidates[0].intent != "printer" for result in results)
    assert all(result.intent is None or result.candidates[0].intent == "printer" for result in results)


@pytest.mark.parametrize("threshold", [0.99, "99.99%"])
def test_stricter_threshold_never_gives_another_intent(trained: Matcher, threshold: float | str) -> None:
    """The message of an intent that fails its own threshold is refused or asked about."""
    failed = 0
    for message in MESSAGES[:-1]:
        name = trained.match(message).candidates[0].intent
        result = trained_matcher(*trainable_intents(**{name: {"threshold": threshold}})).match(message)

        assert result.candidates[0].intent == name
        assert result.intent in (None, name)
        failed += result.intent is None
    assert failed


def test_percentage_is_compared_with_the_confidence() -> None:
    for threshold in ("0%", "50%", "99.9%"):
        bot = trained_matcher(threshold=threshold, margin=0.0)
        for message in MESSAGES[:-1]:
            result = bot.match(message)
            assert (result.verdict == "matched") == (result.confidence >= bot.policy.default.value)  # type: ignore[operator]
            assert (result.trace.threshold_on, result.trace.threshold_origin) == ("confidence", "argument")


def test_author_margin_is_on_the_score(trained: Matcher) -> None:
    """A margin of 0.0 never gives an ambiguous verdict; without a margin the confidences decide."""
    wide, none = trained_matcher(threshold=0.0, margin=1.0), trained_matcher(threshold=0.0, margin=0.0)

    assert (trained.policy.margin, wide.policy.margin) == (None, 1.0)
    for message in MESSAGES[:-1]:
        result = wide.match(message, top_k=50)
        best = result.candidates[0].score
        assert {c.intent for c in result.rivals} == {
            c.intent for c in result.candidates if c.score > best - 1.0 and c.score >= 0.0
        }
        assert none.match(message).verdict == "matched"


def test_spelling_hit_raises_evidence_by_as_much_as_score_and_words(monkeypatch: pytest.MonkeyPatch) -> None:
    """Other candidates keep theirs. The message is encoded as it is written, so that only the hit differs."""
    monkeypatch.setattr(Corrector, "read", lambda *_, **__: None)
    message = "waht about my parcel then"
    intolerant, tolerant = (
        trained_matcher(fuzzy=1.0).match(message, top_k=10),
        trained_matcher().match(message, top_k=10),
    )
    before, after = ({c.intent: c for c in result.candidates} for result in (intolerant, tolerant))

    assert (tolerant.intent, tolerant.trace.decided_by) == ("parcel", "fuzzy")
    raised = after["parcel"].score - before["parcel"].score
    assert raised > 0.02
    more_words = after["parcel"].words - before["parcel"].words  # type: ignore[operator]
    assert more_words > 0.02
    assert after["parcel"].rank - before["parcel"].rank == pytest.approx(raised + WORD_WEIGHT * more_words, abs=1e-5)
    assert after["parcel"].confidence > before["parcel"].confidence  # type: ignore[operator]
    assert [after[n].evidence for n in before if n != "parcel"] == [
        c.evidence for n, c in before.items() if n != "parcel"
    ]


def test_message_equal_to_a_negative_leaves_its_intent_no_evidence() -> None:
    """A message near the negative leaves some."""
    negative = (Utterance("my parcel is a drum", "en"),)
    plain, pushed = trained_matcher(), trained_matcher(*trainable_intents(parcel={"negatives": negative}))

    before = plain.match("my parcel is a drum", top_k=10).candidates
    after = {c.intent: c for c in pushed.match("my parcel is a drum", top_k=10, allowed=list(TOPICS)).candidates}
    every_intent = {c.intent: c for c in matched_all(pushed, "my parcel is a drum")}

    assert before[0].intent == "parcel"
    assert "parcel" not in after or after["parcel"].confidence <= min(c.confidence for c in after.values())  # type: ignore[operator,type-var]
    assert every_intent["parcel"].score == pytest.approx(0.0, abs=1e-5)
    assert every_intent["parcel"].rank == pytest.approx(min(c.rank for c in every_intent.values()), abs=1e-5)
    nearly = matched_all(pushed, "my parcel is a big drum")
    whole = next(c for c in matched_all(plain, "my parcel is a big drum") if c.intent == "parcel")
    part = next(c for c in nearly if c.intent == "parcel")
    assert min(c.rank for c in nearly) < part.rank < whole.rank
    assert 0.0 < part.score < whole.score


def matched_all(bot: Matcher, message: str) -> list[Candidate]:
    """Return one candidate for each intent, matched with only that intent allowed."""
    return [bot.match(message, allowed=[name]).candidates[0] for name in TOPICS]


class Judge:
    """A reranker that gives 1.0 to the utterances of one intent and 0.0 to all others."""

    name = "judge"

    def __init__(self, name: str) -> None:
        self.things = TOPICS[name]

    def score(self, message: str, utterances):  # type: ignore[no-untyped-def]
        return np.array([float(any(thing in line for thing in self.things)) for line in utterances], dtype=np.float32)


@pytest.mark.parametrize("name", ["salary", "invoice"])
def test_reranker_moves_evidence_by_as_much_as_the_score(name: str) -> None:
    plain = trained_matcher(band=1.0).match("the monthly salary bill", top_k=10)
    bot = trained_matcher(band=1.0, reranker=Judge(name))

    result = bot.match("the monthly salary bill", top_k=10)

    assert result.trace.decided_by == "reranker"
    confidences = bot.artefact.calibration.confidences([c.rank for c in result.candidates])
    assert [c.confidence for c in result.candidates] == confidences
    before = {c.intent: c for c in plain.candidates}
    assert {c.intent for c in result.candidates if c.rank > before[c.intent].rank} == {name}
    for candidate in result.candidates:
        old = before[candidate.intent]
        assert candidate.rank - old.rank == pytest.approx(candidate.score - old.score, abs=1e-5)
    assert any(c.confidence != before[c.intent].confidence for c in result.candidates)


@pytest.mark.parametrize("aggregation", ["mean2", "max"])
def test_cosine_scorer_ranks_by_index_scores_only(aggregation: str) -> None:
    bot = trained_matcher(scorer="cosine", aggregation=aggregation, fuzzy=1.0)
    index = ExactIndex(bot.artefact.vectors, bot.registry.owners, aggregation)

    assert bot.artefact.trained_head is None
    assert bot.policy.default.on == "in_scope"
    for message in MESSAGES[:-1]:
        scores = index.scores(WordHashEncoder().encode([clean(message)]))[0][0]
        result = bot.match(message, top_k=10)
        expected = {c.intent: float(scores[list(TOPICS).index(c.intent)]) for c in result.candidates}
        assert {c.intent: c.score for c in result.candidates} == pytest.approx(expected, abs=1e-6)
        assert [c.evidence for c in result.candidates] == [c.score for c in result.candidates]
        assert max(c.score for c in result.candidates) == pytest.approx(float(scores.max()), abs=1e-6)
        assert result.trace.decided_by == "dense"
        assert "head" not in [stage.name for stage in result.trace.stages]


def test_results_are_identical_from_many_threads(trained: Matcher) -> None:
    """And from `match_many`, to the last bit."""
    alone = [trained.match(message) for message in MESSAGES]

    with ThreadPoolExecutor(16) as pool:
        together = list(pool.map(trained.match, MESSAGES * 20))

    assert together == alone * 20
    assert trained.match_many(MESSAGES) == alone


@settings(max_examples=100, deadline=None)
@given(st.lists(st.sampled_from([w for form in TOPICS.values() for thing in form for w in thing.split()]), max_size=6))
def test_verdict_agrees_with_the_threshold_in_the_trace(words: list[str]) -> None:
    result = TRAINED.match(" ".join(words))

    assert (result.intent is not None) == (result.verdict == "matched")
    if result.trace.decided_by == "head":
        assert result.in_scope is not None
        passes = result.in_scope >= result.trace.threshold  # type: ignore[operator]
        if result.verdict != "out_of_scope":
            assert passes
        else:  # or no intent is more likely than not, and there is only one to offer
            assert not passes or result.confidence <= 0.5  # type: ignore[operator]
        assert result.in_scope == pytest.approx(sum(c.confidence for c in result.candidates))  # type: ignore[misc]
    assert all(0.0 <= c.confidence <= 1.0 for c in result.candidates)  # type: ignore[operator]


TRAINED = trained_matcher()


def test_corrected_text_is_encoded_and_the_message_is_kept() -> None:
    """The trace says what was read as what, between the stages `fuzzy` and `encode`."""
    bot = matcher()
    encoder = bot.encoder
    assert isinstance(encoder, WordHashEncoder)
    encoder.encoded.clear()

    result = bot.match("pls stpo my order")

    assert encoder.encoded == ["please stop my order"]
    assert result.message == "pls stpo my order"
    names = [stage.name for stage in result.trace.stages]
    assert names[names.index("fuzzy") + 1 : names.index("encode")] == ["spelling"]
    assert [stage.says for stage in result.trace.stages if stage.name == "spelling"] == [
        'read "pls" as "please", "stpo" as "stop"'
    ]


def test_a_message_without_mistakes_has_no_spelling_stage() -> None:
    assert "spelling" not in {stage.name for stage in matcher().match("stop my order").trace.stages}


def test_fuzzy_setting_of_one_reads_messages_as_written() -> None:
    bot = matcher(fuzzy=1.0)
    encoder = bot.encoder
    assert isinstance(encoder, WordHashEncoder)
    encoder.encoded.clear()

    result = bot.match("pls stpo my order")

    assert encoder.encoded == ["pls stpo my order"]
    assert "spelling" not in {stage.name for stage in result.trace.stages}


def test_a_message_that_is_an_utterance_once_corrected_is_a_fuzzy_hit() -> None:
    """The stage `fuzzy` alone does not take a mistake in a word of three letters."""
    thank = intent("thank", "thank you so much", "cheers")
    result = matcher(ORDERS, CANCEL, thank).match("thank u so much")

    assert (result.verdict, result.intent, result.trace.decided_by) == ("matched", "thank", "fuzzy")
    assert result.candidates[0].utterance == thank.utterances[0]


def test_corrected_messages_are_answered_alike_one_by_one_and_together() -> None:
    """Also where the caller names a language, on which shorthand depends."""
    bot = matcher()
    messages = ["pls stpo my order", "stop my order", "u stop my order", "cancle it", "hello", "where is teh parcel"]

    for options in ({}, {"language": "en"}, {"language": "nl"}, {"allowed": ["cancel", "greet"]}):
        assert bot.match_many(messages, **options) == [bot.match(message, **options) for message in messages]


def test_spans_of_entities_refer_to_the_message_as_written() -> None:
    number = Slot("count", "number")
    order = intent("order", "i want {count} pizzas please", "send me pizzas", slots=(number,))
    message = "pleease send me 12 piizzas"

    result = matcher(order, GREET, threshold=0.1).match(message)

    assert "spelling" in {stage.name for stage in result.trace.stages}
    assert [(e.slot, e.text, message[e.start : e.end]) for e in result.entities] == [("count", "12", "12")]


def test_shorthand_of_the_author_is_read() -> None:
    bot = matcher(spelling={"en": {"cxl": "cancel"}})

    assert bot.match("cxl my order").intent == "cancel"
    assert "spelling" in {stage.name for stage in bot.match("cxl it").trace.stages}


@pytest.mark.parametrize("message", ["ate logo", "Ate Logo!", "até logo"])
def test_utterance_without_its_accents_is_answered_as_the_utterance(message) -> None:
    bye = Intent("bye", (Utterance("até logo", "pt"), Utterance("tchau", "pt")))

    result = matcher(ORDERS, CANCEL, bye).match(message)

    assert (result.verdict, result.intent, result.score, result.confidence) == ("matched", "bye", 1.0, 1.0)
    assert result.trace.decided_by == "exact"
    assert result.language == "pt"


def test_an_utterance_that_reads_exactly_so_comes_before_one_with_accents() -> None:
    papa = Intent("potato", (Utterance("papa", "es"),))
    father = Intent("father", (Utterance("papá", "es"),))
    bot = matcher(papa, father)

    assert [bot.match(message).intent for message in ("papa", "papá")] == ["potato", "father"]


def test_accents_count_if_the_fuzzy_setting_is_one() -> None:
    bye = Intent("bye", (Utterance("até logo", "pt"), Utterance("tchau", "pt")))

    assert matcher(ORDERS, CANCEL, bye, fuzzy=1.0).match("ate logo").trace.decided_by != "exact"


@pytest.mark.corpus
@pytest.mark.slow
def test_every_line_of_the_shipped_registry_is_answered_alike_without_its_accents() -> None:
    """Unless another line reads exactly so."""
    bot = Matcher.load(Path(__file__).parents[2] / "intents")
    lines = {fold(line.text): line.text for line in bot.registry.utterances}
    typed = [(text, form) for key, text in lines.items() for form in typed_without_accents(key) if form not in lines]
    assert len(typed) > 500
    some = tiers.rows_of(typed)

    answers = {message: bot.match(message) for pair in some for message in pair}

    different = [
        (text, form)
        for text, form in some
        if (answers[text].verdict, answers[text].intent, answers[text].score)
        != (answers[form].verdict, answers[form].intent, answers[form].score)
    ]
    assert different == []


def language_of(result: MatchResult) -> str:
    return next(stage.says for stage in result.trace.stages if stage.name == "language")


def german() -> Matcher:
    """A bot of six German intents, large enough for both calibrations."""
    topics = ("die Bestellung", "die Rechnung", "das Paket", "die Adresse", "das Konto", "der Gutschein")
    starts = ("wo ist", "ich suche", "ich brauche", "zeig mir", "was ist mit", "es geht um", "ich frage nach", "und")
    intents = [
        Intent(
            topic.split()[1].lower(),
            tuple(Utterance(f"{start} {topic}", "de") for start in starts),
            responses={"de": "Gern.", "en": "Sure."},
            titles={"de": topic, "en": "Something"},
        )
        for topic in topics
    ]
    return Matcher.load(Registry(tuple(intents)), cache="off")


def test_message_in_a_language_that_the_registry_lacks_has_its_own_calibration() -> None:
    """Its language is its own, and the trace says so. The reply is in English, which is written."""
    bot = german()

    result = bot.match("jag vill ändra min adress på fakturan")
    own = bot.match("ich möchte die Adresse auf der Rechnung ändern")

    assert (result.language, own.language) == ("sv", "de")
    assert language_of(result) == ("guessed sv, which the registry does not have: calibrated for other languages")
    assert language_of(own) == "guessed de"
    foreign, usual = bot.artefact.foreign, bot.artefact.calibration
    assert foreign is not None
    assert foreign != usual
    assert result.trace.threshold == bot.foreign_policy.default.value
    assert result.trace.threshold_origin == "learned for other languages"
    assert {candidate.title for candidate in own.candidates} <= {intent.titles["de"] for intent in bot.registry}


def test_many_messages_are_calibrated_as_one() -> None:
    bot = german()
    messages = ["var är min faktura", "wo ist denn meine Rechnung", "¿dónde está mi paquete?", "12345"] * 3

    together, alone = bot.match_many(messages), [bot.match(message) for message in messages]

    for one, other in zip(together, alone, strict=True):
        assert (one.verdict, one.intent, one.language) == (other.verdict, other.intent, other.language)
        assert one.confidence == pytest.approx(other.confidence, abs=1e-4)


def test_encoder_without_translations_keeps_one_calibration() -> None:
    """The language is found all the same."""
    bot = trained_matcher()

    result = bot.match("var är mitt paket någonstans just nu?")

    assert bot.artefact.foreign is None
    assert bot.foreign_policy is bot.policy
    assert language_of(result) == "guessed sv, which the registry does not have: no calibration for other languages"


def test_number_is_answered_in_the_language_of_the_first_utterance() -> None:
    bot = Matcher.load(
        Registry((Intent("number", (Utterance("12345 ist es", "de"),), responses={"de": "Ja.", "en": "Yes."}),)),
        encoder=WordHashEncoder(), threshold=0.0, cache="off",
    )  # fmt: skip

    assert bot.match("12345").language is None
    assert bot.match("12345").response == "Ja."
