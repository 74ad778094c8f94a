"""How much noise is accepted, on the shipped registry and on a small one in two languages."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest
import tiers

from intentmatch import Intent, Matcher, Registry, Utterance
from intentmatch.evaluation.noise import NOISE, noise_messages

pytestmark = pytest.mark.corpus

SHIPPED = Path(__file__).parents[2] / "intents"
SMALL: Mapping[str, Mapping[str, str]] = {
    "opening_hours": {
        "en": "when are you open / opening hours / are you open on Sunday / what time do you close",
        "de": "wann habt ihr geöffnet / Öffnungszeiten / habt ihr sonntags auf / wann macht ihr zu",
    },
    "book_table": {
        "en": "book a table for two / I'd like a reservation / do you have a table tonight / reserve for eight",
        "de": "einen Tisch für zwei reservieren / ich möchte reservieren / heute Abend noch Platz / Tisch buchen",
    },
    "cancel_table": {
        "en": "cancel my reservation / we can't come tonight / please drop our booking / no table any more",
        "de": "Reservierung absagen / wir können heute nicht kommen / storniert unseren Tisch / Tisch abbestellen",
    },
    "menu": {
        "en": "what's on the menu / show me the dishes / do you have vegan food / what can I eat",
        "de": "was steht auf der Karte / zeig mir die Speisekarte / habt ihr veganes Essen / was gibt es zu essen",
    },
    "delivery": {
        "en": "do you deliver / can I get pizza at home / bring it to my door / how long does delivery take",
        "de": "liefert ihr auch / kann ich Pizza nach Hause bestellen / wie lange dauert das / Lieferdienst",
    },
    "address": {
        "en": "where are you / how do I find you / what's your address / is there parking",
        "de": "wo seid ihr / wie finde ich euch / wie ist eure Adresse / gibt es Parkplätze",
    },
    "greeting": {"en": "hello / hi there / good evening / hey", "de": "hallo / guten Tag / guten Abend / servus"},
    "thanks": {
        "en": "thank you / thanks a lot / that was great / many thanks",
        "de": "danke / vielen Dank / das war super / dankeschön",
    },
}


@pytest.fixture(scope="module", params=["shipped", "small"])
def matcher(request: pytest.FixtureRequest) -> Matcher:
    if request.param == "shipped":
        return Matcher.load(SHIPPED, cache="off")
    lines = {
        name: [Utterance(text, code) for code, some in by_language.items() for text in some.split(" / ")]
        for name, by_language in SMALL.items()
    }
    return Matcher.load(Registry(tuple(Intent(name, tuple(own)) for name, own in lines.items())), cache="off")


def accepted(matcher: Matcher, messages: list[str]) -> int:
    return sum(result.verdict != "out_of_scope" for result in matcher.match_many(messages))


@pytest.mark.parametrize(
    ("kind", "percent"),
    # Made-up words may be words of some language: where the detector is not sure, the evidence decides.
    [(kind, 4 if kind == "syllables" else 2) for kind in sorted(NOISE)],
)
def test_little_noise_is_accepted(matcher: Matcher, kind: str, percent: int) -> None:
    messages = noise_messages(kind, 300, seed=21, languages=matcher.registry.languages)
    some = tiers.rows_of(messages)

    assert accepted(matcher, some) <= tiers.share_of(3 * percent, messages, some)


def test_hardly_a_stop_word_of_any_language_is_accepted(matcher: Matcher) -> None:
    messages = noise_messages("stop word", 300, seed=21)
    some = tiers.rows_of(messages)

    assert accepted(matcher, some) <= tiers.share_of(6, messages, some)
