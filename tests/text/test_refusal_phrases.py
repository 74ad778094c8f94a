"""Phrases that refuse the request beside them are found and left out, by language."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml

from intentmatch.text.refusals import refusal

MESSAGES = yaml.safe_load(Path(__file__).with_name("refusal_phrases.yaml").read_text(encoding="utf-8"))


@pytest.mark.parametrize(("language", "text", "without"), MESSAGES["refused"])
def test_phrase_is_left_out(language: str, text: str, without: str) -> None:
    found = refusal(text, language)

    assert found is not None
    assert found.without == without


@pytest.mark.parametrize(("language", "text", "without"), MESSAGES["declined behind it"])
def test_request_that_is_declined_behind_it_is_refused(language: str, text: str, without: str) -> None:
    found = refusal(text, language)

    assert found is not None
    assert found.without == without


@pytest.mark.parametrize(("language", "text"), MESSAGES["not refused"])
def test_what_describes_a_problem_has_no_phrase(language: str, text: str) -> None:
    assert refusal(text, language) is None
