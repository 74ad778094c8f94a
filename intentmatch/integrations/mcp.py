"""A registry as the tools of agents, over the Model Context Protocol: what the command `intentmatch mcp` runs."""

from __future__ import annotations

import hashlib
import inspect
import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Annotated, Any

from intentmatch import (
    Intent,
    IntentMatchError,
    Matcher,
    MissingExtraError,
    RegistryError,
    Utterance,
    __version__,
    plan_utterances,
)
from intentmatch.integrations.routes import check_intents

try:
    from mcp.server import MCPServer
    from mcp.server.mcpserver.exceptions import ToolError
    from mcp.types import ToolAnnotations
    from pydantic import Field
except ImportError as error:  # there are older releases, with another server
    raise MissingExtraError("The server for agents", "mcp") from error

_READS = ToolAnnotations(read_only_hint=True, open_world_hint=False)
_ADDS = ToolAnnotations(read_only_hint=False, destructive_hint=False, open_world_hint=False)
_ABOUT = (
    "Tells which intent of a chatbot a user's message means, and shows the intents with the utterances that their "
    "author wrote as examples of what users say."
)

_Language = Annotated[str | None, Field(description="BCP-47 code, such as en, pt-BR or zh-Hant.")]


def intent_server(matcher: Matcher, *, editable: str | os.PathLike[str] | None = None) -> MCPServer:
    """A server with tools to match messages and to look at intents; `run()` speaks on standard input and output.

    With `editable`, the path of the YAML that the matcher was loaded from, agents may add to it.
    """
    server = MCPServer("intentmatch", version=__version__, instructions=_ABOUT, log_level="WARNING")
    looks = _Looks(matcher)
    for look in (looks.match_intent, looks.list_intents, looks.show_intent):
        server.add_tool(look, description=inspect.getdoc(look), annotations=_READS)
    if editable is not None:
        add = _Edits(matcher, editable).add_utterances
        server.add_tool(add, description=inspect.getdoc(add), annotations=_ADDS)
    return server


# The methods below are what agents may call, by their names and told by their docstrings. Each runs in a worker thread.


class _Looks:
    """Tools that change nothing."""

    def __init__(self, matcher: Matcher) -> None:
        self._matcher = matcher

    def match_intent(
        self,
        message: Annotated[str, Field(description="What the user said, unchanged.")],
        language: _Language = None,
        context: Annotated[list[str] | None, Field(description="Active tags, for intents with `when`.")] = None,
    ) -> dict[str, Any]:
        """Which intent a user's message means, with the values of its slots.

        The verdict is "matched", "ambiguous" (the user should be asked which of the rivals is meant) or "out_of_scope".
        The confidence is a probability, the score is none. The explanation says what decided, and by which line.
        """
        with _told():
            result = self._matcher.match(message, language=language, context=context or ())
        answer = result.to_dict()
        del answer["trace"]
        return {**answer, "explanation": result.explain()}

    def list_intents(self) -> dict[str, Any]:
        """All intents: what they are for, in which languages, and where they stand."""
        registry = self._matcher.registry
        return {"languages": list(registry.languages), "intents": [_summary(intent) for intent in registry]}

    def show_intent(self, name: Annotated[str, Field(description="As in list_intents.")]) -> dict[str, Any]:
        """All of one intent: utterances, what it is not, slots and responses."""
        registry = self._matcher.registry
        with _told():
            check_intents(registry, [name])
        intent = registry[name]
        return {
            **_summary(intent),
            "utterances": _lines(intent.utterances),
            "not": _lines(intent.negatives),
            "slots": [{"name": slot.name, "kind": slot.kind, "required": slot.required} for slot in intent.slots],
            "responses": dict(intent.responses),
        }


class _Edits:
    """Tools that change the YAML."""

    def __init__(self, matcher: Matcher, path: str | os.PathLike[str]) -> None:
        self._matcher = matcher
        self._path = path

    def add_utterances(
        self,
        intent: Annotated[str, Field(description="Name of the intent, as in list_intents, or of a new one.")],
        utterances: Annotated[list[str], Field(description="What users say, to the letter.", min_length=1)],
        *,
        language: _Language = None,
        new: Annotated[bool, Field(description="To begin an intent that is not there yet.")] = False,
        file: Annotated[str | None, Field(description="A .yaml file for a new intent, if there are several.")] = None,
        negative: Annotated[bool, Field(description="They look like this intent and are not.")] = False,
        confirm: Annotated[str | None, Field(description="What the preview of this very call returned.")] = None,
    ) -> dict[str, Any]:
        """Add utterances to an intent, in two steps.

        Without `confirm` nothing is written: the answer is the change as a diff, warnings about it, and what to give as
        `confirm`. The same call with it writes the change, unless it would no longer be the one that was shown, and
        the new utterances are matched from then on.
        """
        with _told():
            changes = plan_utterances(
                self._path, intent, utterances, language=language, new=new, file=file, negative=negative
            )
            if changes.errors:
                raise RegistryError(changes.errors)
        shown = hashlib.sha256(f"{changes.diff}{changes.registry.fingerprint}".encode()).hexdigest()[:12]
        if confirm not in (None, shown):
            raise ToolError(f"Nothing is written: {confirm!r} confirms another change than this:\n{changes.diff}")
        if confirm is not None:
            with _told():
                changes.write()
            with _told("It is written, but the intents from before go on answering: "):
                self._matcher.reload()
        return {
            "written": confirm is not None,
            "diff": changes.diff,
            "warnings": [str(problem) for problem in changes.brought],
            "confirm": shown,
        }


@contextmanager
def _told(before: str = "") -> Iterator[None]:
    """Tells the agent what is wrong, and where: an error of any other kind it would not get to see."""
    try:
        yield
    except IntentMatchError as error:
        raise ToolError(f"{before}{error}") from error


def _summary(intent: Intent) -> dict[str, Any]:
    return {
        "name": intent.name,
        "title": intent.title,
        "description": intent.description,
        "languages": sorted({utterance.language for utterance in intent.utterances if utterance.language}),
        "location": str(intent.location) if intent.location else None,
    }


def _lines(utterances: tuple[Utterance, ...]) -> list[dict[str, str | None]]:
    """What the author wrote; a template once, not every sentence that it stands for."""
    lines = dict.fromkeys((one.template or one.text, one.language, one.location) for one in utterances)
    return [
        {"text": text, "language": language, "location": str(location) if location else None}
        for text, language, location in lines
    ]
