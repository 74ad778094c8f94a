"""Find keys that are indented too little, and put them where they belong, so that one mistake is one problem.

YAML that is indented wrongly is often valid: the keys only belong to another mapping than the author meant.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import replace

from intentmatch.core.errors import Problem
from intentmatch.registry.reading.line_parts import columns
from intentmatch.registry.reading.nodes import Mapping, Node, Scalar
from intentmatch.text.normalize import language_code

_STEP = 2

_Entry = tuple[Node, Node]
_Test = Callable[[str, Node], bool]


def languages_below(node: Node, keys: Collection[str], known: Collection[str]) -> tuple[Node, list[Problem]]:
    """Move language codes that stand beside an empty key below that key.

    `keys` are the keys that take texts by language, `known` all keys of the mapping. Returns the node, unchanged if
    nothing is misplaced, and one problem for each key that the languages belong to.
    """

    def is_parent(key: str, value: Node) -> bool:
        return key in keys and _is_empty(value)

    def is_misplaced(key: str, _: Node) -> bool:
        return key not in known and language_code(key) is not None

    return _moved(node, is_parent, is_misplaced)


def keys_below(node: Node, known: Collection[str]) -> tuple[Node, list[Problem]]:
    """Move keys of an intent that stand beside the intent's name below that name.

    A mapping with keys of an intent is an intent, whatever its name. Returns the same as `languages_below`.
    """

    def is_parent(key: str, value: Node) -> bool:
        return key not in known and (_has_any(value, known) or _is_empty(value))

    def is_misplaced(key: str, value: Node) -> bool:
        return key in known and not _has_any(value, known) and not _is_empty(value)

    return _moved(node, is_parent, is_misplaced)


def keys_above(node: Node, keys: Collection[str], known: Collection[str]) -> tuple[Node, list[Problem]]:
    """Move keys of an intent that stand among the languages below one of its keys out to the intent.

    `keys` are the keys that take texts by language, `known` all keys of the intent. Returns the same as
    `languages_below`.
    """
    if not isinstance(node, Mapping):
        return node, []
    entries: list[_Entry] = []
    moved: list[_Entry] = []
    problems: list[Problem] = []
    for key, value in node.entries:
        among = value.entries if isinstance(value, Mapping) and _text(key) in keys else ()
        # `not` is a key of an intent, and the code of a language as well.
        stray = [entry for entry in among if _text(entry[0]) in known and language_code(_text(entry[0])) is None]
        if stray and isinstance(value, Mapping):
            first = stray[0][0]
            shift = key.location.column - first.location.column
            where = f"`{_text(key)}`"
            message = f"`{_text(first)}` stands below {where}, not beside it"
            hint = f"`{_text(first)}` belongs {columns(shift)}, beside {where}"
            problems.append(Problem(first.location, "error", "wrong-indentation", message, hint))
            moved += stray
            entries.append((key, replace(value, entries=tuple(entry for entry in among if entry not in stray))))
        else:
            entries.append((key, value))
    return (replace(node, entries=(*entries, *moved)) if problems else node), problems


def keys_below_last(root: Node, parent: str, known: Collection[str]) -> tuple[Node, list[Problem]]:
    """Move keys of an intent that stand beside `intents:` below the last intent, if it is empty.

    `parent` is the key of the intents. Returns the same as `languages_below`.
    """
    if not isinstance(root, Mapping):
        return root, []
    for number, (key, value) in enumerate(root.entries[:-1]):
        if _text(key) == parent and isinstance(value, Mapping) and value.entries and _is_empty(value.entries[-1][1]):
            end = number + 1
            # `slots:` is a key of files too, and so is right where it stands.
            while end < len(root.entries) and _text(root.entries[end][0]) in set(known) - {"slots"}:
                end += 1
            moved = root.entries[number + 1 : end]
            if moved:
                name = value.entries[-1][0]
                first = moved[0][0]
                intents = (*value.entries[:-1], (name, Mapping(first.location, moved)))
                rest = (*root.entries[:number], (key, replace(value, entries=intents)), *root.entries[end:])
                return replace(root, entries=rest), [_problem(first, name)]
    return root, []


def is_intent(node: Node, known: Collection[str]) -> bool:
    """Whether a node is a mapping with only keys of an intent."""
    return isinstance(node, Mapping) and bool(node.entries) and all(_text(key) in known for key, _ in node.entries)


def _has_any(node: Node, known: Collection[str]) -> bool:
    return isinstance(node, Mapping) and any(_text(key) in known for key, _ in node.entries)


def _moved(node: Node, is_parent: _Test, is_misplaced: _Test) -> tuple[Node, list[Problem]]:
    """Append each run of misplaced entries to the value of the parent before it; report each run once."""
    if not isinstance(node, Mapping):
        return node, []
    entries: list[_Entry] = []
    problems: list[Problem] = []
    parent = False
    reported = False
    for key, value in node.entries:
        name = _text(key)
        if parent and isinstance(key, Scalar) and is_misplaced(name, value):
            above, inner = entries[-1]
            if not reported:
                problems.append(_problem(key, above))
            reported = True
            kept = inner.entries if isinstance(inner, Mapping) else ()
            entries[-1] = above, Mapping(key.location if not kept else inner.location, (*kept, (key, value)))
        else:
            parent, reported = is_parent(name, value), False
            entries.append((key, value))
    return (replace(node, entries=tuple(entries)) if problems else node), problems


def _problem(key: Node, parent: Node) -> Problem:
    name, above = _text(key), _text(parent)
    shift = parent.location.column + _STEP - key.location.column
    beside = "beside" if key.location.column == parent.location.column else "left of"
    message = f"`{name}` stands {beside} `{above}`, not below it"
    hint = f"`{name}` belongs {columns(shift)}, below `{above}`"
    return Problem(key.location, "error", "wrong-indentation", message, hint)


def _text(node: Node) -> str:
    return node.text if isinstance(node, Scalar) else ""


def _is_empty(node: Node) -> bool:
    return isinstance(node, Scalar) and node.plain and not node.text
