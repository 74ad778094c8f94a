"""Talking to one user over several messages: which intent is meant, and what is still missing for it."""

from intentmatch.dialogue.dialogue import Dialogue
from intentmatch.dialogue.phrases import Phrases
from intentmatch.dialogue.stores import MemoryStore, Store
from intentmatch.dialogue.turns import Choice, Turn

__all__ = ["Choice", "Dialogue", "MemoryStore", "Phrases", "Store", "Turn"]
