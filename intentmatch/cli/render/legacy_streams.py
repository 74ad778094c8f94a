"""Print any text to a pipe or terminal whose encoding is a legacy code page, such as cp1252 on Windows."""

from __future__ import annotations

import codecs
import io
import sys

_ERRORS = "intentmatch.escape"


def escape_unencodable() -> None:
    """Have standard output write the characters that its encoding lacks as in JSON: `\\u2192` for an arrow."""
    codecs.register_error(_ERRORS, _escaped)
    stream = sys.stdout
    # Whoever has set PYTHONIOENCODING has chosen what becomes of such characters.
    if isinstance(stream, io.TextIOWrapper) and stream.errors == "strict":
        stream.reconfigure(errors=_ERRORS)


def _escaped(error: UnicodeError) -> tuple[str, int]:
    if not isinstance(error, UnicodeEncodeError):
        raise error
    # In units of UTF-16, as JSON has them, so that an emoji can be read back.
    units = error.object[error.start : error.end].encode("utf-16-be", "surrogatepass")
    return "".join(f"\\u{units[at : at + 2].hex()}" for at in range(0, len(units), 2)), error.end
