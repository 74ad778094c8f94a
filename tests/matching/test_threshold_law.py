"""The law of thresholds for whole messages: a stricter threshold of one intent never gives another intent.

`test_policy.py` tests the law for decisions alone. Here the message goes through everything: languages that the bot
does not have, `not:`, `when`, shared lines, negations, typing mistakes, words that several intents have, a reranker.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import settings as run
from hypothesis import strategies as st

from intentmatch import Intent, Matcher, MatchResult, Registry, Utterance
from intentmatch.artefact.artefact import Artefact
from intentmatch.core.settings import resolve
from intentmatch.core.types import Reranker
from intentmatch.encoders import load_encoder
from intentmatch.matching.options import MatchOptions
from intentmatch.matching.pipeline import Engine
from intentmatch.matching.word_reranker import WordReranker
from intentmatch.registry import read_registry
from intentmatch.text.normalize import clean

SHIPPED = Path(__file__).parents[2] / "intents"
NAMES = (
    "order_cancel", "order_status", "order_change", "appointment_cancel", "appointment_book", "delivery_time",
    "package_not_received", "thanks",
)  # fmt: skip
LANGUAGES = ("en", "de")
MESSAGES = (
    "cancel this",
    "order",
    "my order please",
    "where's my stuff",
    "i want to cancel",
    "please don't cancel my order",
    "cancle my apointment",
    "how long does it take",
    "when will it come, and can I change it",
    "it has not arrived",
    "thanks, but where is it",
    "can I come on monday",
    "annuler ma commande",
    "dónde está mi pedido",
    "mijn pakket is er nog niet",
    "wo bleibt es denn",
    "cancel the parcel that has not come",
    "go on then",
    "what is the capital of France",
    "cancel my subscription",
    "als ik vandaag bestel, heb ik het dan vrijdag in huis?",
    "het gesprek met de adviseur hoeft niet meer, geef mijn plek maar weg",
)
THRESHOLDS = st.one_of(
    st.none(),
    st.floats(0.0, 1.0),
    st.floats(0.0, 100.0).map(lambda percent: f"{percent}%"),
    st.sampled_from([1.0, "100%", "90%", 0.9, "50%"]),
)


def lines(language: str, *texts: str) -> tuple[Utterance, ...]:
    return tuple(Utterance(text, language) for text in texts)


@cache
def artefact() -> Artefact:
    """Return a trained bot of some shipped intents, two with a tag and the same line, one with a line under `not:`."""
    intents = []
    for intent in read_registry(SHIPPED):
        if intent.name in NAMES:
            own = tuple(u for code in LANGUAGES for u in [u for u in intent.utterances if u.language == code][:12])
            negatives = lines("en", "cancel my subscription") if intent.name == "order_cancel" else ()
            intents.append(Intent(intent.name, own, negatives))
    for name, tag in (("confirm_cancel", "cancelling"), ("confirm_booking", "booking")):
        intents.append(Intent(name, lines("en", "go on", "do it", f"yes, go on with the {tag}"), when=(tag,)))
    return Matcher.load(Registry(tuple(intents))).artefact


class Contrary:
    """A reranker that finds the lines of one intent far, and all others near."""

    name = "contrary"

    def __init__(self, intent: str) -> None:
        self._lines = {clean(u.text) for u in artefact().registry[intent].utterances}

    def score(self, message: str, utterances: Sequence[str]) -> np.ndarray:
        return np.array([0.0 if line in self._lines else 1.0 for line in utterances], dtype=np.float32)


def matched(
    name: str, threshold: float | str | None, message: str, options: MatchOptions, reranker: Reranker | None
) -> MatchResult:
    """Match with a threshold for one intent. Thresholds change no training, so the bot need not be built again."""
    bot = artefact()
    intents = (replace(intent, threshold=threshold if intent.name == name else None) for intent in bot.registry)
    engine = Engine(replace(bot, registry=replace(bot.registry, intents=tuple(intents))), bot_encoder(), reranker)
    return engine.match(message, engine.resolve(options))


@cache
def bot_encoder():
    return load_encoder(resolve({}))


def same_or_none(before: MatchResult, after: MatchResult) -> bool:
    return before.verdict != "matched" or after.verdict != "matched" or before.intent == after.intent


def test_the_bot_has_confidences() -> None:
    """Else percentages would mean nothing here."""
    assert artefact().calibration.curve is not None
    assert artefact().foreign is not None


@run(max_examples=60, deadline=None)
@given(
    st.sampled_from([*NAMES, "confirm_cancel"]),
    THRESHOLDS,
    THRESHOLDS,
    st.sampled_from(MESSAGES),
    st.sampled_from([(), ("cancelling",), ("cancelling", "booking")]),
    st.sampled_from(["none", "words", "contrary"]),
)
def test_threshold_of_one_intent_never_gives_another(name, threshold, other, message, context, kind):
    options = MatchOptions(context=context)
    reranker = {"none": None, "words": WordReranker(), "contrary": Contrary(name)}[kind]

    before = matched(name, threshold, message, options, reranker)
    after = matched(name, other, message, options, reranker)

    assert same_or_none(before, after)


@pytest.mark.parametrize("message", MESSAGES)
@pytest.mark.parametrize("threshold", [1.0, "100%"])
def test_strictest_threshold_of_the_first_intent(message, threshold):
    """The one most likely to hand the message over, with a reranker that would."""
    first = matched("", None, message, MatchOptions(), None).intent
    if first is None:
        return
    reranker = Contrary(first)

    before = matched("", None, message, MatchOptions(), reranker)
    after = matched(first, threshold, message, MatchOptions(), reranker)

    assert same_or_none(before, after)
