"""Rasa bots of all versions, in and out."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from contracts.format import LAWS, Subject

from intentmatch.formats.rasa import FORMAT
from intentmatch.formats.rasa.marks import plain

NLU = """\
version: "3.1"
nlu:
- intent: greet
  examples: |
    - hello
    - hi [there](place)
- intent: book_flight
  metadata: {team: travel}
  examples:
  - text: |
      from [SF]{"entity": "city", "role": "from", "value": "San Francisco"} to [NYC]{"entity": "city", "role": "to"}
    metadata: {mood: happy}
  - to [Rome](city)
- synonym: New York
  examples: |
    - NYC
- regex: flight
  examples: |
    - [A-Z]{2}[0-9]+
- lookup: airline
  examples: |
    - Lufthansa
"""
DOMAIN = """\
version: "3.1"
intents: [greet, book_flight]
responses:
  utter_greet:
  - text: Hello!
  utter_ask_city:
  - text: Where to?
"""
SUBJECT = Subject(FORMAT, {"data/nlu.yml": NLU, "domain.yml": DOMAIN})


@pytest.mark.parametrize("law", LAWS, ids=lambda law: law.__name__)
def test_obeys(law: Callable[[Subject, Path], None], tmp_path: Path) -> None:
    """The law holds for the format."""
    law(SUBJECT, tmp_path)


@pytest.mark.parametrize(
    ("marked", "text"),
    [
        ("[a](b) and [c]{'entity': 'd'}", "a and c"),
        ("[a](b:c)", "a"),
        ("plain [brackets] (stay)", "plain [brackets] (stay)"),
        ("[](x)", "[](x)"),
    ],
)
def test_entity_marks_are_taken_out(marked, text):
    """And nothing else is."""
    assert plain(marked) == text
