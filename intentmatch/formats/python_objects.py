"""Live Python objects as a source: routers, few-shot prompts, example selectors and indices of other libraries.

An object is recognised by its attributes, so none of the libraries is imported here. It becomes the nodes of a file
that its library could have written, and is read as that file. Locations name the part of the object:
`shop:router.routes[0].utterances[2]`.
"""

from __future__ import annotations

import datetime
import enum
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from intentmatch.core.errors import InputError, Location
from intentmatch.formats import few_shot
from intentmatch.registry.reading import nodes

_AURELIO_ROUTE = (
    "name",
    "utterances",
    "description",
    "confidence_threshold",
    "score_threshold",
    "metadata",
    "function_schemas",
    "function_schema",
    "llm",
)
_REDISVL_ROUTE = ("name", "references", "metadata", "distance_threshold")
# Objects inside of objects; deeper ones are cycles.
_MAX_DEPTH = 32

KNOWN = (
    "a router of semantic-router or RedisVL, a list of its routes, a few-shot prompt or an example selector of "
    "LangChain, an index, a retriever or a list of nodes of LlamaIndex, or a list of records"
)
"""The objects that can be imported, for messages and documents."""


def to_node(value: Any, place: str) -> nodes.Node:
    """Convert an object to nodes. `place` is its name, such as `shop:router`.

    Raises `InputError` if the object is unknown or cannot be read.
    """
    try:
        content = _content(value, 0)
    # Attributes of foreign objects may be properties that raise anything.
    except Exception as error:
        raise InputError(f"{place} cannot be read: {type(error).__name__}: {error}") from error
    if content is None:
        what = "a function; name what it returns" if callable(value) and hasattr(value, "__code__") else _kind(value)
        raise InputError(f"{place} is {what}. Known are {KNOWN}.")
    if isinstance(value, (list, tuple)):
        # The key of the list is no part of the object.
        entries = ((_node(key, place, 1), _node(inner, place, 1)) for key, inner in content.items())
        return nodes.Mapping(Location(place), tuple(entries))
    return _node(content, place, 0)


def _content(value: Any, depth: int) -> Any:
    """Return the content of a file that would hold the object; None if the object is unknown."""
    if depth > _MAX_DEPTH:
        return None
    if isinstance(value, Mapping):
        return value
    if isinstance(value, (list, tuple)):
        return _list(value)
    for attribute, convert in _BY_ATTRIBUTE.items():
        inner = getattr(value, attribute, None)
        if inner is not None and (found := convert(value, inner, depth)) is not None:
            return found
    return None


def _list(items: Iterable[Any]) -> Any:
    items = list(items)
    if not items:
        return None
    if all(hasattr(item, "metadata") and callable(getattr(item, "get_content", None)) for item in items):
        return _llama_nodes(enumerate(items))
    if all(isinstance(item, Mapping) and not {"utterances", "references"} & set(item) for item in items):
        return {"_type": few_shot.TYPE, "examples": items}
    return _routes(items)


def _routes(routes: Iterable[Any]) -> Any:
    """Return the router of some routes, which are objects or mappings; None if they are something else."""
    routes = list(routes)
    for fields, lines in ((_AURELIO_ROUTE, "utterances"), (_REDISVL_ROUTE, "references")):
        if routes and all(_has(route, "name") and _has(route, lines) for route in routes):
            kept = [{key: found for key in fields if (found := _get(route, key)) is not None} for route in routes]
            more: dict[str, Any] = (
                {"router_type": "indexed"} if lines == "utterances" else {"vectorizer": {}, "routing_config": {}}
            )
            return {**more, "routes": kept}
    return None


def _chain(router: Any, routers: Any, depth: int) -> Any:
    inner = [_content(one, depth + 1) for one in routers] if isinstance(routers, (list, tuple)) else [None]
    return None if None in inner else {"router_type": "chain", "routers": inner}


def _router(router: Any, routes: Any, depth: int) -> Any:
    if not isinstance(routes, (list, tuple)):
        return None
    found = _routes(routes)
    threshold = getattr(router, "confidence_threshold", None)
    return found if found is None or threshold is None else {**found, "confidence_threshold": threshold}


def _prompt(prompt: Any, examples: Any, depth: int) -> Any:
    if not isinstance(examples, (list, tuple)) or not all(isinstance(example, Mapping) for example in examples):
        return None
    variables = getattr(prompt, "input_variables", None) or getattr(prompt, "input_keys", None) or ()
    return {"_type": few_shot.TYPE, "examples": list(examples), "input_variables": list(variables)}


