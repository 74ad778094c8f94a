"""The inbox: store messages that were not understood, group them, and turn the groups into edits of the YAML."""

from intentmatch.inbox.edits import ClusterDecision, additions_to_tests, edits_of
from intentmatch.inbox.groups import Cluster, Review, review
from intentmatch.inbox.inbox import Inbox, is_missed
from intentmatch.inbox.kinds import Kind
from intentmatch.inbox.proposals import Action, Proposal
from intentmatch.inbox.store import Handled, Missed

__all__ = [
    "Action",
    "Cluster",
    "ClusterDecision",
    "Handled",
    "Inbox",
    "Kind",
    "Missed",
    "Proposal",
    "Review",
    "additions_to_tests",
    "edits_of",
    "is_missed",
    "review",
]
