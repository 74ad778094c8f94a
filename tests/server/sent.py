"""Results as a server sends them."""

from __future__ import annotations

import json
from typing import Any

from intentmatch import Matcher
from intentmatch.core.result import MatchResult


def as_sent(result: MatchResult, matcher: Matcher) -> dict[str, Any]:
    """Return a result as JSON values that name files from the folder of the bot."""
    assert matcher.path is not None
    values: dict[str, Any] = json.loads(json.dumps(result.to_dict()).replace(f"{matcher.path}/", ""))
    return values
