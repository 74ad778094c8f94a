"""What messages say to the questions of a registry."""

from __future__ import annotations

import pickle
from dataclasses import replace

import pytest

from intentmatch import Matcher, load_artefact, save_artefact
from intentmatch.core.errors import ArtefactError
from intentmatch.core.result import Trait, traits_in_words

SHOP = """language: en
intents:
  order_status:
    utterances: [where is my order, track my parcel, when will it arrive, has my package been sent, is it on its way]
  returns:
    utterances: [I want to return this, can I send it back, how do I return an item, this does not fit, take it back]
  opening_hours:
    utterances: [when are you open, what are your opening hours, are you open on sunday, until what time can I come]
"""
QUESTIONS = """questions:
  urgent:
    answers:
      yes: [I need it today, this is an emergency, please hurry, as soon as possible, it cannot wait, right now please]
      no: [no hurry, whenever you have time, it can wait until next week, take your time, there is no rush at all]
  mood:
    answers:
      angry: [this is outrageous, I am furious, what a terrible service, you are useless, I am so annoyed with you]
      happy: [thank you so much, you are great, I love this shop, wonderful service, perfect just what I wanted]
"""


@pytest.fixture(scope="module")
def matcher(tmp_path_factory) -> Matcher:
    return loaded(tmp_path_factory.mktemp("shop"), SHOP + QUESTIONS)


def loaded(folder, text: str) -> Matcher:
    (folder / "shop.yaml").write_text(text, encoding="utf-8")
    return Matcher.load(folder)


def test_a_message_answers_questions_whatever_its_intent(matcher):
    found = matcher.match("where is my order? I need it today, it cannot wait")
    furious = matcher.match("I'm furious, where is my parcel")

    assert found.traits["urgent"].answer == "yes"
    assert furious.intent == "order_status"
    assert furious.traits["mood"].answer == "angry"


@pytest.mark.parametrize("message", ["where is my order", "when are you open?", "what is the capital of Peru", "hello"])
def test_a_message_that_says_nothing_has_no_answer(matcher, message):
    for trait in matcher.match(message).traits.values():
        assert trait.answer is None
        assert trait.confidence < 0.5


def test_confidences_add_up_to_at_most_one(matcher):
    for message in ("where is my order, hurry", "thanks a lot", "no rush", "you useless lot", "asap"):
        for trait in matcher.match(message).traits.values():
            assert 0.0 <= sum(trait.confidences.values()) <= 1.0 + 1e-9
            assert trait.confidence == max(trait.confidences.values())


def test_a_line_of_the_author_has_its_answer(matcher):
    assert matcher.match("No hurry!").traits["urgent"] == Trait("no", 1.0, {"yes": 0.0, "no": 1.0})


@pytest.mark.parametrize("message", ["", "  ", "sdkfjh wqpx"])
def test_noise_says_nothing(matcher, message):
    traits = matcher.match(message).traits

    assert list(traits) == ["urgent", "mood"]
    assert {trait.confidence for trait in traits.values()} == {0.0}


def test_a_message_that_no_intent_may_answer_is_asked_the_questions(matcher):
    message = "I'm furious, where is my parcel"

    assert matcher.match(message, allowed=[]).traits == matcher.match(message).traits


def test_an_utterance_is_asked_the_questions(matcher):
    assert matcher.match("where is my order").traits.keys() == {"urgent", "mood"}


def test_messages_together_say_what_each_says_alone(matcher):
    messages = ["I'm furious, where is my parcel", "no rush, can I send it back?", "hi"]

    for message, together in zip(messages, matcher.match_many(messages), strict=True):
        alone = matcher.match(message)
        for name, trait in alone.traits.items():
            assert together.traits[name].confidences == pytest.approx(trait.confidences, abs=1e-4)


def test_hypotheses_have_the_mean_of_their_confidences(matcher):
    heard = matcher.match([("please hurry", 0.75), ("no hurry", 0.25)])

    assert heard.traits["urgent"].confidences == pytest.approx({"yes": 0.75, "no": 0.25})


def test_several_requests_have_the_traits_of_the_whole_message(matcher):
    message = "track my parcel, I am furious, and take this back, I want to return it"
    several = Matcher.load(matcher.registry, several_intents=True).match(message)

    # One of both is read alone and the other in a batch, whose last digits differ with some BLAS.
    for name, trait in matcher.match(message).traits.items():
        assert several.traits[name].confidences == pytest.approx(trait.confidences, abs=1e-4)


def test_explanation_and_json_have_the_answers(matcher):
    result = matcher.match("I'm furious, where is my parcel")

    assert "mood angry" in result.explain()
    assert "urgent not said" in result.explain()
    assert result.to_dict()["traits"]["mood"]["answer"] == "angry"
    assert pickle.loads(pickle.dumps(result)).traits == result.traits


@pytest.mark.parametrize(
    ("confidences", "words"),
    [
        ({"yes": 0.8, "no": 0.1}, "urgent yes 80%"),
        ({"yes": 0.5, "no": 0.48}, "urgent undecided (yes 50%, no 48%)"),
        ({"low": 0.2, "high": 0.3, "top": 0.1}, "urgent undecided (high 30%, low 20%)"),
        ({"yes": 0.02, "no": 0.1}, "urgent not said (no 10%)"),
    ],
)
def test_trait_in_words_tells_silence_from_doubt(confidences, words):
    assert traits_in_words({"urgent": Trait.of(confidences)}) == words


def test_an_artefact_keeps_questions(matcher, tmp_path):
    save_artefact(matcher.artefact, tmp_path / "shop.intentmatch")
    again = Matcher.load(tmp_path / "shop.intentmatch")

    assert again.match("please hurry up").traits == matcher.match("please hurry up").traits
    assert again.fingerprint == matcher.fingerprint


def test_an_artefact_with_damaged_heads_is_refused(matcher, tmp_path):
    heads = matcher.artefact.trait_heads
    save_artefact(
        replace(matcher.artefact, trait_heads=replace(heads, numbers=-heads.numbers)), tmp_path / "a.intentmatch"
    )

    with pytest.raises(ArtefactError, match="curves of its questions"):
        load_artefact(tmp_path / "a.intentmatch")


def test_an_artefact_without_questions_has_no_trace_of_them(tmp_path):
    artefact = loaded(tmp_path, SHOP).artefact
    save_artefact(artefact, tmp_path / "shop.intentmatch")

    content = (tmp_path / "shop.intentmatch").read_bytes()
    assert b"trait" not in content
    assert b"questions" not in content
    assert Matcher.load(artefact.registry).match("hello").traits == {}


def test_an_edited_line_is_learned_at_once(tmp_path):
    matcher = loaded(tmp_path, SHOP + QUESTIONS)
    before = matcher.match("chop chop, where is my order").traits["urgent"].confidences["yes"]

    edited = (SHOP + QUESTIONS).replace("please hurry", "chop chop").replace("this is an emergency", "chop chop please")
    (tmp_path / "shop.yaml").write_text(edited, encoding="utf-8")
    matcher.reload()

    assert matcher.match("chop chop, where is my order").traits["urgent"].confidences["yes"] > before + 0.2
    assert matcher.match("chop chop").traits["urgent"].answer == "yes"
