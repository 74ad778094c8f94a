"""Extract slot values from messages as entities with exact spans. Each kind of slot has a module of its own."""

from intentmatch.slots.reader import SlotReader, SlotValues, slot_readers

__all__ = ["SlotReader", "SlotValues", "slot_readers"]
