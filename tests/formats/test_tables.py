"""Tables: which column is which, quotes, places, and what is left out."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from contracts.format import LAWS, Subject

from intentmatch.formats.tables import CSV, JSONL

SUBJECTS = [
    Subject(CSV, {"faq.csv": 'Question,Intent,Lang\n"hello, you",greet,en\nhallo,greet,de\nbye,leave,en\n'}),
    Subject(
        JSONL, {"log.jsonl": '{"text": "hello", "intent": "greet", "lang": "en"}\n{"text": "bye", "intent": "b"}\n'}
    ),
]


@pytest.mark.parametrize("law", LAWS, ids=lambda law: law.__name__)
@pytest.mark.parametrize("subject", SUBJECTS, ids=str)
def test_obeys(law: Callable[[Subject, Path], None], subject: Subject, tmp_path: Path) -> None:
    """The law holds for the format."""
    law(subject, tmp_path)
