"""Exports of many registries as .lu files, with what our own reader finds in each."""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1]))
sys.path.insert(0, str(Path(__file__).parents[1] / "formats"))

from contracts.format import FEATURES, TEXTS, registry
from real_files import FOLDER, ROWS

from intentmatch import Registry, formats
from intentmatch.core.errors import IntentMatchError
from intentmatch.formats.kit.unroll import is_template
from intentmatch.registry import read_registry

ROOT = Path(__file__).parents[2]


def registries() -> Iterator[tuple[str, Registry]]:
    """The shipped intents, the starters, what the contract of a format tries, and real files where they are."""
    yield "intents", read_registry(ROOT / "intents", expand=False)
    for file in sorted((ROOT / "intentmatch" / "registry" / "starters").glob("*.yaml")):
        yield file.stem, read_registry(file, expand=False)
    yield "texts", registry(*TEXTS)
    yield from FEATURES.items()
    for section, rows in ROWS.items():
        for row in rows:
            try:
                found = formats.read(FOLDER / "formats" / section / row.path, columns=row.columns)
            except IntentMatchError:
                continue  # the file is not here, or is one that nobody can read
            if len(found.registry):
                yield f"{section}/{row.path}", found.registry


def pages() -> Iterator[dict[str, Any]]:
    """The name and text of each exported file, its utterances, and how many different patterns it has."""
    with tempfile.TemporaryDirectory() as temporary:
        for name, found in registries():
            for path, text in formats.render(found, "lu")[0].items():
                file = Path(temporary, path)
                file.write_bytes(text.encode() if isinstance(text, str) else text)
                lines = formats.read(file, "lu").registry.utterances
                utterances = {line.text for line in lines if not is_template(line)}
                # The parser drops a pattern that reads like an utterance.
                patterns = {line.text for line in lines if is_template(line)} - utterances
                yield {
                    "name": f"{name}/{path}",
                    "text": file.read_text(encoding="utf-8"),
                    "utterances": sorted(utterances),
                    "patterns": len(patterns),
                }
                file.unlink()
