"""How much noise is accepted, on the shipped registry and on a small one in two languages."""

from __future__ import annotations

from pathlib import Path

import pytest
import tiers

from intentmatch import Matcher
from intentmatch.evaluation.noise import NOISE, noise_messages

pytestmark = pytest.mark.corpus

SHIPPED = Path(__file__).parents[2] / "intents"
SMALL = Path(__file__).with_name("restaurant.yaml")


@pytest.fixture(scope="module", params=["shipped", "small"])
def matcher(request: pytest.FixtureRequest) -> Matcher:
    return Matcher.load(SHIPPED if request.param == "shipped" else SMALL, cache="off")


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
