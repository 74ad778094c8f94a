"""Slots: what a message says beside its intent, found as entities with exact places. One file for each kind of slot."""

from intentmatch.slots.reader import Reading, SlotReader, slot_readers

__all__ = ["Reading", "SlotReader", "slot_readers"]
