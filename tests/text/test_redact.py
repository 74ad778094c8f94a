"""Redaction: the personal data that is replaced, and the numbers that stay."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from machine_speed import standard_seconds

from intentmatch.text.redact import CARD, EMAIL, IBAN, PHONE, redact

DATA = Path(__file__).parent / "redaction"
MARKED = re.compile(r"⟦(\w+) (.*?)⟧")
AROUND = [
    "{}",
    "my number is {}",
    "{}, please",
    "({})",
    "is it {}?",
    "call {} or write",
    "电话{}谢谢",
    "„{}“",
    "x\n{}\ny",
]


def lines(name: str) -> list[list[str]]:
    """Return the two columns of a data file, with \\uXXXX replaced by the character."""
    text = (DATA / name).read_text("utf-8")
    text = re.sub(r"\\u([0-9a-f]{4})", lambda found: chr(int(found[1], 16)), text)
    return [line.split("\t") for line in text.split("\n") if line and not line.startswith("#")]


def wrong(name: str) -> list[str]:
    """Return the marked messages of a file that are redacted otherwise than marked, with what they become."""
    results = [(MARKED.sub(r"‹\1›", marked), redact(MARKED.sub(r"\2", marked))) for _, marked in lines(name)]
    return [f"{wanted} != {found}" for wanted, found in results if wanted != found]


def test_messages_of_thirty_locales_are_redacted_as_marked() -> None:
    assert len({locale for locale, _ in lines("messages.txt")}) >= 30
    assert wrong("messages.txt") == []


def test_known_misses_are_still_missed() -> None:
    """A form that is found by now moves to `messages.txt`."""
    assert len(wrong("known_misses.txt")) == len(lines("known_misses.txt"))


def test_forms_are_replaced_in_every_surrounding() -> None:
    """Without spaces the start of an address in another script cannot be found."""
    cases = [
        (around.format(form), around.format(f"‹{kind}›"))
        for kind, form in lines("forms.txt")
        for around in AROUND
        if kind != "stays"
        and not (around.startswith("电话") and kind == "email" and (not form.isascii() or form[0] == '"'))
    ]

    assert [case for case in cases if redact(case[0]).replace("\u200e", "") != case[1]] == []


def test_order_numbers_dates_amounts_and_ip_addresses_stay() -> None:
    around = ("{}", "where is {}", "{} please", "my order is {}.")
    cases = [each.format(form) for kind, form in lines("forms.txt") for each in around if kind == "stays"]

    assert [case for case in cases if redact(case) != case] == []


@pytest.mark.parametrize(
    ("message", "redacted"),
    [
        ("order 4711 0171 1234567", f"order 4711 {PHONE}"),
        ("0171 1234567 0172 7654321", f"{PHONE} {PHONE}"),
        ("0171-1234567/0172-7654321", f"{PHONE}/{PHONE}"),
        ("+49 171 1234567 +49 172 7654321", f"{PHONE} {PHONE}"),
        ("4111 1111 1111 1111 12/26 123", f"{CARD} 12/26 123"),
        ("pay 4111 1111 1111 1111 from DE89 3704 0044 0532 0130 00 NOW", f"pay {CARD} from {IBAN} NOW"),
        ("anna@example.org,bob@example.org", f"{EMAIL},{EMAIL}"),
        ("order 12345678, call 0171 1234567", f"order 12345678, call {PHONE}"),
        ("Tel.:0171 1234567", f"Tel.:{PHONE}"),
    ],
)
def test_several_numbers_in_one_message_are_replaced(message: str, redacted: str) -> None:
    assert redact(message) == redacted


@given(st.text(max_size=200) | st.text("0123456789+-() ./@aA٣", max_size=60))
def test_redaction_is_idempotent_for_every_text(text: str) -> None:
    once = redact(text)
    assert redact(once) == once


@given(st.lists(st.integers(0, 9), min_size=12, max_size=18))
def test_every_valid_card_number_is_replaced(digits: list[int]) -> None:
    payload = [4, *digits[1:]]
    doubled = [sum(divmod(2 * digit, 10)) for digit in payload[::-2]]
    check = -(sum(doubled) + sum(payload[-2::-2])) % 10
    number = "".join(map(str, [*payload, check]))
    grouped = " ".join(number[start : start + 4] for start in range(0, len(number), 4))

    assert redact(f"my card {number} is lost") == f"my card {CARD} is lost"
    assert redact(f"my card {grouped} is lost") == f"my card {CARD} is lost"


LONG = [
    "a",
    "1",
    "1 ",
    "9 (",
    "a.",
    "(",
    "+",
    "@",
    "a@",
    "DE89",
    "AB12 ",
    "1-",
    " ",
    '"',
    "[at]",
    "a . ",
    "a @ ",
    "a@b . ",
]
MOST_SECONDS = 0.8


@pytest.mark.parametrize("unit", LONG)
def test_texts_of_the_longest_length_are_redacted_quickly(unit: str) -> None:
    text = unit * (10_000 // len(unit))

    assert standard_seconds(lambda: redact(text), MOST_SECONDS) <= MOST_SECONDS