def _chat_prompt(prompt: Any, messages: Any, depth: int) -> Any:
    """Return the first few-shot prompt among the messages of a chat prompt, with the variables of the whole."""
    for message in messages if isinstance(messages, (list, tuple)) else ():
        found = None if isinstance(message, (list, tuple)) else _content(message, depth + 1)
        if isinstance(found, dict) and "examples" in found:
            return {**found, "input_variables": list(getattr(prompt, "input_variables", ()))}
    return None


def _selector(selector: Any, store: Any, depth: int) -> Any:
    """Return the examples in the vector store of a selector, as far as the store can list them."""
    metadata = _stored_metadata(store)
    if metadata is None:
        return None
    keys = getattr(selector, "example_keys", None)
    examples = [{key: one[key] for key in keys or one if key in one} for one in metadata]
    return _prompt(selector, examples, depth)


def _stored_metadata(store: Any) -> list[Mapping[str, Any]] | None:
    entries = getattr(store, "store", None)  # in memory
    if entries is None:
        entries = getattr(getattr(store, "docstore", None), "_dict", None)  # FAISS
    if isinstance(entries, Mapping):
        return [_get(entry, "metadata") or {} for entry in entries.values()]
    get = getattr(store, "get", None)  # Chroma
    found = get() if callable(get) else None
    return list(found["metadatas"]) if isinstance(found, Mapping) and "metadatas" in found else None


def _index(index: Any, docstore: Any, depth: int) -> Any:
    documents = getattr(docstore, "docs", None)
    return _llama_nodes(documents.items()) if isinstance(documents, Mapping) else None


def _nested(value: Any, inner: Any, depth: int) -> Any:
    return _content(inner, depth + 1)


_BY_ATTRIBUTE: Mapping[str, Callable[[Any, Any, int], Any]] = {
    "routers": _chain,
    "routes": _router,
    "examples": _prompt,
    "example_selector": _nested,
    "messages": _chat_prompt,
    "vectorstore": _selector,
    "docstore": _index,
    "_docstore": _index,
    "_index": _nested,
}
"""The attribute that tells a kind of object, and what converts it; the first that fits counts."""


def _llama_nodes(named: Iterable[tuple[Any, Any]]) -> dict[str, Any]:
    data = {
        str(key): {"__data__": {"text": _text_of(node), "metadata": dict(getattr(node, "metadata", None) or {})}}
        for key, node in named
    }
    return {few_shot.NODES: data}


def _text_of(node: Any) -> Any:
    text = getattr(node, "text", None)
    return text if isinstance(text, str) else node.get_content()


def _has(thing: Any, key: str) -> bool:
    return key in thing if isinstance(thing, Mapping) else hasattr(thing, key)


def _get(thing: Any, key: str) -> Any:
    return thing.get(key) if isinstance(thing, Mapping) else getattr(thing, key, None)


def _node(value: Any, place: str, depth: int) -> nodes.Node:
    """Convert plain values to nodes. Objects in them become empty mappings, which readers report as of a wrong type."""
    location = Location(place)
    # First, since members of some enumerations are texts or numbers too.
    if isinstance(value, enum.Enum):
        value = value.value
    if isinstance(value, str):
        return nodes.Scalar(location, value, plain=False)
    if value is None or isinstance(value, (bool, int, float)):
        text = "null" if value is None else str(value).lower() if isinstance(value, bool) else repr(value)
        return nodes.Scalar(location, text, plain=True)
    if isinstance(value, (datetime.date, datetime.time)):
        return nodes.Scalar(location, value.isoformat(), plain=False)
    if depth < _MAX_DEPTH and isinstance(value, (list, tuple)):
        items = (_node(item, f"{place}[{number}]", depth + 1) for number, item in enumerate(value))
        return nodes.Sequence(location, tuple(items))
    if depth < _MAX_DEPTH and isinstance(value, Mapping):
        entries = (
            (_node(str(key), place, depth), _node(item, _part(place, key), depth + 1)) for key, item in value.items()
        )
        return nodes.Mapping(location, tuple(entries))
    return nodes.Mapping(location, ())


def _part(place: str, key: Any) -> str:
    return f"{place}.{key}" if isinstance(key, str) and key.isidentifier() else f"{place}[{key!r}]"


def _kind(value: Any) -> str:
    kind = type(value)
    return f"an object of {kind.__module__}.{kind.__qualname__}"
