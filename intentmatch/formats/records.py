"""Records in JSON: JSON lines, a list under any key, and `intents` with `patterns` as in many tutorials."""

from __future__ import annotations

import json
from collections.abc import Sequence

from intentmatch.core.errors import Location, Problem
from intentmatch.core.types import Registry
from intentmatch.formats.kit import tree
from intentmatch.formats.kit.draft import Draft
from intentmatch.formats.kit.format import Feature, Files, Format, Sure
from intentmatch.formats.kit.losses import empty_intent_losses
from intentmatch.formats.kit.source import File
from intentmatch.formats.kit.table_layout import TableRow
from intentmatch.formats.kit.tables import HEADER, SAYS, columns_of, is_complete, read_row, rows_of
from intentmatch.formats.kit.tree import Value
from intentmatch.registry.reading.nodes import NodeError

_TAGS = ("tag", "intent", "label", "name")
_PATTERNS = "patterns"
_RESPONSES = ("responses", "answers", "response")
# Records that are enough to recognise a list.
_SAMPLE_SIZE = 5
_LANGUAGE = ("language", "lang", "locale")


def recognise_lines(file: File) -> Sure:
    """Recognise JSON lines by the keys of the first line."""
    first = next((line for line in file.lines if line.strip()), "")
    if not first.lstrip().startswith("{") or not first.rstrip().endswith("}"):
        return Sure.NO
    try:
        record = Value(tree.json_node(first, file.place), file.location)
    except NodeError:
        return Sure.NO
    return Sure.LIKELY if is_complete(columns_of(list(record.keys))) else Sure.NO


def read_lines(files: Sequence[File], draft: Draft) -> None:
    """Read one record per line."""
    for file in files:
        # Not `splitlines`: a string of JSON may contain U+2028, which would end the line within it.
        for number, line in enumerate(file.text.split("\n"), 1):
            if not line.strip():
                continue
            try:
                node = tree.json_node(line, file.place, number)
            except NodeError as error:
                problem = error.problem
                draft.error(problem.location, problem.rule, problem.message, "write one JSON object per line")
            else:
                _read_record(Value(node, Location(file.place, number), "a line", draft.warn), draft)


def write_lines(registry: Registry, problems: list[Problem]) -> Files:
    """Write one record per utterance."""
    problems += empty_intent_losses(registry)
    rows = (dict(zip(HEADER, row, strict=True)) for row in rows_of(registry))
    lines = (json.dumps({key: value for key, value in row.items() if value}, ensure_ascii=False) for row in rows)
    return {"intents.jsonl": "".join(f"{line}\n" for line in lines)}


def recognise_list(file: File) -> Sure:
    """Recognise a list by the keys of its first records."""
    return Sure.POSSIBLE if _records(file.root) else Sure.NO


def read_list(files: Sequence[File], draft: Draft) -> None:
    """Read a list at the root or under a top-level key."""
    for file in files:
        root = draft.root(file)
        language = next((code for key in _LANGUAGE if (code := root[key].text())), None)
        for record in _records(root):
            _read_record(record, draft, language)


def recognise_patterns(file: File) -> Sure:
    """Recognise `intents` with `patterns`."""
    intents = file.root["intents"].items()
    return Sure.LIKELY if any(_PATTERNS in intent.keys for intent in intents[:_SAMPLE_SIZE]) else Sure.NO


def read_patterns(files: Sequence[File], draft: Draft) -> None:
    """Read the name, patterns and responses of each intent."""
    for file in files:
        for item in draft.root(file)["intents"].items():
            _read_patterns(item, draft)


def write_patterns(registry: Registry, problems: list[Problem]) -> Files:
    """Write `intents` with `patterns`, with the keys of most tutorials."""
    intents = [
        {
            "tag": intent.name,
            _PATTERNS: [utterance.text for utterance in intent.utterances],
            "responses": [text for texts in intent.all_responses.values() for text in texts],
        }
        for intent in registry
    ]
    return {"intents.json": json.dumps({"intents": intents}, ensure_ascii=False, indent=2) + "\n"}


def _read_patterns(item: Value, draft: Draft) -> None:
    tag = next((key for key in _TAGS if item[key]), _TAGS[0])
    name = item[tag].text()
    if name is None:
        draft.warn(item.location, "no-name", "an intent without a name is skipped", f"write it under `{_TAGS[0]}`")
        return
    intent = draft.intent(name, item[tag].location)
    for pattern in item[_PATTERNS].items():
        text = pattern.text()
        if text is not None:
            intent.say(text, pattern.location)
    for key in _RESPONSES:
        for response in item[key].items():
            text = response.text()
            if text is not None:
                intent.respond(text, response.location)
    others = sorted(key for key, value in item.entries() if value and key not in (tag, _PATTERNS, *_RESPONSES))
    # Tutorials write keys such as `context_set` empty into each intent.
    if others and any(item[key].plain() not in ([], [""], "") for key in others):
        draft.not_expressed(item.location, f"keys of intents that are not imported: {', '.join(others)}")


def _records(root: Value) -> list[Value]:
    """Return the records of the first list that has any."""
    for value in (root, *(root[key] for key in root.keys)):
        if value.is_list:
            items = value.items()
            if any(is_complete(columns_of(list(item.keys))) for item in items[:_SAMPLE_SIZE]):
                return items
    return []


def _read_record(record: Value, draft: Draft, language: str | None = None) -> None:
    entries = [(key, value) for key, value in record.entries() if value]
    columns = columns_of([key for key, _ in entries])
    others = [key for number, (key, _) in enumerate(entries) if number not in columns.values()]
    if others:
        draft.not_expressed(record.location, f"keys of records that are not imported: {', '.join(others)}")
    cells = [value.text() or "" if number in columns.values() else "" for number, (_, value) in enumerate(entries)]
    if "language" not in columns and language is not None:
        columns["language"] = len(cells)
        cells.append(language)
    if not is_complete(columns):
        missing = "an intent" if "text" in columns else "a message"
        draft.warn(record.location, "incomplete-row", f"a record without {missing} is skipped")
        return
    read_row(TableRow(cells, record.location), columns, draft)


_PATTERNS_SAY: frozenset[Feature] = frozenset({"responses", "variants"})

LINES = Format("jsonl", "JSON lines with text and intent", recognise_lines, read_lines, write_lines, SAYS)
LIST = Format("json", "JSON with a list of texts and intents", recognise_list, read_list)
PATTERNS = Format(
    "patterns",
    "JSON with `intents` and `patterns`, as in many tutorials",
    recognise_patterns,
    read_patterns,
    write_patterns,
    _PATTERNS_SAY,
)
