"""Tables: which column is which, quotes, places, and what is left out."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from contracts.format import LAWS, Subject

from intentmatch.formats import delimited, records, spreadsheet

SUBJECTS = [
    Subject(
        delimited.FORMAT, {"faq.csv": 'Question,Intent,Lang\n"hello, you",greet,en\nhallo,greet,de\nbye,leave,en\n'}
    ),
    Subject(spreadsheet.FORMAT),
    Subject(
        records.LINES,
        {"log.jsonl": '{"text": "hello", "intent": "greet", "lang": "en"}\n{"text": "bye", "intent": "b"}\n'},
    ),
    Subject(records.LIST, {"data.json": '{"lang": "en", "sentences": [{"text": "hello", "intent": "greet", "n": 3}]}'}),
    Subject(
        records.PATTERNS,
        {"intents.json": '{"intents": [{"tag": "greet", "patterns": ["hello"], "responses": ["Hi!"], "set": [""]}]}'},
    ),
]


@pytest.mark.parametrize("law", LAWS, ids=lambda law: law.__name__)
@pytest.mark.parametrize("subject", SUBJECTS, ids=str)
def test_obeys(law: Callable[[Subject, Path], None], subject: Subject, tmp_path: Path) -> None:
    """The law holds for the format."""
    law(subject, tmp_path)
