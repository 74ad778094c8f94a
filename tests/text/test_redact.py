"""Redaction: the personal data that is replaced, and the numbers that stay."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from intentmatch.text.redact import CARD, EMAIL, IBAN, PHONE, redact

EMAILS = [
    "anna@example.org", "anna.maria+shop@mail.example.co.uk", "ANNA@EXAMPLE.ORG", "a_b-c%d@x-y.io", "anna＠example.org",
    "anna (at) example.org", "anna[at]example[dot]org", "anna {at} example {dot} co {dot} uk", "müller@bücher.de",
    "почта@пример.рф", "用户@例子.广告", '"anna maria"@example.org', "иван@xn--e1afmkfd.xn--p1ai",
]  # fmt: skip

PHONES = [
    # with a country code
    "+49 171 1234567", "+491711234567", "+49 (0)171 / 123 45 67", "+49-171-123-4567", "(+49) 171 1234567",
    "+1 415 555 2671", "+1 (415) 555-2671", "+1.415.555.2671", "+44 20 7946 0958", "+33 6 12 34 56 78",
    "+90 532 123 45 67", "+7 912 345-67-89", "+86 138 1234 5678", "+966 50 123 4567", "+55 (11) 98765-4321",
    "+39 06 6982", "+ 49 171 1234567", "＋49 171 1234567", "0049 171 1234567", "00 49 171 1234567", "00441712345678",
    # with a trunk prefix, or in national format
    "0171 1234567", "01711234567", "0171/1234567", "0171-123 45 67", "(030) 123456", "030 / 12 34 56 78",
    "06 12 34 56 78", "06.12.34.56.78", "020 7946 0958", "090-1234-5678", "0532 123 45 67", "0 (532) 123 45 67",
    "(415) 555-2671", "415-555-2671", "415.555.2671", "415 555 2671", "1-415-555-2671", "1 (415) 555-2671",
    "8 (912) 345-67-89", "89123456789", "98765 43210", "13812345678", "138 1234 5678", "612 345 678", "(11) 98765-4321",
    # other digits, spaces and dashes, and marks of writing direction
    "٠٥٠١٢٣٤٥٦٧", "٠٥٠ ١٢٣ ٤٥٦٧", "+٩٦٦ ٥٠ ١٢٣ ٤٥٦٧", "۰۹۱۲ ۳۴۵ ۶۷۸۹", "०९८७६५४३२१०", "０９０-１２３４-５６７８",
    "+49\u00a0171\u00a01234567", "+49\u202f171\u20111234567", "0171–1234567", "\u200e+49 171 1234567",
]  # fmt: skip

CARDS = [
    "4111111111111111", "4111 1111 1111 1111", "4111-1111-1111-1111", "4111.1111.1111.1111", "5555 5555 5555 4444",
    "3782 822463 10005", "378282246310005", "6011 1111 1111 1117", "3056 930902 5904", "2223 0031 2200 3222",
    "6212 3456 7890 1265 001", "٤١١١ ١١١١ ١١١١ ١١١١", "４１１１ １１１１ １１１１ １１１１",
    "4111\u00a01111\u00a01111\u00a01111",
]  # fmt: skip

IBANS = [
    "DE89370400440532013000", "DE89 3704 0044 0532 0130 00", "de89370400440532013000", "GB29 NWBK 6016 1331 9268 19",
    "FR14 2004 1010 0505 0001 3M02 606", "NO9386011117947", "TR33 0006 1005 1978 6457 8413 26",
]  # fmt: skip

ORDERS = [
    "12345678", "4155552671", "1234567890", "340434292135", "00340434292135100186", "000123456789", "#4155552671",
    "ORD-2024-001234", "AB-1234-5678-90", "order_0171123456", "1Z999AA10123456784", "302-1234567-1234567",
    "1234-5678-9012", "2024-0012-3456", "4111 1111 1111 1112", "A1711234567", "RE/2024/004711",
]  # fmt: skip

OTHERS = [
    "2024-01-15", "15.01.2024", "2024-01-15 10.30", "10.30 15.01.2024", "01.02.2024 10.30", "05/02/2024 10",
    "1/2/2024", "1.234.567,89", "1 234 567 890",
    "12 345 678", "0.12345678", "192.168.100.200", "1 2 3 4 5 6 7 8", "50 x 70 x 2024", "3.14159265", "12:30:45",
    "1.2.3.4.5.6.7.8.9", "me @ home", "@anna", "a@b", "2@3.14", "DE89370400440532013001", "DE12 is not one", "",
]  # fmt: skip

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


@pytest.mark.parametrize("around", AROUND)
@pytest.mark.parametrize(
    ("written", "word"),
    [
        (text, word)
        for texts, word in ((EMAILS, EMAIL), (PHONES, PHONE), (CARDS, CARD), (IBANS, IBAN))
        for text in texts
    ],
)
def test_personal_data_is_replaced_and_the_rest_stays(written: str, word: str, around: str) -> None:
    if around.startswith("电话") and word == EMAIL and (not written.isascii() or written[0] == '"'):
        return  # without spaces the start of such an address cannot be found
    redacted = redact(around.format(written))

    assert redacted.replace("\u200e", "") == around.format(word)


@pytest.mark.parametrize("around", ["{}", "where is {}", "{} please", "my order is {}."])
@pytest.mark.parametrize("written", [*ORDERS, *OTHERS])
def test_order_numbers_dates_amounts_and_ip_addresses_stay(written: str, around: str) -> None:
    assert redact(around.format(written)) == around.format(written)


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


@pytest.mark.parametrize("unit", ["a", "1", "1 ", "a.", "(", "+", "@", "a@", "DE89", "AB12 ", "1-", " ", '"', "[at]"])
def test_texts_of_the_longest_length_are_redacted_quickly(unit: str) -> None:
    redact(unit * (10_000 // len(unit)))
