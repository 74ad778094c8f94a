"""Semantic routers of RedisVL: the YAML of `to_yaml`, or the JSON of `to_dict`.

Routes become intents. The vectorizer and the routing configuration are settings of the library and not imported. A
distance threshold of 0.5 is the library's default, which it always writes, and is not imported either.
"""

from __future__ import annotations

from collections.abc import Sequence

from intentmatch.formats.kit.draft import Draft
from intentmatch.formats.kit.foreign_thresholds import take_threshold
from intentmatch.formats.kit.format import Format, Sure
from intentmatch.formats.kit.source import File
from intentmatch.formats.kit.tree import Value

_READ = ("name", "references", "metadata", "distance_threshold")
_SETTINGS = ("vectorizer", "routing_config")
_DEFAULT_DISTANCE = 0.5
# Routes that are enough to recognise a router.
_SAMPLE_SIZE = 5


def _recognise(file: File) -> Sure:
    root = file.root
    routes = root["routes"]
    if not routes.is_list:
        return Sure.NO
    if any({"name", "references"} <= set(route.keys) for route in routes.items()[:_SAMPLE_SIZE]):
        return Sure.CERTAIN
    return Sure.CERTAIN if set(_SETTINGS) <= set(root.keys) else Sure.NO


def _read(files: Sequence[File], draft: Draft) -> None:
    for file in files:
        for route in draft.root(file)["routes"].items():
            _read_route(route, draft)


def _read_route(route: Value, draft: Draft) -> None:
    name = route["name"].text()
    if name is None:
        draft.warn(route.location, "no-name", "a route without a `name` is skipped")
        return
    intent = draft.intent(name, route.location)
    for line in route["references"].items():
        if text := line.text():
            intent.say(text, line.location)
    take_threshold(route["distance_threshold"], intent, draft, default=_DEFAULT_DISTANCE, is_distance=True)
    for key, value in route["metadata"].entries():
        intent.metadata.setdefault(key, value.plain())
    for key, value in route.entries():
        if key not in _READ and value:
            draft.not_expressed(value.location, f"`{key}` of a route is not imported")


FORMAT = Format("redisvl", "RedisVL: semantic routers", _recognise, _read)
