"""Compile regular expressions written by authors, with the package `regex` and a limit on their size.

`regex` accepts the syntax of Python's own module, and its searches can time out.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import regex

MOST_LETTERS = 100_000
"""Largest size of an expression with its repetitions written out. Compiling takes time and memory in proportion."""

_TOKEN = re.compile(r"\\.|\[\^?\]?(?:\\.|[^\]\\])*\]|\{(?P<least>[0-9]{1,9})(?:,(?P<most>[0-9]{0,9}))?\}|.", re.DOTALL)


class ExpressionError(ValueError):
    """A regular expression is invalid or too large. `position` is the character where it fails, from 0."""

    def __init__(self, why: str, position: int = 0) -> None:
        self.position = position
        super().__init__(why)


def compiled(expression: str) -> regex.Pattern[str]:
    """Compile an expression that ignores case, except inside `(?-i:...)`. Raises `ExpressionError` if it is invalid."""
    import regex  # slow to import, and few registries have patterns

    if (size := _size(expression)) > MOST_LETTERS:
        raise ExpressionError(
            f"with its repetitions written out it has {size:,} characters; at most {MOST_LETTERS:,} are allowed"
        )
    try:
        # VERSION0 reads an expression as Python's own module does; VERSION1 gives some signs another meaning.
        return regex.compile(expression, regex.IGNORECASE | regex.VERSION0)
    except regex.error as error:
        raise ExpressionError(str(getattr(error, "msg", error)), getattr(error, "pos", None) or 0) from None
    except (ValueError, OverflowError) as error:
        raise ExpressionError(str(error)) from None
    except RecursionError:
        raise ExpressionError("it is nested too deeply") from None


def _size(expression: str) -> int:
    """Estimate the number of characters of an expression after its counted repetitions are written out."""
    sizes, last = [0], 0
    for token in _TOKEN.finditer(expression):
        if token["least"] is not None:
            # `regex` writes counted repetitions out when it compiles: "((a{99}){99}){99}" takes a million letters.
            sizes[-1] += last * (max(int(token["most"] or token["least"]), 1) - 1)
            continue
        last = 1
        if token[0] == "(":
            sizes.append(0)
        elif token[0] == ")" and len(sizes) > 1:
            last = sizes.pop()
            sizes[-1] += last
        else:
            sizes[-1] += 1
    return sum(sizes)
