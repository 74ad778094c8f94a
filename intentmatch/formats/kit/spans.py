"""Convert the spans of other programs: UTF-16 offsets, texts in parts, and nested labels."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator

from intentmatch.core.errors import Location
from intentmatch.core.types import Utterance
from intentmatch.formats.kit.draft import Draft, Label


def from_utf16(text: str, offset: int) -> int:
    """Convert an offset in UTF-16 units to one in characters. An offset outside of the text stays outside."""
    if text.isascii() or offset <= 0:
        return offset
    # An offset within a surrogate pair leaves half of it, which `ignore` drops.
    inside = len(text.encode("utf-16-le", "surrogatepass")[: 2 * offset].decode("utf-16-le", "ignore"))
    return inside if inside < len(text) else len(text) + offset - utf16_length(text)


def utf16_length(text: str) -> int:
    """Return the length of a text in UTF-16 units."""
    return len(text.encode("utf-16-le", "surrogatepass")) // 2


def innermost(labels: Iterable[Label], place: Location, draft: Draft) -> list[Label]:
    """Return the labels that contain no other label, in order. Of labels of the same span, the first is kept."""
    kept: list[Label] = []
    nearest_end = math.inf
    # From the right: a label that ends after the nearest end so far contains another one.
    for label in sorted(labels, key=lambda label: (-label.start, label.end)):
        if nearest_end <= label.end:
            draft.not_expressed(
                place, f"labels of {label.slot!r} contain other labels; only the innermost are imported"
            )
        else:
            kept.append(label)
            nearest_end = label.end
    return kept[::-1]


def split_at_marks(line: Utterance) -> Iterator[tuple[str, str | None]]:
    """Split an utterance at its marks. Yields each part with its slot, or None."""
    end = 0
    for mark in line.marks:
        if mark.start > end:
            yield line.text[end : mark.start], None
        yield line.text[mark.start : mark.end], mark.slot
        end = mark.end
    if line.text[end:]:
        yield line.text[end:], None
