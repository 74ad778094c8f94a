"""One message through the pipeline."""

from __future__ import annotations

import pytest
from fakes import WordHashEncoder
from hypothesis import given, settings
from hypothesis import strategies as st

from intentmatch.engine import MAX_CHARACTERS
from intentmatch.errors import InputError, IntentMatchError
from intentmatch.matcher import Matcher
from intentmatch.types import Intent, Registry, Utterance


def intent(name: str, *lines: str, **more: object) -> Intent:
    return Intent(name, tuple(Utterance(line, "en") for line in lines), **more)  # type: ignore[arg-type]


ORDERS = intent("status", "where is my order", "track my parcel", title="Where is it?", responses={"en": "On its way."})
CANCEL = intent("cancel", "cancel my order", "stop the purchase", title="Cancel it")
GREET = intent("greet", "hello", "good morning")


def matcher(*intents: Intent, **settings: object) -> Matcher:
    options = {"encoder": WordHashEncoder(), "threshold": 0.5, "cache": "off", **settings}
    return Matcher.load(Registry(intents or (ORDERS, CANCEL, GREET)), **options)  # type: ignore[arg-type]


def test_an_exact_hit_touches_no_model() -> None:
    """The author's own line, whatever its case and punctuation, scores 1.0 and is not encoded."""
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


def test_a_typing_mistake_is_forgiven() -> None:
    """A line with a mistake in it counts by its spelling, and the runners-up are there all the same."""
    result = matcher().match("cancle my ordre")

    assert (result.verdict, result.intent, result.trace.decided_by) == ("matched", "cancel", "fuzzy")
    assert result.score == pytest.approx(1 - 2 / 15)
    assert [c.intent for c in result.candidates][1:]


def test_typing_mistakes_can_be_turned_off() -> None:
    """With the cut-off at 1.0 only meaning counts."""
    assert matcher(fuzzy=1.0).match("cancle my ordre").trace.decided_by == "dense"


def test_below_the_threshold_is_out_of_scope() -> None:
    """A message unlike every utterance is refused, and what came nearest is still shown."""
    result = matcher().match("quantum chromodynamics")

    assert (result.verdict, result.intent, result.response) == ("out_of_scope", None, None)
    assert result.candidates
    assert result.rivals == ()
    assert "below the threshold 0.50 (argument)" in result.trace.reason


def test_two_close_intents_are_ambiguous() -> None:
    """Intents within the margin come back as rivals with their titles."""
    result = matcher(margin=0.4, threshold=0.3).match("my order")

    assert (result.verdict, result.intent) == ("ambiguous", None)
    assert {rival.title for rival in result.rivals} == {"Where is it?", "Cancel it"}


def test_negatives_push_their_intent_away() -> None:
    """A negative takes its intent out of the way in the measure in which the message is nearer to it."""
    negatives = (Utterance("cancel my appointment", "en"),)
    plain = matcher(CANCEL, GREET).match("cancel my appointment please")
    pushed = matcher(intent("cancel", *[u.text for u in CANCEL.utterances], negatives=negatives), GREET)

    result = pushed.match("cancel my appointment please")

    assert plain.candidates[0].intent == "cancel"
    assert next(c.score for c in result.candidates if c.intent == "cancel") < plain.candidates[0].score / 2
    itself = pushed.match("cancel my appointment")
    assert next(c.score for c in itself.candidates if c.intent == "cancel") == pytest.approx(0.0, abs=1e-5)
    assert pushed.match("cancel my order").intent == "cancel"


def test_an_intents_own_threshold_wins() -> None:
    """An author's threshold holds against the global one, in both directions, and the trace names it."""
    strict = intent("cancel", *[u.text for u in CANCEL.utterances], threshold=0.99)
    lax = intent("cancel", *[u.text for u in CANCEL.utterances], threshold=0.0)

    assert matcher(strict, threshold=0.1).match("cancel something or other").verdict == "out_of_scope"
    assert matcher(lax, threshold=1.0).match("cancel something or other").verdict == "matched"
    assert "the author's" in matcher(lax, threshold=1.0).match("cancel something or other").trace.threshold_origin


