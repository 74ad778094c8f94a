"""Default prompts (text prefixes) of well-known models."""

from __future__ import annotations

import re
from pathlib import Path

# e5 models were trained with prefixes and lose several points of accuracy without them, but their files do not say so.
# For comparing short texts their authors recommend "query: " on both sides.
_E5 = re.compile(r"(^|/)(multilingual-)?e5-(small|base|large)(-v2)?/?$")


def usual_prompts(model: str) -> dict[str, str]:
    """Return the prompt for each kind of text, by the name or folder of a model; "" for unknown models."""
    prompt = "query: " if _E5.search(Path(model).as_posix()) else ""
    return {"utterance": prompt, "query": prompt}
