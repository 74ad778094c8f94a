"""How well the embedded encoder knows a language: figures of its model card, in `measured.json`.

python tests/languages_page.py     # write the file and the table of the guide again
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import cache
from pathlib import Path

FILE = Path(__file__).with_name("measured.json")


@cache
def measured() -> Mapping[str, float]:
    """Return the percentage of sentences whose nearest English sentence is their translation, by language code."""
    return {code: float(value) for code, value in json.loads(FILE.read_text(encoding="utf-8"))["percent"].items()}