def test_thresholds_by_language() -> None:
    """The message's language chooses the cut: the caller's word for it, or the guess."""
    bot = matcher(threshold={"default": 0.1, "de": 1.0})

    assert bot.match("cancel it").verdict == "matched"
    assert bot.match("cancel it", language="de").verdict == "out_of_scope"
    assert bot.match("cancel it", language="DE_at").verdict == "out_of_scope"


def test_a_threshold_of_zero_is_a_threshold() -> None:
    """0.0 lets everything with a non-negative score pass; it does not mean "none"."""
    result = matcher(threshold=0.0, margin=0.0).match("quantum chromodynamics order")

    assert result.trace.threshold == 0.0
    assert result.verdict == "matched"


def test_only_allowed_intents_answer() -> None:
    """An allow list holds for exact, typo and dense hits; an unknown name is an error that suggests."""
    bot = matcher(threshold=0.2)

    assert bot.match("where is my order", allowed=["cancel"]).intent != "status"
    assert {c.intent for c in bot.match("order", allowed=["cancel", "greet"]).candidates} == {"cancel", "greet"}
    assert bot.match("where is my order", allowed=[]).verdict == "out_of_scope"
    with pytest.raises(InputError, match="Did you mean 'cancel'"):
        bot.match("x", allowed=["cancl"])


@pytest.mark.parametrize("message", ["", "   ", "?!…", "\u200b\u202e", "\x00\x01"])
def test_a_message_without_words_is_out_of_scope(message: str) -> None:
    """Nothing to read is an answer, not an error."""
    result = matcher().match(message)

    assert (result.verdict, result.candidates, result.score, result.confidence) == ("out_of_scope", (), 0.0, None)
    assert result.explain() == "Out of scope: the message has no words."


def test_a_long_message_is_cut_and_the_trace_says_so() -> None:
    """A pasted document is matched by its beginning."""
    result = matcher().match("where is my order " * 5000)

    assert result.trace.stages[0].name == "clean"
    assert str(MAX_CHARACTERS) in result.trace.stages[0].says


def test_a_message_that_is_no_text_is_refused() -> None:
    """None, bytes and numbers are the caller's mistake and named as such."""
    for wrong in (None, b"hello", 7):
        with pytest.raises(InputError, match="a message must be text"):
            matcher().match(wrong)  # type: ignore[arg-type]
    with pytest.raises(InputError, match="'deutsch' is not a language code"):
        matcher().match("x", language="deutsch")
    with pytest.raises(InputError, match="top_k"):
        matcher().match("x", top_k=0)


def test_top_k_bounds_the_candidates_only() -> None:
    """Fewer candidates shown, same decision and rivals."""
    bot = matcher(margin=0.4, threshold=0.3)

    assert len(bot.match("my order", top_k=1).candidates) == 1
    assert len(bot.match("my order", top_k=1).rivals) == 2
    assert len(bot.match("my order", top_k=50).candidates) == 3


def test_many_messages_are_matched_as_each_alone() -> None:
    """`match_many` gives what `match` gives, in order, repeated and empty messages included."""
    bot = matcher()
    messages = ["my order", "", "hello", "my order", "track that parcel", "hello"]

    assert bot.match_many(messages) == [bot.match(message) for message in messages]
    assert bot.match_many([]) == []


def test_many_messages_are_encoded_together_and_once() -> None:
    """Repeated messages and exact hits cost no encoding."""
    bot = matcher()
    assert isinstance(bot.encoder, WordHashEncoder)
    bot.encoder.encoded.clear()

    bot.match_many(["my order", "hello", "my order", "parcel"])

    assert sorted(bot.encoder.encoded) == ["my order", "parcel"]


def test_an_explanation_reads_as_sentences() -> None:
    """It names the decision, the threshold and its origin, the nearest utterance and the runner-up."""
    text = matcher(threshold=0.3, margin=0.01).match("cancel my orders now").explain()

    assert text.startswith("Matched: cancel has a score of 0.")
    assert "at or above the threshold 0.30 (argument)" in text
    assert "The nearest utterance of cancel is “cancel my order”." in text
    assert "Next: status 0." in text


def test_a_result_is_the_same_shape_whatever_the_verdict() -> None:
    """Its JSON form has the same keys for matched, ambiguous, refused and empty."""
    bot = matcher(margin=0.4, threshold=0.3)

    shapes = {frozenset(bot.match(m).to_dict()) for m in ("hello", "my order", "quantum", "")}

    assert len(shapes) == 1


