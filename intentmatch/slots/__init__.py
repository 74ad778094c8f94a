"""Slots: what a message says beside its intent, found as entities with exact places. One file for each kind of slot."""

from intentmatch.slots.reader import NO_SLOTS, NOTHING, Reading, SlotReader, slot_readers

__all__ = ["NOTHING", "NO_SLOTS", "Reading", "SlotReader", "slot_readers"]
