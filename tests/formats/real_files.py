"""Files of other formats from public repositories, with the intents and utterances that an import must find.

They lie in the folder `formats` of what `INTENTMATCH_DATA` names, or of `shared/data` beside the checkout, and are not
part of this repository. Sections and numbers are those of the README there, which says how they were counted.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

import pytest
import yaml

FOLDER = Path(os.environ.get("INTENTMATCH_DATA", Path(__file__).parents[3] / "shared" / "data"))


class Real(NamedTuple):
    """A file or folder in the folder of its section, with its expected content."""

    path: str
    intents: int
    utterances: int
    why: str = ""
    """Why the numbers differ from the first ones in the README."""
    columns: Mapping[str, str] = {}
    """The columns of a table that the user has to name."""


ROWS: Mapping[str, list[Real]] = {
    section: [Real(**row) for row in rows]
    for section, rows in yaml.safe_load(Path(__file__).with_suffix(".yaml").read_text(encoding="utf-8")).items()
}
"""Section to its rows, in the order of the README."""


def stated() -> Iterator[tuple[str, str, int, int]]:
    """Return section, path, intents and utterances of each row of the README. Of several numbers, the first counts."""
    section = ""
    for line in (FOLDER / "formats" / "README.md").read_text(encoding="utf-8").splitlines():
        if line.startswith("## "):
            section = line.removeprefix("## ").strip()
        cells = [cell.strip() for cell in re.split(r"(?<!\\)\|", line)][1:-1]
        if len(cells) == 7 and (path := re.fullmatch(r"`([^`]*?)(?:/?\*\.\w+|/? \(\d+ files\))?`", cells[1])):
            folder = cells[0].replace("/", "__")
            intents, utterances = (int((re.findall(r"\d+", cell) or ["0"])[0]) for cell in cells[4:6])
            yield section, f"{folder}/{path[1]}".removesuffix("/."), intents, utterances


needs_files = pytest.mark.skipif(not (FOLDER / "formats").is_dir(), reason=f"needs the real files in {FOLDER}")
