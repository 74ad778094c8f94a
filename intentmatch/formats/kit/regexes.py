"""Regular expressions of programs in which case may count: ours do not mind it, unless they say so."""

from __future__ import annotations

import re

_MINDING = re.compile(r"\(\?-i:(?P<body>.*)\)", re.DOTALL)


def minding_case(pattern: str) -> str:
    """A pattern in which case counts, as one of ours."""
    return f"(?-i:{pattern})"


def without_case(pattern: str) -> tuple[str, bool]:
    """A pattern of ours as one to which is said, beside it, whether case counts."""
    minding = _MINDING.fullmatch(pattern)
    return (minding["body"], True) if minding and _is_whole(minding["body"]) else (pattern, False)


def _is_whole(body: str) -> bool:
    """Whether each of its brackets belongs to another one in it; those in a class of characters are none."""
    depth = 0
    in_class = False
    signs = iter(body)
    for sign in signs:
        if sign == "\\":
            next(signs, None)
        elif in_class:
            in_class = sign != "]"
        elif sign == "[":
            in_class = True
        else:
            depth += (sign == "(") - (sign == ")")
            if depth < 0:
                return False
    return True
