"""Messages that were not understood: kept, if the user says so, and turned into edits of the intents."""

from intentmatch.inbox.inbox import Inbox, is_missed
from intentmatch.inbox.store import Missed

__all__ = ["Inbox", "Missed", "is_missed"]
