"""How much memory a matcher takes: what is found by following its references, without the models it may share."""

from __future__ import annotations

import gc
import sys
from types import BuiltinFunctionType, FunctionType, MethodType, ModuleType
from typing import Any

import numpy as np

from intentmatch.matching.matcher import Matcher

# What leads out of a matcher, to what is there anyway.
_ELSEWHERE = (type, ModuleType, FunctionType, BuiltinFunctionType, MethodType)


def own_bytes(matcher: Matcher) -> int:
    """Bytes of a matcher, beside its encoder and reranker.

    What others would hold too, such as short texts that Python keeps once, is counted as the matcher's own; what its
    objects hold outside of Python is not seen.
    """
    seen = {id(matcher.encoder), id(matcher.reranker)}
    waiting: list[Any] = [matcher]
    total = 0
    while waiting:
        found = waiting.pop()
        if id(found) in seen or isinstance(found, _ELSEWHERE):
            continue
        seen.add(id(found))
        total += sys.getsizeof(found)
        # Arrays do not tell the collector what they are a view of.
        waiting += [found.base] if isinstance(found, np.ndarray) else gc.get_referents(found)
    return total
