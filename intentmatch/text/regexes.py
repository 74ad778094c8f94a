"""Regular expressions that authors write: read by the package `regex`, and never more than can be compiled at once.

That package reads what Python's own module does, and its searches can be told when to give up.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import regex

MOST_LETTERS = 100_000
"""That an expression may come to: compiling one takes time and memory in proportion."""

_TOKEN = re.compile(r"\\.|\[\^?\]?(?:\\.|[^\]\\])*\]|\{(?P<least>[0-9]{1,9})(?:,(?P<most>[0-9]{0,9}))?\}|.", re.DOTALL)


class ExpressionError(ValueError):
    """A text is no regular expression that can be used; says why, and at which character."""

    def __init__(self, why: str, position: int = 0) -> None:
        self.position = position
        super().__init__(why)


def compiled(expression: str) -> regex.Pattern[str]:
    """The expression, in which case makes no difference but where it says `(?-i:...)`. Raises `ExpressionError`."""
    import regex  # takes longer than the rest of a start, and few registries have patterns

    if (size := _size(expression)) > MOST_LETTERS:
        raise ExpressionError(f"its repetitions come to {size:,} letters, and {MOST_LETTERS:,} are the most")
    try:
        return regex.compile(expression, regex.IGNORECASE | regex.VERSION0)
    except regex.error as error:
        raise ExpressionError(str(getattr(error, "msg", error)), getattr(error, "pos", None) or 0) from None
    except (ValueError, OverflowError) as error:
        raise ExpressionError(str(error)) from None
    except RecursionError:
        raise ExpressionError("it is nested too deeply") from None


def _size(expression: str) -> int:
    """About how many letters it stands for once its counted repetitions are written out, as compiling does."""
    sizes, last = [0], 0
    for token in _TOKEN.finditer(expression):
        if token["least"] is not None:
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
