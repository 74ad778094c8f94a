"""Amounts of money."""

from __future__ import annotations

import pytest
from slot_helpers import found

from intentmatch.slots.money import MoneyFinder


@pytest.mark.parametrize(
    ("language", "text", "said", "amount", "currency"),
    [
        ("en", "pay $20 now", "$20", 20, "USD"),
        ("en", "it was 3.50 dollars", "3.50 dollars", 3.5, "USD"),
        ("en", "EUR 99.90 please", "EUR 99.90", 99.9, "EUR"),
        ("en", "1,000 EUR", "1,000 EUR", 1000, "EUR"),
        ("en", "two hundred pounds", "two hundred pounds", 200, "GBP"),
        ("en", "5 million yen", "5 million yen", 5_000_000, "JPY"),
        ("en", "5 euros 20 cents", "5 euros 20 cents", 5.2, "EUR"),
        ("en", "5 euros and 20 cents", "5 euros and 20 cents", 5.2, "EUR"),
        ("en-CA", "$20", "$20", 20, "CAD"),
        ("en-AU", "20 dollars", "20 dollars", 20, "AUD"),
        ("fr-CA", "20 dollars américains", "20 dollars américains", 20, "USD"),
        ("en", "20 us dollars", "20 us dollars", 20, "USD"),
        ("de", "1.234,50 € bitte", "1.234,50 €", 1234.5, "EUR"),
        ("de", "fünfzig Franken", "fünfzig Franken", 50, "CHF"),
        ("fr", "1 234,50 €", "1 234,50 €", 1234.5, "EUR"),
        ("fr", "20 francs suisses", "20 francs suisses", 20, "CHF"),
        ("es", "veinte euros", "veinte euros", 20, "EUR"),
        ("es-AR", "300 pesos", "300 pesos", 300, "ARS"),
        ("es", "300 pesos", "300 pesos", 300, "MXN"),
        ("it", "cento sterline", "cento sterline", 100, "GBP"),
        ("pt", "R$ 15,90", "R$ 15,90", 15.9, "BRL"),
        ("pt", "quinze reais", "quinze reais", 15, "BRL"),
        ("nl", "20 euro's", "20 euro's", 20, "EUR"),
        ("pl", "50 złotych", "50 złotych", 50, "PLN"),
        ("ru", "пятьсот рублей", "пятьсот рублей", 500, "RUB"),
        ("ru", "1000₽", "1000₽", 1000, "RUB"),
        ("tr", "yirmi lira", "yirmi lira", 20, "TRY"),
        ("ar", "٥٠ دولار", "٥٠ دولار", 50, "USD"),
        ("fa", "۵۰ یورو", "۵۰ یورو", 50, "EUR"),
        ("zh", "付五十元", "五十元", 50, "CNY"),
        ("zh", "¥30", "¥30", 30, "CNY"),
        ("ja", "¥300", "¥300", 300, "JPY"),
        ("ja", "千円です", "千円", 1000, "JPY"),
        ("sv", "20 kr", "20 kr", 20, "SEK"),
        ("tlh", "USD 5", "USD 5", 5, "USD"),
    ],
)
def test_amount_and_currency_are_found(language, text, said, amount, currency):
    assert found(MoneyFinder(), text, language) == {said: {"amount": amount, "currency": currency}}


@pytest.mark.parametrize(
    ("language", "text"),
    [
        ("en", "20 tickets"),
        ("en", "2 try"),
        ("en", "the pound fell"),
        ("de", "$"),
        ("zh", "三明治"),
    ],
)
def test_other_numbers_and_lone_currencies_are_no_money(language, text):
    assert found(MoneyFinder(), text, language) == {}


@pytest.mark.parametrize(
    ("language", "text", "amount", "currency"),
    [
        ("de", "3€50", 3.5, "EUR"),
        ("en", "twelve euros fifty", 12.5, "EUR"),
        ("es", "20 euros con 50", 20.5, "EUR"),
        ("zh", "三块五", 3.5, "CNY"),
        ("de", "50 Cent", 0.5, "EUR"),
        ("en", "50p", 0.5, "GBP"),
        ("en", "-$20", -20, "USD"),
        ("ja", "1億2000万円", 120_000_000, "JPY"),
        ("ko", "5만원", 50_000, "KRW"),
        ("vi", "500.000 đồng", 500_000, "VND"),
        ("de", "12,- €", 12, "EUR"),
    ],
)
def test_cents_scales_and_signs_belong_to_the_amount(language, text, amount, currency):
    assert found(MoneyFinder(), text, language) == {text: {"amount": amount, "currency": currency}}


def test_a_number_that_counts_something_is_no_cents():
    assert list(found(MoneyFinder(), "5 euros 20 people", "en").values()) == [{"amount": 5, "currency": "EUR"}]