def test_the_language_of_a_line_is_its_authors_word() -> None:
    """For an exact hit the language is one that an author gave the line."""
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
    """Trained on English, and blind to what is not ASCII."""

    languages = frozenset({"en"})

    def unknown(self, text):  # type: ignore[no-untyped-def]
        return "".join(char for char in text if char.isalpha() and not char.isascii())

    def encode(self, texts, *, kind="utterance"):  # type: ignore[no-untyped-def]
        return super().encode(["".join(char for char in text if char.isascii()) for text in texts], kind=kind)


def coverage(message: str, language: str | None = None, encoder: WordHashEncoder | None = None) -> list[str]:
    result = matcher(encoder=encoder or EnglishEncoder()).match(message, language=language)
    return [stage.says for stage in result.trace.stages if stage.name == "coverage"]


def test_what_the_encoder_does_not_cover_is_said() -> None:
    """A language that it was not trained on, letters that it does not know, or both."""
    assert coverage("iphi i-odolo yam", "xh") == ["fake was not trained on xh"]
    assert coverage("where is my ᎣᏓ please") == ["letters unknown to fake: 2 of 17 (Cherokee)"]
    assert coverage("my ᎣᏓ", "chr") == ["fake was not trained on chr; letters unknown to fake: 2 of 4 (Cherokee)"]


def test_nothing_is_said_of_what_is_covered() -> None:
    """Nor of an author's own line, which needs no encoder, nor by an encoder that does not say what it covers."""
    assert coverage("where is that order") == coverage("where is that order", "en-GB") == []
    assert coverage("where is my order", "xh") == []
    assert coverage("iphi i-ᎣᏓ yam", "xh", WordHashEncoder()) == []


def test_a_language_guessed_counts_like_one_stated() -> None:
    """Where the registry has lines in a language that is not covered, so may the messages be."""
    xhosa = Intent("xhosa", (Utterance("iphi iphasile yam", "xh"), Utterance("ndifuna ukuyirhoxisa", "xh")))
    result = matcher(ORDERS, xhosa, encoder=EnglishEncoder()).match("ndifuna iphasile")

    assert result.language == "xh"
    assert "fake was not trained on xh" in [stage.says for stage in result.trace.stages]


def test_a_message_of_unknown_letters_is_out_of_scope() -> None:
    """The reason says that the encoder could read none of it, and the trace in which script it is."""
    result = matcher(encoder=EnglishEncoder()).match("ᎣᏓ ᎠᏂ")

    assert (result.verdict, result.candidates, result.trace.decided_by) == ("out_of_scope", (), "empty")
    assert result.trace.reason == "the encoder fake knows nothing of this message."
    assert result.trace.stages[-1].says == "letters unknown to fake: 4 of 4 (Cherokee)"


def test_a_self_test_finds_a_changed_encoder() -> None:
    """An encoder that no longer gives the vectors that were built is refused when the artefact is taken into use."""

    class Drifting(WordHashEncoder):
        def encode(self, texts, *, kind="utterance"):  # type: ignore[no-untyped-def]
            vectors = super().encode(texts, kind=kind)
            return vectors if len(texts) > 1 else -vectors

    with pytest.raises(IntentMatchError, match="self-test failed"):
        matcher(encoder=Drifting())


@settings(max_examples=150, deadline=None)
@given(st.text(), st.sampled_from([None, "de", "pt_BR", "zh-hant"]))
def test_any_text_gets_an_answer(message: str, language: str | None) -> None:
    """Whatever a user types, there is a result whose parts agree with each other."""
    result = BOT.match(message, language=language)

    assert result.message == message
    assert (result.intent is not None) == (result.verdict == "matched")
    assert (len(result.rivals) >= 2) == (result.verdict == "ambiguous")
    assert [c.score for c in result.candidates[1:]] == sorted((c.score for c in result.candidates[1:]), reverse=True)
    assert all(-1.0 <= c.score <= 1.0 for c in result.candidates)
    assert result.confidence is None or 0.0 <= result.confidence <= 1.0


BOT = matcher()
