"""From a message's vector to a score for every intent."""

from intentmatch.index.exact import ExactIndex

__all__ = ["ExactIndex"]
