"""Few-shot examples of prompts: LangChain's prompt files, and the document store of a LlamaIndex index.

Examples are records, and are read as the rows of a table. LangChain keeps a list of examples, or names the file that
has them; the variables of the prompt say which key is the message. A node of LlamaIndex is a JSON object in its text,
or a text with metadata.
"""

from __future__ import annotations

from collections.abc import Sequence

from intentmatch.formats.kit import tree
from intentmatch.formats.kit.draft import Draft
from intentmatch.formats.kit.format import Format, Sure
from intentmatch.formats.kit.source import File
from intentmatch.formats.kit.table_layout import TableRow, are_names
from intentmatch.formats.kit.tables import columns_of, is_complete, read_tables
from intentmatch.formats.kit.tree import Value
from intentmatch.registry.reading.nodes import Mapping, NodeError, Scalar

TYPE = "few_shot"
NODES = "docstore/data"
_DATA = "__data__"
_INPUT, _OUTPUT = "input", "output"
# Records that are enough to recognise a list.
_SAMPLE_SIZE = 5


def _recognise(file: File) -> Sure:
    root = file.root
    if (
        (root["_type"].text() or "").startswith(TYPE)
        or NODES in root.keys
        or {"examples", "example_prompt"} <= set(root.keys)
    ):
        return Sure.CERTAIN
    if not root.is_list:
        return Sure.NO
    records = [set(item.keys) for item in root.items()[:_SAMPLE_SIZE]]
    # Records with known column names are tables of other formats.
    named = records and all({_INPUT, _OUTPUT} <= keys and not is_complete(columns_of([*keys])) for keys in records)
    return Sure.POSSIBLE if named else Sure.NO


def _read(files: Sequence[File], draft: Draft) -> None:
    for file in files:
        root = draft.root(file)
        if NODES in root.keys:
            _read_nodes(root[NODES], draft)
        elif root.is_list:
            _read_records(root.items(), set(), draft)
        else:
            _read_prompt(file, root, draft)


def _read_prompt(file: File, root: Value, draft: Draft) -> None:
    examples = root["examples"]
    if examples.is_text:
        path = examples.text() or ""
        other = file.resolve_reference(path)
        if other is None:
            message = f"the file of the examples, {path!r}, does not exist beside the prompt"
            draft.error(examples.location, "missing-file", message, "put it into the folder of the prompt")
            return
        examples = draft.root(other)
    variables = {text for item in root["input_variables"].items() if (text := item.text())}
    _read_records(examples.items(), variables, draft)


def _read_nodes(nodes: Value, draft: Draft) -> None:
    """Read LlamaIndex nodes: those with an object in their text, and those with metadata, each as a table."""
    objects: list[Value] = []
    texts: list[Value] = []
    for _, node in nodes.entries():
        data = node[_DATA]
        # Documents keep their text in a resource.
        text = data["text"] if data["text"] else data["text_resource"]["text"]
        if (found := _object_in(text, draft)) is not None:
            objects.append(found)
        elif text:
            fields = [("text", text), *data["metadata"].entries()]
            entries = ((Scalar(place.location, key, plain=False), place.node) for key, place in fields if place.node)
            texts.append(Value(Mapping(text.location, tuple(entries)), text.location, "a node", draft.warn))
    _read_records(objects, set(), draft)
    _read_records(texts, set(), draft)


def _object_in(text: Value, draft: Draft) -> Value | None:
    """Return the JSON object in a text, if there is one."""
    written = text.text() or ""
    if not written.lstrip().startswith("{"):
        return None
    try:
        node = tree.json_node(written, text.location.path, text.location.line)
    except NodeError:
        return None
    return Value(node, text.location, "a node", draft.warn)


def _read_records(records: Sequence[Value], variables: set[str], draft: Draft) -> None:
    """Read records as a table with their keys as its header. `variables` are the keys that a user's message fills."""
    keys = list(dict.fromkeys(key for record in records for key in record.keys))
    if not keys:
        return
    rows = [TableRow([record[key].text() or "" for key in keys], record.location) for record in records]
    header = list(keys)
    inputs = [key for key in keys if key in (variables or {_INPUT})]
    if not draft.columns and not is_complete(columns_of(keys)) and len(inputs) == 1 and len(keys) == 2:
        text = keys.index(inputs[0])
        # With two keys, what is not the message is what it leads to: names that repeat are intents, sentences are
        # responses.
        label = "intent" if are_names([row.cells[1 - text] for row in rows]) else "response"
        header[text], header[1 - text] = "text", label
        message = f"the message is `{keys[text]}`, the {label} is `{keys[1 - text]}`"
        hint = "if this is wrong, name them with --columns text=NAME,intent=NAME"
        draft.note(rows[0].place, "guessed-columns", message, hint)
    read_tables([[TableRow(header, rows[0].place), *rows]], draft, has_header=True)


FORMAT = Format("few-shot", "Few-shot examples of LangChain and LlamaIndex", _recognise, _read)
