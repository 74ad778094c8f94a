"""What `intentmatch languages` shows of figures, and its table in the guide page `languages`, are made from files.

    python tests/languages_page.py     # write `measured.json` and the table again

The figures come from the model card of the embedded encoder, which names the command that measures them.
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

from click.testing import CliRunner

import intentmatch
from intentmatch.cli.commands import cli
from intentmatch.languages.measured import FILE, measured
from intentmatch.text.normalize import base_language

PACKAGE = Path(intentmatch.__file__).parent
CARD = PACKAGE / "encoders" / "multilingual-static" / "README.md"
PAGE = PACKAGE / "guide" / "languages.md"
_TABLE = re.compile(r"(intentmatch languages\n```\n\n<!-- output -->\n```text\n).*?(```)", re.DOTALL)


def figures() -> dict[str, Any]:
    """Return the content of `measured.json`, from the line "Tatoeba" of the card."""
    (line,) = re.findall(r"^- Tatoeba: (.*?)\.\n\n", CARD.read_text(encoding="utf-8"), re.DOTALL | re.MULTILINE)
    percent = {code: float(value) for code, value in re.findall(r"([a-z]+) ([0-9.]+[0-9])", line) if code != "nn"}
    return {
        "what": "Tatoeba: percentage of sentences whose nearest English sentence is their translation",
        "encoder": "multilingual-static, the table without the network",
        "command": "python tests/benchmarks/bench_encoder.py --data FOLDER --retrieval FILE --languages",
        "percent": {base_language(code): value for code, value in sorted(percent.items())},
    }


def page_with_table(page: str) -> str:
    """Return the page with the table as the command prints it."""
    printed = CliRunner().invoke(cli, ["languages"], catch_exceptions=False).stdout.rstrip()
    return _TABLE.sub(lambda found: f"{found[1]}{printed}\n{found[2]}", page, count=1)


if __name__ == "__main__":
    FILE.write_text(json.dumps(figures(), indent=1) + "\n", encoding="utf-8")
    measured.cache_clear()
    PAGE.write_text(page_with_table(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
