"""Cut-offs from which on two utterances count as the same line, one for each use.

Near-duplicates on both sides of a split would answer for each other, as no message of a user will.
"""

from __future__ import annotations

SAME_BUT_FOR_SPELLING = 0.985
"""Cosine similarity above which cross-validation holds two utterances of one intent out together."""

SAME_MEANING = 0.97
"""Cosine similarity above which evaluation puts two utterances into one fold."""

SAME_SPELLING = 0.9
"""Normalised edit similarity above which evaluation puts two utterances into one fold."""

SAME_TEXT = 0.9999
"""Cosine similarity above which lint takes two lines for the same text: a rule of its own reports them."""
