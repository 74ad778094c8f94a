from __future__ import annotations

import pytest

from intentmatch import Matcher
from intentmatch.reading.missing_accents import MissingAccents

LINES = {
    "pl": ["chcę zwrócić buty", "chcę wymienić buty", "czy on chce zwrotu", "mogę zmienić zamówienie", "żółta łódź"],
    "fr": ["où est ma commande", "créer un compte", "déjà payé", "j'ai été débité", "la facture ou le reçu"],
    "en": ["where is my order", "email the café", "resume the show", "my résumé", "send a résumé"],
    "de": ["wie kann ich drücken", "Knopf drücken", "Tür schließen", "schöne Grüße"],
    "vi": ["đặt bàn", "bạn ơi", "bán vé", "thời tiết hôm nay", "thời gian"],
}
BY = MissingAccents(
    [line for lines in LINES.values() for line in lines], [code for code, lines in LINES.items() for _ in lines]
)


def restored(message: str, language: str | None) -> str:
    words = message.split()
    for place, word in BY.restored(words, language).items():
        words[place] = word
    return " ".join(words)


@pytest.mark.parametrize(
    ("typed", "language", "meant"),
    [
        ("chce zwrocic buty", "pl", "chcę zwrócić buty"),
        ("chce zwrocic buty", "pl-PL", "chcę zwrócić buty"),
        ("deja paye", "fr", "déjà payé"),
        ("knopf drucken schoene grusse", "de", "knopf drücken schöne grusse"),
        # The registry has none of these words, the tokenizer has them whole.
        ("szybko prosze", "pl", "szybko proszę"),
        ("espace a reinitialiser", "fr", "espace a réinitialiser"),
    ],
)
def test_accents_are_restored_by_the_registry_and_by_the_words_of_the_language(typed, language, meant):
    assert restored(typed, language) == meant


@pytest.mark.parametrize(
    ("typed", "language"),
    [
        ("chcę zwrocic buty", "pl"),  # with one accent, its writer types accents
        ("ma commande", "fr"),
        ("chce zwrocic buty", "en"),
        ("chce zwrocic buty", None),
        ("ou", "fr"),  # as frequent as "où"
        ("resume the cafes", "en"),  # a word that is as common without accents
        ("drucken", "de"),  # another word
        ("ban", "vi"),  # one of three
        ("zz zwrocicxq 12a", "pl"),
    ],
)
def test_other_words_stay_as_they_are_typed(typed, language):
    assert restored(typed, language) == typed


def test_words_are_kept_for_so_many_languages_at_most():
    """Callers may name any language, and lines without a language count for each."""
    by = MissingAccents(["chcę zwrócić buty"], [None])
    for number in range(100):
        by.restored(["buty"], f"q{chr(97 + number // 26)}{chr(97 + number % 26)}")

    assert by._language.cache_info().currsize == 64


def test_message_without_accents_matches_as_it_is_meant(tmp_path):
    file = tmp_path / "shop.yaml"
    file.write_text(
        """
        version: 1
        intents:
          return: {utterances: {pl: [chcę zwrócić buty, zwrot kurtki poproszę, jak mogę zwrócić towar?]}}
          pay: {utterances: {pl: [jak mogę zapłacić?, płatność kartą, chcę zapłacić gotówką]}}
        """,
        encoding="utf-8",
    )
    matcher = Matcher.load(file, cache="off")

    result = matcher.match("chce zwrocic spodnie", language="pl")

    assert result.intent == "return"
    assert 'read "chce" as "chcę", "zwrocic" as "zwrócić"' in [stage.says for stage in result.trace.stages]
    assert result.message == "chce zwrocic spodnie"
