"""Convert case-sensitive regular expressions: intentmatch ignores case unless a pattern has `(?-i:...)`."""

from __future__ import annotations

import re

_CASE_SENSITIVE = re.compile(r"\(\?-i:(?P<body>.*)\)", re.DOTALL)


def with_case(pattern: str) -> str:
    """Return a case-sensitive pattern in intentmatch's syntax."""
    return f"(?-i:{pattern})"


def split_case_flag(pattern: str) -> tuple[str, bool]:
    """Split an intentmatch pattern into the pattern itself and whether it is case-sensitive."""
    match = _CASE_SENSITIVE.fullmatch(pattern)
    # `(?-i:a)|(?-i:b)` begins and ends like one group, but is two.
    return (match["body"], True) if match and _is_whole(match["body"]) else (pattern, False)


def _is_whole(body: str) -> bool:
    """Return whether all round brackets are balanced. Brackets in character classes do not count."""
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
