"""Options of a command from words, the environment or a file, and where each of them came from."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click
from click.core import ParameterSource

from intentmatch.core.errors import Location, Problem, RegistryError, suggest
from intentmatch.registry.reading import nodes

_NOT_OF_A_FILE = frozenset({"config", "show_config", "help"})
_PLACES = "intentmatch.places"


def read_config(context: click.Context, parameter: click.Parameter, file: Path | None) -> Path | None:
    """Take the options of a YAML file as defaults: a mapping of their names to values.

    Raises `RegistryError` with every problem of the file at its place. What is wrong with a value is told as it is for
    a word.
    """
    if file is None:
        return None
    known = {each.name: each for each in context.command.params if each.name and each.name not in _NOT_OF_A_FILE}
    values: dict[str, Any] = {}
    problems: list[Problem] = []
    places: dict[str, Location] = context.meta.setdefault(_PLACES, {})
    for name, place, value in _entries(file):
        key = name.replace("-", "_")
        if key not in known:
            nearest = suggest(key, known)
            hint = f"did you mean `{nearest}`?" if nearest else f"known are {', '.join(sorted(known))}"
            problems.append(Problem(place, "error", "unknown-option", f"there is no option `{name}`", hint))
        elif key in values:
            hint = f"the first is at {places[key].short}"
            problems.append(Problem(place, "error", "duplicate-key", f"`{name}` is there twice", hint))
        elif isinstance(value, tuple) and not known[key].multiple:
            problems.append(Problem(place, "error", "option", f"`{name}` takes one value", "write it without a list"))
        else:
            many = known[key].multiple and not isinstance(value, tuple)
            values[key] = (value,) if many else value
            places[key] = place
    if problems:
        raise RegistryError(problems)
    context.default_map = {**(context.default_map or {}), **values}
    return file


def options_with_origins(context: click.Context) -> Iterator[tuple[str, str, str]]:
    """Each option with its value, and where that came from, in words."""
    places: dict[str, Location] = context.meta.get(_PLACES, {})
    for parameter in context.command.params:
        name = parameter.name or ""
        if name in _NOT_OF_A_FILE:
            continue
        value = context.params[name]
        source = context.get_parameter_source(name)
        if source is ParameterSource.ENVIRONMENT:
            origin = f"environment {_variable(context, parameter)}"
        elif source is ParameterSource.DEFAULT_MAP:
            origin = places[name].short
        else:
            origin = "default" if source is ParameterSource.DEFAULT else "argument"
        yield name, _shown(value), origin


def _variable(context: click.Context, parameter: click.Parameter) -> str:
    if parameter.envvar:
        return str(parameter.envvar)
    return f"{context.auto_envvar_prefix}_{(parameter.name or '').upper()}"


def _shown(value: Any) -> str:
    if isinstance(value, (tuple, list)):
        return " ".join(map(str, value))
    return str(value).lower() if isinstance(value, bool) else "" if value is None else str(value)


def _entries(file: Path) -> Iterator[tuple[str, Location, str | tuple[str, ...]]]:
    try:
        root = nodes.parse(file.read_text(encoding="utf-8"), str(file))
    except nodes.NodeError as error:
        raise RegistryError([error.problem]) from None
    except (OSError, ValueError) as error:
        raise RegistryError([Problem(Location(str(file)), "error", "unreadable", str(error))]) from None
    if root is None:
        return
    if not isinstance(root, nodes.Mapping):
        raise RegistryError([Problem(root.location, "error", "option", "this is no mapping of options to values")])
    for key, value in root.entries:
        name = key.text if isinstance(key, nodes.Scalar) else "?"
        yield name, key.location, _value(value)


def _value(node: nodes.Node) -> str | tuple[str, ...]:
    if isinstance(node, nodes.Scalar):
        return node.text
    items = node.items if isinstance(node, nodes.Sequence) else ()
    texts = tuple(item.text for item in items if isinstance(item, nodes.Scalar))
    if isinstance(node, nodes.Mapping) or len(texts) != len(items):
        problem = Problem(node.location, "error", "option", "an option is a value or a list of values")
        raise RegistryError([problem])
    return texts
