"""Places in a text as other programs give them: in units of UTF-16, in parts, and with labels inside of labels."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator

from intentmatch.core.errors import Location
from intentmatch.core.types import Utterance
from intentmatch.formats.kit.draft import Draft, Label


def from_utf16(text: str, offset: int) -> int:
    """A position in UTF-16 units as one in characters; what lies outside of the text stays so."""
    if text.isascii() or offset <= 0:
        return offset
    inside = len(text.encode("utf-16-le", "surrogatepass")[: 2 * offset].decode("utf-16-le", "ignore"))
    return inside if inside < len(text) else len(text) + offset - utf16_length(text)


def utf16_length(text: str) -> int:
    """The length of a text in UTF-16 units."""
    return len(text.encode("utf-16-le", "surrogatepass")) // 2


def innermost(labels: Iterable[Label], place: Location, draft: Draft) -> list[Label]:
    """The labels in their order, without those that hold another one; of labels of the same piece, the first."""
    kept: list[Label] = []
    nearest_end = math.inf
    for label in sorted(labels, key=lambda label: (-label.start, label.end)):
        if nearest_end <= label.end:
            draft.not_expressed(
                place, f"labels of {label.slot!r} contain other labels; only the innermost are imported"
            )
        else:
            kept.append(label)
            nearest_end = label.end
    return kept[::-1]


def parted(line: Utterance) -> Iterator[tuple[str, str | None]]:
    """A line as parts, and of each the slot that it stands for."""
    end = 0
    for mark in line.marks:
        if mark.start > end:
            yield line.text[end : mark.start], None
        yield line.text[mark.start : mark.end], mark.slot
        end = mark.end
    if line.text[end:]:
        yield line.text[end:], None
