"""Take the values of a configuration key by key, and note a problem at each key that is wrong or unknown."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, TypeVar

from intentmatch.core.errors import InputError, Location, Problem, RegistryError, suggest
from intentmatch.registry.reading import nodes

_Value = TypeVar("_Value")

KeyPath = tuple[str, ...]
"""Where a value stands: the keys from the top of the file."""


class ConfigProblems:
    """The problems of one configuration, each at the place of its key."""

    def __init__(self, file: Location) -> None:
        """`file` is the place of a key that stands nowhere, such as a missing one."""
        self._file = file
        self._places: dict[KeyPath, Location] = {}
        self._found: list[Problem] = []

    def plain(self, node: nodes.Node | None, path: KeyPath = ()) -> Any:
        """Return a node as mappings, lists and texts, and remember where each key stands."""
        if isinstance(node, nodes.Mapping):
            return {name: self.plain(value, (*path, name)) for name, value in self._entries(node, path)}
        if isinstance(node, nodes.Sequence):
            return [self.plain(item, path) for item in node.items]
        # A section without anything below it is empty, as an author who has commented all of it out expects.
        return {} if node is None else None if node.plain and not node.text else node.text

    def _entries(self, mapping: nodes.Mapping, path: KeyPath) -> Iterator[tuple[str, nodes.Node | None]]:
        for key, value in mapping.entries:
            written = key.text if isinstance(key, nodes.Scalar) else "?"
            name = _named(written)
            here = (*path, name)
            if (first := self._places.get(here)) is not None:
                hint = f"the first is at {first.short}"
                self._found.append(Problem(key.location, "error", "duplicate-key", f"`{written}` is there twice", hint))
            self._places[here] = key.location
            yield name, value

    def note(self, path: KeyPath, message: str, hint: str = "") -> None:
        """Note a problem at a key, or at the nearest key above it that the file has."""
        above = (path[:length] for length in range(len(path), 0, -1))
        # A missing key has no place of its own.
        place = next((self._places[each] for each in above if each in self._places), self._file)
        name = ".".join(path).replace("_", "-")
        self._found.append(Problem(place, "error", "cluster", f"{name}: {message}" if name else message, hint))

    def check(self) -> None:
        """Raise `RegistryError` with every problem, if there are any."""
        if self._found:
            raise RegistryError(self._found)


class ConfigSection:
    """A mapping of the configuration, from which each known key is taken once; `end` reports the others."""

    def __init__(self, values: Any, problems: ConfigProblems, path: KeyPath = ()) -> None:
        self._problems, self._path = problems, path
        self._known: list[str] = []
        if values is None:
            values = {}
        if not isinstance(values, Mapping):
            self.report((), "this must be a mapping of names to values")
            values = {}
        self._values = {_named(str(name)): value for name, value in values.items()}

    def report(self, key: KeyPath, message: str, hint: str = "") -> None:
        """Note a problem at a key of this section."""
        self._problems.note((*self._path, *key), message, hint)

    def has(self, key: str) -> bool:
        """Whether the key is there."""
        return key in self._values

    def take(self, key: str, read: Callable[[Any], _Value], default: _Value) -> _Value:
        """Return the value of a key. A `ValueError` or `InputError` of `read` is noted as a problem."""
        self._known.append(key)
        if key not in self._values:
            return default
        try:
            return read(self._values[key])
        # Noted and not raised: the author sees all problems of the file at once.
        except (ValueError, TypeError, InputError) as error:
            self.report((key,), str(error))
            return default

    def section(self, key: str) -> ConfigSection:
        """Return the section below a key, empty if it is not there."""
        self._known.append(key)
        return ConfigSection(self._values.get(key), self._problems, (*self._path, key))

    def rest(self) -> Mapping[str, Any]:
        """Return all keys, which the caller checks."""
        self._known += self._values
        return self._values

    def end(self) -> None:
        """Report keys that nobody took."""
        for key in self._values.keys() - set(self._known):
            nearest = suggest(key, self._known)
            names = ", ".join(sorted(known.replace("_", "-") for known in self._known))
            hint = f"did you mean `{nearest.replace('_', '-')}`?" if nearest else f"known are {names}"
            self.report((key,), "there is no such key", hint)


def _named(key: str) -> str:
    # Keys may be written as in `serve.yaml`, with hyphens.
    return key.replace("-", "_")
