"""Everyday out-of-scope messages in ten languages, for measuring how many of them a bot accepts.

They are what people write to any bot although it is none of the bot's business: weather, politics, feelings, recipes,
other companies, and questions near a shop's own. An author whose bot does answer some of them should not count those.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from functools import cache
from pathlib import Path
from typing import Literal

import yaml

from intentmatch.core.types import Case
from intentmatch.text.normalize import base_language

Half = Literal["development", "kept", "all"]
"""Which messages: those that choices may be made on, those kept aside for measuring, or both."""

# The list has two messages of each kind in turn, so that each half has all kinds.
_EVERY_SECOND: Mapping[Half, slice] = {"development": slice(0, None, 2), "kept": slice(1, None, 2), "all": slice(None)}


def everyday_messages(languages: Collection[str] | None = None, half: Half = "all") -> tuple[Case, ...]:
    """Return the everyday out-of-scope messages in some languages, or in all ten, in the order of the list.

    `languages` are BCP-47 codes; regions and scripts are ignored, and languages that the list lacks add nothing.
    """
    wanted = None if languages is None else {base_language(code) for code in languages}
    return tuple(
        Case(text, None, language)
        for language, texts in _listed().items()
        if wanted is None or language in wanted
        for text in texts[_EVERY_SECOND[half]]
    )


@cache
def _listed() -> Mapping[str, tuple[str, ...]]:
    """Return the messages of the list by language code."""
    file = Path(__file__).with_name("lists") / "everyday.yaml"
    return {code: tuple(texts) for code, texts in yaml.safe_load(file.read_text(encoding="utf-8")).items()}
