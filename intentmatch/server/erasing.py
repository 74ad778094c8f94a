"""Erase messages of users in every place where a bot keeps some."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from intentmatch.core.erasure import Erasure
from intentmatch.core.errors import InputError

if TYPE_CHECKING:
    from intentmatch.authoring.workspace import Workspace
    from intentmatch.dialogue import Store
    from intentmatch.inbox import Inbox
    from intentmatch.server.candidates.records import CandidateStore

_MOST_SEARCHED = 10_000


@dataclass(frozen=True, slots=True)
class Erased:
    """How much was erased in each place."""

    inbox: int = 0
    """Messages."""
    sample: int = 0
    """Answers of the sample of all answers."""
    candidate: int = 0
    """Samples of a candidate."""
    conversations: int = 0
    """Open questions and sessions."""
    audit: int = 0
    """Entries of the audit log that had the words; the entries stay."""
    left: tuple[str, ...] = ()
    """Places that have the words still: names of YAML files, or why a place could not be written."""

    def to_dict(self) -> dict[str, Any]:
        """Return plain JSON values."""
        return {**asdict(self), "left": list(self.left)}


def erase(
    erasure: Erasure,
    *,
    inbox: Inbox | None = None,
    candidates: CandidateStore | None = None,
    workspace: Workspace | None = None,
    store: Store | None = None,
    conversations: tuple[str, ...] = ("",),
) -> Erased:
    """Erase messages in the places that a bot has; None stands for a place that it has not.

    `conversations` are the beginnings of the names that the bot's conversations have in the store, by default any.
    Raises `InputError` if the inbox, the candidate or the store cannot be written: what was erased before is gone.
    """
    if inbox is not None:
        inbox.flush()  # the first message of an inbox may still wait
    messages, answers = (0, 0) if inbox is None or not inbox.has_messages else inbox.erase_all(erasure)
    samples = 0 if candidates is None else candidates.erase(erasure)
    # The protocol `Store` demands put and pop alone, so that a store of an application may lack this.
    search = getattr(store, "erase", None)  # only some stores can be searched
    questions = search(erasure, conversations) if callable(search) else 0
    entries, left = 0, []
    if workspace is not None:
        try:
            # Last, and its failure is no error of the call: everything else is gone by
            # now, which the caller must learn.
            entries = workspace.erase_from_audit(erasure)
        except InputError as error:
            left.append(str(error))
        left += _quoting(workspace, erasure)
    return Erased(messages, answers, samples, questions, entries, tuple(left))


def conversations_of(prefix: str, bot: str | None) -> tuple[str, ...]:
    """Return how the names of a bot's conversations begin; `bot` is its name if it is one of several.

    `prefix` is the path below which the server has `/chat`.
    """
    # In step with the keys that `routes.chat` and `protocols.dialogflow_session` make.
    return ("",) if bot is None else (f"{prefix}/chat ", f"dialogflow projects/{bot}/")


def erase_conversation(
    store: Store, conversation: str, prefixes: Sequence[str], conversations: tuple[str, ...] = ("",)
) -> Erased:
    """Remove what is open in a conversation. `prefixes` are the paths below which servers have `/chat`.

    `conversations` as for `erase`.
    """
    # An author may give the key itself, the session of Dialogflow, or what a client of /chat sends as conversation.
    keys = [conversation, f"dialogflow {conversation}", *(f"{prefix}/chat {conversation}" for prefix in prefixes)]
    return Erased(conversations=sum(store.pop(key) is not None for key in keys if key.startswith(conversations)))


def _quoting(workspace: Workspace, erasure: Erasure) -> list[str]:
    """Return the files that have the words of messages, and `notes of revisions` if one has them."""
    texts = {name: content.decode("utf-8", "replace") for name, content in workspace.files().items()}
    noted = any(erasure.quoted_in(one.note) for one in workspace.revisions(_MOST_SEARCHED))
    return [name for name, text in texts.items() if erasure.quoted_in(text)] + ["notes of revisions"] * noted
