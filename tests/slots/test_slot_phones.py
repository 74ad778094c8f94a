"""Telephone numbers."""

from __future__ import annotations

import pytest
from slot_helpers import found

from intentmatch.slots.phones import PhoneFinder


@pytest.mark.parametrize(
    ("text", "said", "value"),
    [
        ("call +44 20 7946 0958!", "+44 20 7946 0958", "+442079460958"),
        ("(020) 7946 0123", "(020) 7946 0123", "02079460123"),
        ("555-123-4567", "555-123-4567", "5551234567"),
        ("+49 (0)30 901820", "+49 (0)30 901820", "+4930901820"),
        ("0049 30 901820", "0049 30 901820", "+4930901820"),
        ("040/123 45 67", "040/123 45 67", "0401234567"),
        ("06.12.34.56.78", "06.12.34.56.78", "0612345678"),
        ("tel 030 901820 ext. 12", "030 901820 ext. 12", "030901820;ext=12"),
        ("13812345678", "13812345678", "13812345678"),
        ("电话13812345678。", "13812345678", "13812345678"),
        ("٠١٢٣٤٥٦٧٨٩", "٠١٢٣٤٥٦٧٨٩", "0123456789"),
    ],
)
def test_telephone_number_is_found_as_digits(text, said, value):
    assert found(PhoneFinder(), text) == {said: value}


@pytest.mark.parametrize(
    "text",
    [
        "12345",
        "2026-11-22",
        "22.11.2026",
        "1.234.567",
        "12345678",
        "order AB1234567890",
        "18:30",
        "1" * 30,
        "a@1234567890.de",
    ],
)
def test_dates_amounts_and_codes_are_no_telephone_numbers(text):
    assert found(PhoneFinder(), text) == {}


@pytest.mark.parametrize(
    "text",
    [
        "192.168.100.200",
        "my ip is 10.0.0.255",
        "version 1.2.3.4567",
        "ISBN 978-3-16-148410-0",
        "978-3-16-148410-0",
        "48.8566 2.3522",
        "2024-2025-2026",
        "12.345.678-9",
        "order number: 1545-0008",
        "Kundennummer 123456789",
    ],
)
def test_codes_and_addresses_of_machines_are_no_telephone_numbers(text):
    assert found(PhoneFinder(), text) == {}


@pytest.mark.parametrize("text", ["tel:+442079460958", "call+442079460958", "Tel.:+44 20 7946 0958"])
def test_a_number_may_touch_the_word_before_it(text):
    assert list(found(PhoneFinder(), text).values()) == ["+442079460958"]
