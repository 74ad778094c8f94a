"""Names in settings to the code that answers them. The only place that reads entry points.

Built-ins stand in a table of import strings, so that naming one imports that one and nothing else. Other packages
add theirs through the entry-point groups `intentmatch.encoders`, `intentmatch.rerankers` and `intentmatch.formats`. A
factory takes `(model, settings)`, where `model` is the text after the first colon of the name (or ""); what stands
behind the name of a format is no factory, but a `formats.format.Format`.
"""

from __future__ import annotations

import importlib
import importlib.util
from collections.abc import Callable, Mapping
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
    """The factory behind a name of an encoder or reranker; raises what `named` does."""
    found: Factory = named(group, name, hint=hint)
    return found


def named(group: Group, name: str, *, hint: str = "") -> Any:
    """What stands behind a name.

    Raises `UnknownNameError`, which lists the known names, and whatever the import of what is named raises.
    """
    if name in BUILT_IN[group]:
        module, _, attribute = BUILT_IN[group][name].partition(":")
        return getattr(importlib.import_module(module), attribute)
    others = third_party(group)
    if name in others:
        return others[name].load()
    raise UnknownNameError(group.rstrip("s"), name, names(group), hint)


def names(group: Group) -> list[str]:
    """Every name that is known here, built-ins first."""
    return [*BUILT_IN[group], *sorted(set(third_party(group)) - set(BUILT_IN[group]))]


def third_party(group: Group) -> dict[str, EntryPoint]:
    """The entry points that other installed packages add to a group, by name."""
    # Imported here because it takes as long as all our own modules, and the built-in names never need it.
    from importlib.metadata import entry_points

    return {entry.name: entry for entry in entry_points(group=f"intentmatch.{group}")}


def installed(module: str) -> bool:
    """Whether a package is there; imports nothing."""
    return importlib.util.find_spec(module) is not None


def check_installed(module: str, *, what: str, extra: str) -> None:
    """Raise `MissingExtraError` with the pip line if an optional package is not there; imports nothing."""
    if not installed(module):
        raise MissingExtraError(what, extra)


def require(module: str, *, what: str, extra: str) -> Any:
    """Import an optional package, or raise `MissingExtraError` with the pip line.

    A package that is there but broken raises its own ImportError untouched.
    """
    try:
        return importlib.import_module(module)
    except ModuleNotFoundError as error:
        if not f"{module}.".startswith(f"{error.name}."):
            raise
        raise MissingExtraError(what, extra) from None
