"""What changes, drawn as sentences with the old and the new lines; the difference of the files is behind a fold."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from intentmatch.studio.parts import difference, tag, words
from intentmatch.studio.sentences import Sentence

_MOST_SENTENCES = 20
_MOST_LINES = 8


def changes_view(told: Sequence[Sentence], diffs: Mapping[str, str]) -> None:
    """Draw sentences, and the unified diffs of the files by their names."""
    for sentence in told[:_MOST_SENTENCES]:
        _sentence(sentence)
    if (more := len(told) - _MOST_SENTENCES) > 0:
        tag("p", f"… and {more} more", "st-muted st-small")
    with tag("details", classes="st-fold"):
        tag("summary", "Show the lines of the files", "st-small")
        difference("".join(diffs.values()))


def _sentence(sentence: Sentence) -> None:
    with tag("div", classes="st-sentence"):
        words(sentence.says, "st-strong", "p")
        for kind, name, lines in (("del", "Before", sentence.old), ("add", "After", sentence.new)):
            for line in lines[:_MOST_LINES]:
                with tag("p", classes=f"st-change {kind}"):
                    # For screen readers: colour alone says which line is old.
                    tag("span", f"{name}: ", "st-hidden")
                    words(line)
            if len(lines) > _MOST_LINES:
                tag("p", f"… and {len(lines) - _MOST_LINES} more", "st-muted st-small")
