"""Look up encoders, rerankers and formats by name. Only this module reads entry points.

Built-ins are a table of import strings, so that using one imports only that one. Other packages add names through the
entry-point groups `intentmatch.encoders`, `intentmatch.rerankers` and `intentmatch.formats`. An encoder or reranker
entry is a factory that takes `(model, settings)`; `model` is the part of the setting after the first colon, or "". A
format entry is a `formats.kit.format.Format` object.
"""

from __future__ import annotations

import functools
import importlib
import importlib.util
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from intentmatch.core.errors import MissingExtraError, UnknownNameError

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

Group = Literal["encoders", "rerankers", "formats"]
Factory = Callable[..., Any]

BUILT_IN: Mapping[Group, Mapping[str, str]] = {
    "encoders": {
        "static": "intentmatch.encoders.static:load",
        "onnx": "intentmatch.encoders.onnx:load",
        "sentence_transformer": "intentmatch.encoders.sentence_transformer:load",
        "remote": "intentmatch.encoders.remote:load",
    },
    "rerankers": {
        "cross_encoder": "intentmatch.matching.reranker:load",
        "words": "intentmatch.matching.word_reranker:load",
        "onnx": "intentmatch.encoders.onnx_cross_encoder:load",
        "remote": "intentmatch.matching.opinions.remote_reranker:load",
        "chat": "intentmatch.matching.opinions.chat_judge:load",
        "systemone": "intentmatch.matching.opinions.decision_judge:load_systemone",
        "decisions": "intentmatch.matching.opinions.decision_judge:load_decisions",
    },
    "formats": {
        "intentmatch": "intentmatch.formats.native:FORMAT",
        "rasa": "intentmatch.formats.rasa:FORMAT",
        "csv": "intentmatch.formats.delimited:FORMAT",
        "xlsx": "intentmatch.formats.spreadsheet:FORMAT",
        "jsonl": "intentmatch.formats.records:LINES",
        "json": "intentmatch.formats.records:LIST",
        "patterns": "intentmatch.formats.records:PATTERNS",
        "botpress": "intentmatch.formats.botpress:FORMAT",
        "hassil": "intentmatch.formats.hassil:FORMAT",
        "padatious": "intentmatch.formats.padatious:FORMAT",
        "nlpjs": "intentmatch.formats.nlpjs:FORMAT",
        "semantic-router": "intentmatch.formats.semantic_router:FORMAT",
        "redisvl": "intentmatch.formats.redisvl:FORMAT",
        "redis-intent-router": "intentmatch.formats.redis_intent_router:FORMAT",
        "few-shot": "intentmatch.formats.few_shot:FORMAT",
        "snips": "intentmatch.formats.snips:FORMAT",
        "lu": "intentmatch.formats.lu:FORMAT",
        "luis": "intentmatch.formats.luis:FORMAT",
        "clu": "intentmatch.formats.clu:FORMAT",
        "dialogflow-es": "intentmatch.formats.dialogflow_es:FORMAT",
        "dialogflow-cx": "intentmatch.formats.dialogflow_cx:FORMAT",
        "lex": "intentmatch.formats.lex:FORMAT",
        "watson": "intentmatch.formats.watson:FORMAT",
        "wit": "intentmatch.formats.wit:FORMAT",
    },
}


def factory(group: Group, name: str, *, hint: str = "") -> Factory:
    """Return the factory of an encoder or reranker. Raises the same errors as `named`."""
    found: Factory = named(group, name, hint=hint)
    return found


def named(group: Group, name: str, *, hint: str = "") -> Any:
    """Return the object registered under a name.

    Raises `UnknownNameError`, which lists the known names. Errors from importing the object are not caught.
    """
    # Before the entry points: no installed package takes the place of a built-in.
    if name in BUILT_IN[group]:
        module, _, attribute = BUILT_IN[group][name].partition(":")
        return getattr(importlib.import_module(module), attribute)
    others = third_party(group)
    if name in others:
        return others[name].load()
    raise UnknownNameError(group.rstrip("s"), name, names(group), hint)


def names(group: Group) -> list[str]:
    """List all known names of a group, built-ins first."""
    return [*BUILT_IN[group], *sorted(set(third_party(group)) - set(BUILT_IN[group]))]


def third_party(group: Group) -> dict[str, EntryPoint]:
    """Return the entry points that other installed packages add to a group, by name."""
    return {entry.name: entry for entry in _entry_points(group, tuple(map(_state, sys.path)))}


@functools.lru_cache(maxsize=8)
def _entry_points(group: Group, _search_path: tuple[object, ...]) -> tuple[EntryPoint, ...]:
    """Read the files of all installed packages, once for each state of the search path."""
    # Imported late: it takes as long as all our modules together, and built-in names do not need it.
    from importlib.metadata import entry_points

    return tuple(entry_points(group=f"intentmatch.{group}"))


def _state(place: str) -> object:
    """Return what changes when a package is installed into a folder of the search path, or removed from it."""
    try:
        found = Path(place).stat()
    except OSError:
        return None
    return found.st_dev, found.st_ino, found.st_mtime_ns


def installed(module: str) -> bool:
    """Return whether a package is installed, without importing it."""
    return importlib.util.find_spec(module) is not None


def check_installed(module: str, *, what: str, extra: str) -> None:
    """Raise `MissingExtraError` if an optional package is not installed, without importing it."""
    if not installed(module):
        raise MissingExtraError(what, extra)


def require(module: str, *, what: str, extra: str) -> Any:
    """Import an optional package, or raise `MissingExtraError`, whose text names the pip command.

    If the package is installed but broken, its own ImportError is raised unchanged.
    """
    try:
        return importlib.import_module(module)
    except ModuleNotFoundError as error:
        # The package is there but lacks one of its own dependencies, which the pip line would not mend.
        if not f"{module}.".startswith(f"{error.name}."):
            raise
        raise MissingExtraError(what, extra) from None
