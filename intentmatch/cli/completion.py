"""What the Tab key completes: intents, tags and languages of the registry, settings, formats and encoders.

Shells ask for this while the user types, so errors complete nothing, and the registry's templates are not expanded.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING

import click
from click.shell_completion import CompletionItem

if TYPE_CHECKING:
    from intentmatch.core.types import Registry

Completer = Callable[[click.Context, click.Parameter, str], list[CompletionItem]]


def paths(_context: click.Context, _parameter: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Let the shell complete files and folders."""
    return [CompletionItem(incomplete, type="file")]


def intents(context: click.Context, _parameter: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Complete the names of the registry's intents, described by their titles."""
    registry = _registry(context)
    return [
        CompletionItem(intent.name, help=intent.title)
        for intent in registry or ()
        if intent.name.startswith(incomplete)
    ]


def tags(context: click.Context, _parameter: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Complete the tags of the registry's `when:`."""
    registry = _registry(context)
    return _matching(sorted(registry.tags) if registry else (), incomplete)


def languages(context: click.Context, _parameter: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Complete the languages of the registry; all that the embedded encoder knows without a registry."""
    from intentmatch.encoders import hub
    from intentmatch.pieces.embedded import EMBEDDED

    registry = _registry(context)
    return _matching((registry and registry.languages) or hub.card_languages(EMBEDDED) or (), incomplete)


def settings(_context: click.Context, _parameter: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Complete the names of settings, each with the `=` that its value follows."""
    from intentmatch.core.settings import PARSERS

    return _matching((f"{name}=" for name in PARSERS), incomplete)


def encoders(_context: click.Context, _parameter: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Complete the names of encoders."""
    from intentmatch.core import plugins

    return _matching(plugins.names("encoders"), incomplete)


def formats_read(_context: click.Context, _parameter: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Complete the formats that can be imported."""
    from intentmatch import formats

    known = formats.formats().values()
    return [CompletionItem(f.name, help=f.title) for f in known if f.read and f.name.startswith(incomplete)]


def formats_written(_context: click.Context, _parameter: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Complete the formats that can be exported to."""
    from intentmatch import formats

    known = formats.formats().values()
    return [CompletionItem(f.name, help=f.title) for f in known if f.write and f.name.startswith(incomplete)]


def _matching(names: Iterable[str], incomplete: str) -> list[CompletionItem]:
    return [CompletionItem(name) for name in names if name.startswith(incomplete)]


def _registry(context: click.Context) -> Registry | None:
    """Return what can be read of the registry that the command line names so far; None if it is not YAML."""
    from intentmatch.core.errors import IntentMatchError
    from intentmatch.registry import examine, is_yaml

    path = context.params.get("intents") or context.params.get("new")
    try:
        return examine(path, expand=False)[0] if isinstance(path, str) and is_yaml(path) else None
    except IntentMatchError:
        return None
