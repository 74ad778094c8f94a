"""Messages that were not understood: kept, if the user says so, and turned into edits of the intents."""

from intentmatch.inbox.edits import Decision, edits_of
from intentmatch.inbox.inbox import Inbox, is_missed
from intentmatch.inbox.proposals import Action, Cluster, Proposal, Review, review
from intentmatch.inbox.store import Handled, Missed

__all__ = [
    "Action",
    "Cluster",
    "Decision",
    "Handled",
    "Inbox",
    "Missed",
    "Proposal",
    "Review",
    "edits_of",
    "is_missed",
    "review",
]
