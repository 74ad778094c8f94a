"""Messages that were not understood: kept, if the user says so, and turned into edits of the intents."""

from intentmatch.inbox.inbox import Inbox, is_missed
from intentmatch.inbox.proposals import Cluster, Proposal, Review, review
from intentmatch.inbox.store import Missed

__all__ = ["Cluster", "Inbox", "Missed", "Proposal", "Review", "is_missed", "review"]
