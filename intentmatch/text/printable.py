r"""Show text of others in logs and terminals, without signs that move the cursor, begin a line or reorder what is read.

Such signs are written as Python writes them, such as `\x1b` and `\u202e`. The signs that let right-to-left text stand
beside other text (U+200E, U+200F, U+061C) and joiners stay in terminals: they hide nothing, and languages need them.
"""

from __future__ import annotations

import re

_CONTROLS = r"\x00-\x08\x0b-\x1f\x7f-\x9f"  # all but tab and line feed
_SEPARATORS = r"\u2028\u2029"
_OVERRIDES = r"\u202a-\u202e\u2066-\u2069"
_MARKS = r"\u200e\u200f\u061c"
_SURROGATES = r"\ud800-\udfff"
_UNSAFE = re.compile(f"[{_CONTROLS}{_SEPARATORS}{_OVERRIDES}{_SURROGATES}]")
_UNSAFE_IN_LOGS = re.compile(f"[\t\n{_CONTROLS}{_SEPARATORS}{_OVERRIDES}{_MARKS}{_SURROGATES}]")
_UNSAFE_IN_JSON = re.compile(f"[{_CONTROLS}{_SEPARATORS}{_OVERRIDES}{_MARKS}]")
_CONTINUED = "\n  | "


def shown(text: str) -> str:
    """Return a text for a terminal. Tabs and line feeds stay."""
    return _UNSAFE.sub(_escape, text)


def one_line(text: str) -> str:
    """Return a text as a part of one line of a log or of a table."""
    return _UNSAFE_IN_LOGS.sub(_escape, text)


def continued(text: str) -> str:
    """Return a text of several lines, such as a traceback, so that none but the first looks like a line of its own."""
    return _CONTINUED.join(map(one_line, text.split("\n")))


def shown_json(text: str) -> str:
    """Return JSON for a terminal, with the same meaning."""
    return _UNSAFE_IN_JSON.sub(lambda found: f"\\u{ord(found[0]):04x}", text)


def _escape(found: re.Match[str]) -> str:
    return repr(found[0])[1:-1]
