"""Routers of the library semantic-router 0.x and 1.x: one JSON or YAML file.

Routes become intents. Encoder, index and models are settings of the library and not imported. Export writes JSON in the
form of 1.x, which is also valid in a file named `.yaml`.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import Any

from intentmatch.core.errors import NOWHERE, Problem
from intentmatch.core.types import Intent, Registry
from intentmatch.formats.kit.draft import Draft
from intentmatch.formats.kit.foreign_thresholds import take_threshold
from intentmatch.formats.kit.format import Feature, Files, Format, Sure
from intentmatch.formats.kit.losses import loss
from intentmatch.formats.kit.source import File
from intentmatch.formats.kit.tree import Value

_ROUTERS = ("indexed", "decision", "chain", "merge")
_THRESHOLDS = ("score_threshold", "confidence_threshold")
"""Keys of 0.x and 1.x."""
_SCHEMAS = ("function_schemas", "function_schema")
_READ = ("name", "utterances", "description", "metadata", *_THRESHOLDS)
_ENCODER = {"type": "huggingface", "name": "sentence-transformers/paraphrase-multilingual-MiniLM-L12-v2"}
_SAYS: frozenset[Feature] = frozenset({"descriptions", "thresholds", "metadata"})


def _recognise(file: File) -> Sure:
    root = file.root
    if root["router_type"].text() in _ROUTERS:
        return Sure.CERTAIN
    first = next(iter(root["routes"].items()), None)
    if first is None or "name" not in first.keys:
        return Sure.NO
    return Sure.CERTAIN if "encoder_type" in root.keys else Sure.LIKELY


def _read(files: Sequence[File], draft: Draft) -> None:
    for file in files:
        for router in _routers(draft.root(file)):
            general = router["confidence_threshold"]
            for route in router["routes"].items():
                _read_route(route, general, draft)


def _routers(router: Value) -> Iterator[Value]:
    """Yield the routers that have routes: those of a chain, or the router itself."""
    if router["routers"]:
        for inner in router["routers"].items():
            yield from _routers(inner)
    else:
        yield router


def _read_route(route: Value, general: Value, draft: Draft) -> None:
    name = route["name"].text()
    if name is None:
        draft.warn(route.location, "no-name", "a route without a `name` is skipped")
        return
    intent = draft.intent(name, route.location)
    for line in route["utterances"].items():
        if text := line.text():
            intent.say(text, line.location)
    intent.description = intent.description or route["description"].text()
    take_threshold(next((route[key] for key in _THRESHOLDS if route[key]), general), intent, draft)
    for key, value in route["metadata"].entries():
        intent.metadata.setdefault(key, value.plain())
    for key, value in route.entries():
        if key in _SCHEMAS and value:
            intent.metadata.setdefault(key, value.plain())
        elif key not in _READ and value:
            draft.not_expressed(value.location, f"`{key}` of a route is not imported")


def _write(registry: Registry, problems: list[Problem]) -> Files:
    message = f"the router is written with the encoder {_ENCODER['name']}"
    problems.append(Problem(NOWHERE, "info", "encoder", message, "name another encoder under `encoder:`"))
    # The library compares similarities, and a threshold in per cent is one of intentmatch's confidence.
    problems += [
        loss(intent.location, f"the threshold {intent.threshold} of {intent.name!r} on the confidence")
        for intent in registry
        if isinstance(intent.threshold, str)
    ]
    router = {"router_type": "indexed", "encoder": _ENCODER, "routes": [_route(intent) for intent in registry]}
    return {"router.json": json.dumps(router, ensure_ascii=False, indent=2) + "\n"}


def _route(intent: Intent) -> dict[str, Any]:
    return {
        "name": intent.name,
        "utterances": [utterance.text for utterance in intent.utterances],
        "description": intent.description,
        "confidence_threshold": None if isinstance(intent.threshold, str) else intent.threshold,
        "metadata": dict(intent.metadata),
    }


FORMAT = Format("semantic-router", "semantic-router: routers of 0.x and 1.x", _recognise, _read, _write, _SAYS)
