"""Extract slot values from messages as entities with exact spans. Each kind of slot has a module of its own."""

from intentmatch.slots.reader import Reading, SlotReader, slot_readers

__all__ = ["Reading", "SlotReader", "slot_readers"]
