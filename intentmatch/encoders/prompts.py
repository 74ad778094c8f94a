"""The texts that well-known models were trained to see before every text."""

from __future__ import annotations

import re
from pathlib import Path

# e5 models were trained with these prefixes and lose several points without, but do not say so in their files.
# For telling short texts apart by meaning their authors advise "query: " on both sides.
_E5 = re.compile(r"(^|/)(multilingual-)?e5-(small|base|large)(-v2)?/?$")


def usual_prompts(model: str) -> dict[str, str]:
    """By the name or folder of a model; empty texts for one that is not known here."""
    prompt = "query: " if _E5.search(Path(model).as_posix()) else ""
    return {"utterance": prompt, "query": prompt}
