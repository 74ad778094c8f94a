"""What an edit does to the inbox."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

from intentmatch.authoring.operations.inbox_step import settle
from intentmatch.core.types import Intent, Registry, Utterance
from intentmatch.registry.templates.syntax import escape


def registry(*lines: Utterance) -> Registry:
    return Registry((Intent("greet", (Utterance("hello", "en"), *lines)),))


def test_messages_whose_lines_were_escaped_come_back_as_they_were() -> None:
    """A template of several sentences was no message."""
    messages = ["see you", "is there a [gift] card", "what does {name} mean"]
    lines = [Utterance(text, "en", template=None if text == escape(text) else escape(text)) for text in messages]
    more = Utterance("big card", "en", template="(big|small) card")
    given_back: set[str] = set()
    inbox: Any = SimpleNamespace(reopen=given_back.update)
    undone: Any = SimpleNamespace(answers=(), undoes=True)
    changes: Any = SimpleNamespace(before=registry(*lines, more), registry=registry(), edits=())

    assert settle(inbox, undone, changes) == ""
    assert given_back == set(messages)
