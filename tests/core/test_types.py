"""Registry and result types: fallbacks, fingerprints, explanations and JSON."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from intentmatch.core.errors import Location
from intentmatch.core.result import Candidate, Entity, MatchResult, Stage, Trace
from intentmatch.core.types import Case, Intent, Mark, Registry, Rule, Slot, SlotValue, Utterance

HELLO = Utterance("hello", "en", Location("bot.yaml", 3, 9))
GREETING = Intent(
    "greeting", (HELLO, Utterance("hallo", "de")), title="Greeting", responses={"en": "Hi!", "de": "Hallo!"}
)
THANKS = Intent("thanks", (Utterance("merci", "fr"), Utterance("thx")))
BOT = Registry((GREETING, THANKS), {"margin": "0.1"})
CITY = Slot("city", "list", (SlotValue("Rome", (Utterance("Roma", "it"),)),), questions={"en": "Where?"})

RESULT = MatchResult(
    message="helo",
    verdict="matched",
    intent="greeting",
    score=0.91,
    confidence=0.873,
    candidates=(Candidate("greeting", 0.91, HELLO, "Greeting", 0.873), Candidate("thanks", 0.2)),
    rivals=(),
    language="en",
    response="Hi!",
    trace=Trace((Stage("dense", "greeting 0.91", 12.345),), "dense", 0.5, "learned", "greeting scores 0.91."),
)


def test_registry_behaves_like_a_mapping_of_intents():
    assert len(BOT) == 2
    assert list(BOT) == [GREETING, THANKS]
    assert BOT["thanks"] is THANKS
    assert "greeting" in BOT
    assert "Greeting" not in BOT
    assert BOT.languages == ("de", "en", "fr")


@pytest.mark.parametrize(
    ("responses", "language", "expected"),
    [
        ({"en": "Hi", "de": "Hallo"}, "de", "Hallo"),
        ({"en": "Hi", "de": "Hallo"}, "de-AT", "Hallo"),
        ({"pt": "Olá", "pt-BR": "Oi"}, "pt-BR", "Oi"),
        ({"": "👋", "en": "Hi"}, "fr", "👋"),
        ({"": "👋", "en": "Hi"}, None, "👋"),
        ({"de": "Hallo", "en": "Hi"}, "fr", "Hi"),
        ({"de": "Hallo", "fr": "Salut"}, "it", "Hallo"),
        ({"de": "Hallo"}, None, "Hallo"),
        ({"en": ""}, "en", ""),
        ({}, "en", None),
    ],
)
def test_response_falls_back_by_language(responses, language, expected):
    """Order: the language, its base, a response without language, English, any; None if there is none."""
    assert Intent("a", (), responses=responses).response(language) == expected


VARIED = Intent("a", (), responses={"en": "Hi", "de": "Hallo"}, more_responses={"en": ("Hello", "Hey")})


@pytest.mark.parametrize(
    ("language", "expected"),
    [
        ("en", ("Hi", "Hello", "Hey")),
        ("en-GB", ("Hi", "Hello", "Hey")),
        ("de", ("Hallo",)),
        (None, ("Hi", "Hello", "Hey")),
    ],
)
def test_variants_of_a_response_belong_to_its_language(language, expected):
    assert VARIED.responses_in(language) == expected
    assert VARIED.response(language) == expected[0]


def test_message_chooses_a_variant_and_always_the_same_one():
    messages = [f"message {number}" for number in range(50)]

    chosen = [VARIED.response_to(message, "en") for message in messages]

    assert chosen == [VARIED.response_to(message, "en") for message in messages]
    assert set(chosen) == {"Hi", "Hello", "Hey"}
    assert VARIED.response_to("\ud800", "de") == "Hallo"
    assert Intent("a", ()).response_to("hi", "en") is None


def test_fingerprint_ignores_locations():
    moved = replace(
        GREETING, location=Location("other.yaml", 9), utterances=(replace(HELLO, location=None), GREETING.utterances[1])
    )

    assert Registry((moved, THANKS), BOT.settings).fingerprint == BOT.fingerprint


def test_fingerprint_ignores_test_cases():
    assert replace(BOT, tests=(Case("hello", "greeting"),)).fingerprint == BOT.fingerprint


@pytest.mark.parametrize(
    "other",
    [
        Registry((THANKS, GREETING), BOT.settings),
        Registry((GREETING,), BOT.settings),
        Registry((GREETING, THANKS), {"margin": "0.2"}),
        Registry((replace(GREETING, name="hello"), THANKS), BOT.settings),
        Registry((replace(GREETING, utterances=GREETING.utterances[::-1]), THANKS), BOT.settings),
        Registry((replace(GREETING, utterances=GREETING.utterances[:1]), THANKS), BOT.settings),
        Registry(
            (replace(GREETING, utterances=(replace(HELLO, language=None), GREETING.utterances[1])), THANKS),
            BOT.settings,
        ),
        Registry((replace(GREETING, negatives=(HELLO,)), THANKS), BOT.settings),
        Registry((replace(GREETING, title=None), THANKS), BOT.settings),
        Registry((replace(GREETING, description="x"), THANKS), BOT.settings),
        Registry((replace(GREETING, threshold=0.0), THANKS), BOT.settings),
        Registry((replace(GREETING, responses={}), THANKS), BOT.settings),
        Registry((replace(GREETING, more_responses={"en": ("Hey",)}), THANKS), BOT.settings),
        Registry((replace(GREETING, metadata={"x": 1}), THANKS), BOT.settings),
        Registry((replace(GREETING, slots=(CITY,)), THANKS), BOT.settings),
        Registry((replace(GREETING, when=("night",)), THANKS), BOT.settings),
        Registry((replace(GREETING, confirm=True), THANKS), BOT.settings),
        Registry((replace(GREETING, utterances=(replace(HELLO, template="{x=hello}"),)), THANKS), BOT.settings),
        replace(BOT, rules=(Rule("day", {"en": "today"}),)),
    ],
)
def test_fingerprint_changes_with_content(other):
    """Every part of an intent, the order of intents, rules and settings count."""
    assert other.fingerprint != BOT.fingerprint


@pytest.mark.parametrize(
    "other",
    [
        replace(CITY, name="town"),
        replace(CITY, kind="any"),
        replace(CITY, values=()),
        replace(CITY, values=(SlotValue("Rome"),)),
        replace(CITY, values=(SlotValue("Rome", (Utterance("Roma", "es"),)),)),
        replace(CITY, patterns=("x",)),
        replace(CITY, required=True),
        replace(CITY, questions={}),
    ],
)
def test_fingerprint_changes_with_slots_but_not_their_examples(other):
    """The location of a slot does not count either."""

    def fingerprint(slot: Slot) -> str:
        return Registry((replace(GREETING, slots=(slot,)),)).fingerprint

    assert fingerprint(other) != fingerprint(CITY)
    assert fingerprint(replace(CITY, location=HELLO.location, examples=(HELLO,))) == fingerprint(CITY)


def test_lines_group_utterances_by_template_and_location():
    """Groups stay within an intent. An utterance without a template is a group of its own."""
    place = Location("bot.yaml", 7, 9)
    sentences = [Utterance(text, "en", place, "(a|b)", (Mark("x", 0, 1),)) for text in "ab"]
    elsewhere = replace(sentences[0], location=None)
    intent = Intent("a", (HELLO, *sentences, HELLO, elsewhere, elsewhere), tuple(sentences))
    registry = Registry((intent, replace(intent, name="b")))

    assert registry.lines == (0, 1, 1, 3, 4, 4, 6, 7, 7, 9, 10, 10)
    assert registry.negative_lines == (0, 0, 2, 2)
    assert sentences[0].same_line(sentences[1])
    assert not sentences[0].same_line(elsewhere)
    assert not HELLO.same_line(HELLO)


def test_fingerprint_accepts_lone_surrogates_and_odd_metadata():
    odd = Registry((Intent("\ud800", (Utterance("\udfff"),), metadata={"when": object}),))

    assert len(odd.fingerprint) == 16


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        (4, "4"),
        ("Rome", "Rome"),
        ({"amount": 20, "currency": "EUR"}, "20 EUR"),
        ({"amount": 21, "unit": None}, "21"),
        ({"from": "2026-11-23", "to": "2026-11-29"}, "2026-11-23 to 2026-11-29"),
    ],
)
def test_value_is_shown_in_words(value, shown):
    assert Entity("slot", value, "said", 0, 4).shown == shown


def test_explain_gives_verdict_reason_nearest_utterance_and_next_candidates():
    assert RESULT.explain().splitlines() == [
        "Matched: greeting scores 0.91.",
        "The nearest utterance of greeting is “hello” (bot.yaml:3).",
        "Confidence that greeting is right: 87%.",
        "Next: thanks 0.20.",
    ]


def test_explain_without_candidates_gives_the_reason():
    nothing = replace(RESULT, verdict="out_of_scope", intent=None, confidence=None, candidates=())

    assert nothing.explain() == "Out of scope: greeting scores 0.91."


def test_to_dict_is_plain_json():
    """All fields are present; locations are written as path:line."""
    plain = RESULT.to_dict()

    assert json.loads(json.dumps(plain)) == plain
    assert set(plain) == set(MatchResult.__slots__)
    assert plain["candidates"][0] == {
        "intent": "greeting",
        "title": "Greeting",
        "score": 0.91,
        "confidence": 0.873,
        "utterance": "hello",
        "language": "en",
        "location": "bot.yaml:3",
    }
    assert plain["candidates"][1]["utterance"] is None
    assert plain["candidates"][1]["confidence"] is None
    assert plain["trace"]["stages"] == [{"name": "dense", "says": "greeting 0.91", "microseconds": 12.3}]


def test_utterances_and_negatives_keep_intent_order():
    one = Intent("one", (Utterance("a"), Utterance("b")), (Utterance("x"),))
    two = Intent("two", (Utterance("c"),), (Utterance("y"), Utterance("z")))
    registry = Registry((one, two))

    assert [u.text for u in registry.utterances] == ["a", "b", "c"]
    assert registry.owners == (0, 0, 1)
    assert [u.text for u in registry.negatives] == ["x", "y", "z"]
    assert registry.negative_owners == (0, 1, 1)


def test_candidates_show_confidence_or_score():
    assert Candidate("a", 0.5).measured == "0.50"
    assert Candidate("a", 0.5, confidence=0.349, evidence=1.2).measured == "35%"

    ranked = (Candidate("a", 0.6, confidence=0.9), Candidate("b", 0.3, confidence=0.4), Candidate("c", 0.5))
    assert "Next: b 40%, c 0.50." in replace(RESULT, candidates=ranked).explain()


def test_label_is_title_or_name_in_words():
    assert Intent("orderStatus", ()).label == "order status"
    assert Intent("order_status", (), title="Where is my order?").label == "Where is my order?"
