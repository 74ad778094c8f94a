"""Tools for agents over the Model Context Protocol, to match messages and edit intents; runs in `intentmatch mcp`."""

from __future__ import annotations

import hashlib
import inspect
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any

from intentmatch import (
    Intent,
    IntentMatchError,
    Matcher,
    MissingExtraError,
    RegistryError,
    Utterance,
    __version__,
)
from intentmatch.authoring.operations.local import write_confirmed
from intentmatch.authoring.operations.operation import Operation
from intentmatch.authoring.read_limits import limits_of
from intentmatch.authoring.workspace import Workspace
from intentmatch.integrations.routes import check_intents
from intentmatch.registry.editing.edits import additions

try:
    from mcp.server import MCPServer
    from mcp.server.mcpserver.exceptions import ToolError
    from mcp.types import ToolAnnotations
    from pydantic import Field
except ImportError as error:  # older releases have another server
    raise MissingExtraError("The server for agents", "mcp") from error

_READS = ToolAnnotations(read_only_hint=True, open_world_hint=False)
_ADDS = ToolAnnotations(read_only_hint=False, destructive_hint=False, open_world_hint=False)
_INSTRUCTIONS = (
    "Matches a user's message to an intent of a chatbot, and shows the intents with their utterances: the example "
    "messages that their author wrote."
)

# One idea has one name in all tools.
_Intent = Annotated[str, Field(description="Name of an intent, as in list_intents.")]
_Language = Annotated[str | None, Field(description="BCP-47 code, such as en, pt-BR or zh-Hant.")]


def intent_server(matcher: Matcher, *, editable: str | os.PathLike[str] | None = None) -> MCPServer:
    """Return a server with tools to match messages and to read intents; `run()` serves standard input and output.

    With `editable`, the path of the YAML that the matcher was loaded from, agents may also add utterances.
    """
    server = MCPServer("intentmatch", version=__version__, instructions=_INSTRUCTIONS, log_level="WARNING")
    reading = _ReadTools(matcher)
    for tool in (reading.match_intent, reading.list_intents, reading.show_intent):
        server.add_tool(tool, description=inspect.getdoc(tool), annotations=_READS)
    if editable is not None:
        add = _EditTools(matcher, editable).add_utterances
        server.add_tool(add, description=inspect.getdoc(add), annotations=_ADDS)
    return server


# Agents call the public methods below by name, with the docstrings as descriptions. Each call runs in a worker thread.


class _ReadTools:
    """Tools that only read."""

    def __init__(self, matcher: Matcher) -> None:
        self._matcher = matcher

    def match_intent(
        self,
        utterance: Annotated[str, Field(description="The message of a user, unchanged.")],
        language: _Language = None,
        context: Annotated[list[str] | None, Field(description="Active tags, for intents with `when`.")] = None,
    ) -> dict[str, Any]:
        """Match a user's message to an intent, with the values of its slots.

        The verdict is "matched", "ambiguous" (ask the user which of the rivals is meant) or "out_of_scope". The
        confidence is a probability; the score is a cosine similarity. The explanation names the deciding utterance.
        """
        with _as_tool_errors():
            result = self._matcher.match(utterance, language=language, context=context or ())
        answer = result.to_dict()
        # Long, and of no use to an agent beside the explanation.
        del answer["trace"]
        return {**answer, "explanation": self._matcher.explain(result)}

    def list_intents(self) -> dict[str, Any]:
        """List all intents: title, description, languages and location in the YAML."""
        registry = self._matcher.registry
        return {"languages": list(registry.languages), "intents": [_summary(intent) for intent in registry]}

    def show_intent(self, intent: _Intent) -> dict[str, Any]:
        """Show one intent: utterances, negatives (under "not"), slots and responses."""
        registry = self._matcher.registry
        with _as_tool_errors():
            check_intents(registry, [intent])
        found = registry[intent]
        return {
            **_summary(found),
            "utterances": _lines(found.utterances),
            "not": _lines(found.negatives),
            "slots": [{"name": slot.name, "kind": slot.kind, "required": slot.required} for slot in found.slots],
            "responses": {
                code: list(texts) if len(texts) > 1 else texts[0] for code, texts in found.all_responses.items()
            },
        }


class _EditTools:
    """Tools that edit the YAML."""

    def __init__(self, matcher: Matcher, path: str | os.PathLike[str]) -> None:
        self._matcher = matcher
        self._path = path

    def add_utterances(
        self,
        intent: _Intent,
        utterances: Annotated[list[str], Field(description="Messages exactly as users write them.", min_length=1)],
        *,
        language: _Language = None,
        new: Annotated[bool, Field(description="Create an intent of this name, which does not exist yet.")] = False,
        file: Annotated[str | None, Field(description="The .yaml file for a new intent, if there are several.")] = None,
        negative: Annotated[bool, Field(description="They look like this intent but do not belong to it.")] = False,
        confirm: Annotated[str | None, Field(description="What the preview of the same call returned.")] = None,
    ) -> dict[str, Any]:
        """Add utterances to an intent, in two steps.

        Without `confirm` nothing is written: the result is a preview with the diff, warnings and a `confirm` value.
        The same call with that value writes the change and reloads the intents. If the files or the arguments have
        changed since the preview, nothing is written. `active` is false if the files are written but cannot be loaded:
        `warnings` says why, and the previous intents stay active; the same call again would add nothing.
        """
        with _as_tool_errors():
            place = None if file is None else Path(file)
            edits = additions(intent, utterances, language=language, new=new, file=place, negative=negative)
            plan = Operation(edits).planned(Workspace(self._path, limits_of(self._matcher, self._path)))
            changes = plan.changes
            if changes.errors:
                raise RegistryError(changes.errors)
        # Of what would be written, so that a confirmation never writes anything that was not shown.
        preview = hashlib.sha256(f"{changes.diff}{changes.registry.fingerprint}".encode()).hexdigest()[:12]
        if confirm not in (None, preview):
            raise ToolError(f"Nothing is written: {confirm!r} does not confirm this change:\n{changes.diff}")
        warnings = [str(problem) for problem in changes.brought]
        shown = {"written": False, "diff": changes.diff, "warnings": warnings, "confirm": preview}
        if confirm is None:
            return shown
        with _as_tool_errors():
            done = write_confirmed(plan, reload=self._matcher.reload)
        return shown | {
            "written": True,
            "active": done.active,
            "revision": None if done.revision is None else done.revision.id,
            "warnings": [*warnings, *done.warnings],
        }


@contextmanager
def _as_tool_errors() -> Iterator[None]:
    """Turn our errors into tool errors; the protocol hides the text of any other error from the agent."""
    try:
        yield
    except IntentMatchError as error:
        raise ToolError(str(error)) from error


def _summary(intent: Intent) -> dict[str, Any]:
    return {
        "name": intent.name,
        "title": intent.title,
        "description": intent.description,
        "languages": sorted({utterance.language for utterance in intent.utterances if utterance.language}),
        "location": str(intent.location) if intent.location else None,
    }


def _lines(utterances: tuple[Utterance, ...]) -> list[dict[str, str | None]]:
    """Return the lines that the author wrote; a template counts once, not once per sentence."""
    lines = dict.fromkeys((line.template or line.text, line.language, line.location) for line in utterances)
    return [
        {"text": text, "language": language, "location": str(location) if location else None}
        for text, language, location in lines
    ]
