"""Redis Intent Router: JSON that its API takes or returns.

A file has intent definitions with their examples (`{"intents": [...]}`), or a page of a list: intents without examples,
and examples apart from them (`{"items": [...]}`). A Router itself has the least score of intents without their own; 0.7
is its default and is not imported. The target of an intent becomes metadata.
"""

from __future__ import annotations

from collections.abc import Sequence

from intentmatch.formats.kit.draft import Draft
from intentmatch.formats.kit.foreign_thresholds import take_threshold
from intentmatch.formats.kit.format import Format, Sure
from intentmatch.formats.kit.source import File
from intentmatch.formats.kit.tree import Value

_LEAST_SCORES = ("minScore", "min_score")
"""Keys of the API, and of the Python client."""
_EXAMPLE = (("intentName", "exampleId"), ("intent_name", "example_id"))
"""Keys of an example, of the same two origins."""
# What the service adds by itself.
_BOOKKEEPING = ("exampleCount", "createdAt", "updatedAt", "revision", "expectedRevision")
_READ = ("name", "description", "target", "metadata", "examples", *_LEAST_SCORES, *_BOOKKEEPING)
_DEFAULT_SCORE = 0.7
# Intents that are enough to recognise a file.
_SAMPLE_SIZE = 5


def _recognise(file: File) -> Sure:
    root = file.root
    if _is_router(root):
        return Sure.CERTAIN
    if root["items"].is_list:
        found = any(_is_listed_intent(item) or _is_example(item) for item in root["items"].items()[:_SAMPLE_SIZE])
        return Sure.CERTAIN if found else Sure.NO
    intents = root["intents"].items()[:_SAMPLE_SIZE] if root["intents"].is_list else []
    if not any(_is_definition(intent) for intent in intents):
        return Sure.NO
    own = {"target", *_LEAST_SCORES}
    return Sure.CERTAIN if any(own & set(intent.keys) for intent in intents) else Sure.LIKELY


def _is_router(root: Value) -> bool:
    return {"routerId", "vectorSpace"} <= set(root.keys)


def _is_listed_intent(item: Value) -> bool:
    return {"name", "exampleCount"} <= set(item.keys)


def _is_example(item: Value) -> bool:
    return any({*names, "text"} <= set(item.keys) for names in _EXAMPLE)


def _is_definition(intent: Value) -> bool:
    examples = intent["examples"]
    return "name" in intent.keys and examples.is_list and all(line.is_text for line in examples.items())


def _read(files: Sequence[File], draft: Draft) -> None:
    roots = [draft.root(file) for file in files]
    general = next((_least_score(root) for root in roots if _is_router(root)), None)
    for root in roots:
        for item in (*root["intents"].items(), *root["items"].items()):
            if _is_example(item):
                _read_example(item, draft)
            else:
                _read_intent(item, general, draft)
        if root["nextCursor"]:
            message = "this is only a page of a list; its other pages are missing"
            draft.warn(root["nextCursor"].location, "missing-page", message, "export all pages, each to a file")
    _report_missing_examples(roots, draft)


def _read_intent(item: Value, general: Value | None, draft: Draft) -> None:
    name = item["name"].text()
    if name is None:
        draft.warn(item.location, "no-name", "an intent without a `name` is skipped")
        return
    intent = draft.intent(name, item.location)
    for line in item["examples"].items():
        if text := line.text():
            intent.say(text, line.location)
    intent.description = intent.description or item["description"].text()
    own = _least_score(item)
    if own:
        take_threshold(own, intent, draft)
    elif general is not None:
        take_threshold(general, intent, draft, default=_DEFAULT_SCORE)
    for key, value in item["metadata"].entries():
        intent.metadata.setdefault(key, value.plain())
    if item["target"]:
        intent.metadata.setdefault("target", item["target"].plain())
    for key, value in item.entries():
        if key not in _READ and value:
            draft.not_expressed(value.location, f"`{key}` of an intent is not imported")


def _read_example(item: Value, draft: Draft) -> None:
    name = next((item[key].text() for key, _ in _EXAMPLE if item[key]), None)
    text = item["text"].text()
    if name and text:
        draft.intent(name, item.location).say(text, item["text"].location)


def _least_score(value: Value) -> Value:
    return next((value[key] for key in _LEAST_SCORES if value[key]), value[_LEAST_SCORES[0]])


def _report_missing_examples(roots: Sequence[Value], draft: Draft) -> None:
    """Report intents of a list whose examples are in none of the files."""
    for item in (item for root in roots for item in root["items"].items() if _is_listed_intent(item)):
        name, count = item["name"].text() or "", item["exampleCount"].integer() or 0
        if count and name in draft.intents and not draft.intents[name].utterances:
            message = f"the {count} examples of {name!r} are not in the files"
            draft.warn(
                item.location, "no-examples", message, "export the list of its examples too, into the same folder"
            )


FORMAT = Format("redis-intent-router", "Redis Intent Router: intents and examples", _recognise, _read)
