"""What missed messages do, on messages whose meaning is known."""

from __future__ import annotations

import pytest

from intentmatch import Matcher
from intentmatch.inbox.kinds import kinds_of

FILE = """\
intents:
  order_cancel:
    utterances:
      en: [cancel my order, please cancel my purchase, call off the order]
      de: [meine Bestellung stornieren, storniert bitte meinen Auftrag]
  order_status:
    utterances:
      en: [where is my order, track my parcel, when will my parcel arrive]
      de: [wo bleibt mein Paket, wann kommt meine Bestellung]
"""


@pytest.fixture(scope="module")
def shop(tmp_path_factory: pytest.TempPathFactory) -> Matcher:
    file = tmp_path_factory.mktemp("shop") / "shop.yaml"
    file.write_text(FILE, encoding="utf-8")
    return Matcher.load(file, cache="off")


@pytest.mark.parametrize(
    ("message", "kind", "intent"),
    [
        ("could you call the whole thing off", "asks", None),
        ("I never asked you to cancel my order", "refuses", "order_cancel"),
        ("auf keinen Fall meine Bestellung stornieren", "refuses", "order_cancel"),
        ("my parcel arrived yesterday, everything fine", "settled", None),
        ("and what about the other one", "depends", None),
        ("the second one, thanks", "depends", None),
        ("have a lovely day", "courtesy", None),
        ("asdf zxcv", "noise", None),
    ],
)
def test_message_is_of_its_kind(shop: Matcher, message: str, kind: str, intent: str | None) -> None:
    (said,) = kinds_of([shop.match(message)], cut=0.35)

    assert (said.kind, said.intent) == (kind, intent)


def test_request_is_never_certain(shop: Matcher) -> None:
    (said,) = kinds_of([shop.match("could you call the whole thing off")], cut=0.35)

    assert not said.is_certain


@pytest.mark.parametrize(
    ("message", "certain"),
    [("asdf zxcv", True), ("aaaaaa aaaa", True), ("kinderzahnarzt", False), ("weisheitszahn entzündet", False)],
)
def test_noise_is_certain_by_its_form_but_not_by_its_letters(shop: Matcher, message: str, certain: bool) -> None:
    """A compound that no utterance has may read like no language."""
    (said,) = kinds_of([shop.match(message)], cut=0.35)

    assert (said.kind, said.is_certain) == ("noise", certain)


def test_refusal_without_a_confidence_is_not_certain(shop: Matcher) -> None:
    """A registry that is too small for a confidence does not say for sure which intent is refused."""
    result = shop.match("I never asked you to cancel my order")
    (said,) = kinds_of([result], cut=0.35)

    assert result.confidence is None
    assert not said.is_certain
