"""Conversations over several messages: ask which intent is meant and for missing slots, and understand the answer."""

from intentmatch.dialogue.dialogue import Dialogue
from intentmatch.dialogue.phrases import Phrases
from intentmatch.dialogue.stores import MemoryStore, Store
from intentmatch.dialogue.turns import Choice, Turn

__all__ = ["Choice", "Dialogue", "MemoryStore", "Phrases", "Store", "Turn"]
