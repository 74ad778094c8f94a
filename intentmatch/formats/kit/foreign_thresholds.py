"""Thresholds that were chosen for the scores of another program."""

from __future__ import annotations

from intentmatch.formats.kit.draft import Draft, IntentDraft
from intentmatch.formats.kit.tree import Value


def take_threshold(
    value: Value, intent: IntentDraft, draft: Draft, *, default: float | None = None, is_distance: bool = False
) -> None:
    """Give an intent a similarity threshold between 0 and 1, or 1 minus a distance, with a warning.

    The default of the other program is skipped, because its author chose nothing.
    """
    threshold = value.number()
    if threshold is None or threshold == default:
        return
    if is_distance:
        # 1 - 0.9 is 0.09999999999999998 in binary.
        threshold = round(1 - threshold, 6)
    if not 0 <= threshold <= 1:
        draft.not_expressed(value.location, f"the threshold {threshold} is not between 0 and 1; it is not imported")
        return
    intent.threshold = threshold
    how = "as 1 minus the distance" if is_distance else "unchanged"
    message = f"thresholds are imported {how}, but they were chosen for the scores of another encoder"
    draft.warn(value.location, "foreign-threshold", message, "find thresholds for this encoder with `intentmatch tune`")
