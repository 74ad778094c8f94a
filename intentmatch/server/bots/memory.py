"""Memory of a matcher: the objects it references, without the models that it may share."""

from __future__ import annotations

import gc
import sys
from types import BuiltinFunctionType, FunctionType, MethodType, ModuleType
from typing import Any

import numpy as np

from intentmatch.matching.matcher import Matcher

# References to these lead out of the matcher, to objects that exist anyway.
_OUTSIDE = (type, ModuleType, FunctionType, BuiltinFunctionType, MethodType)


def own_bytes(matcher: Matcher) -> int:
    """Estimate the bytes of a matcher, without its encoder and reranker.

    Objects that others reference too, such as interned strings, count as the matcher's own. Memory outside Python
    objects does not count.
    """
    seen = {id(matcher.encoder), id(matcher.reranker)}
    waiting: list[Any] = [matcher]
    total = 0
    while waiting:
        found = waiting.pop()
        if id(found) in seen or isinstance(found, _OUTSIDE):
            continue
        seen.add(id(found))
        total += sys.getsizeof(found)
        # The garbage collector does not see the array that a view belongs to.
        waiting += [found.base] if isinstance(found, np.ndarray) else gc.get_referents(found)
    return total
