"""Options of a command from the command line, the environment or a file, and where each value came from."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import click
from click.core import ParameterSource

from intentmatch.core.errors import Location, Problem, RegistryError, suggest
from intentmatch.registry.reading import nodes
from intentmatch.storage.postgres.address import address_of, is_address

_NOT_IN_A_FILE = frozenset({"config", "show_config", "help"})
_PLACES = "intentmatch.places"

_FORMER_NAMES: Mapping[str, str] = {
    "cors_origins": "origins",
    "allowed_hosts": "hosts",
    "trusted_proxies": "proxies",
}
"""What options of `serve` were called in 0.1.0, in a file and in the environment."""


class ConfigurableCommand(click.Command):
    """A command whose options may also come from the environment and from the file of `--config`.

    There, each option answers to the name of its flag (`cors-origin`), to its own name (`cors_origins`) and to its
    former one (`origins`). In the environment, the prefix is that of the context setting `auto_envvar_prefix`.
    """

    def __init__(self, *arguments: Any, **keywords: Any) -> None:
        super().__init__(*arguments, **keywords)
        prefix = self.context_settings["auto_envvar_prefix"]
        for option in self.params:
            option.envvar = [*_variables(option), *(f"{prefix}_{name.upper()}" for name in _names(option))]


def _names(parameter: click.Parameter) -> list[str]:
    """Every name of a parameter, that of its flag first, with underscores."""
    flags = [flag.removeprefix("--").replace("-", "_") for flag in parameter.opts if flag.startswith("--")]
    own = parameter.name or ""
    return list(dict.fromkeys([*flags, own, _FORMER_NAMES.get(own, own)]))


def read_config(context: click.Context, parameter: click.Parameter, file: Path | None) -> Path | None:
    """Take options from a YAML file, a mapping of names to values, as defaults. A callback of click.

    Raises `RegistryError` with every problem of the file and its place. Click itself reports an invalid value, as it
    does for one on the command line.
    """
    if file is None:
        return None
    options = [each for each in context.command.params if each.name not in _NOT_IN_A_FILE]
    known = {name: option for option in options for name in _names(option)}
    values: dict[str, Any] = {}
    problems: list[Problem] = []
    places: dict[str, Location] = context.meta.setdefault(_PLACES, {})
    for name, place, value in _entries(file):
        option = known.get(name.replace("-", "_"))
        if option is None:
            problems.append(_unknown(name, place, options))
            continue
        # The same option under two of its names is twice there as well.
        key = option.name or ""
        if key in values:
            hint = f"the first is at {places[key].short}"
            problems.append(Problem(place, "error", "duplicate-key", f"`{name}` is there twice", hint))
        elif isinstance(value, tuple) and not option.multiple:
            problems.append(Problem(place, "error", "option", f"`{name}` takes one value", "write it without a list"))
        else:
            values[key] = (value,) if option.multiple and not isinstance(value, tuple) else value
            places[key] = place
    if problems:
        raise RegistryError(problems)
    # As defaults, over which the command line and the environment win.
    context.default_map = {**(context.default_map or {}), **values}
    return file


def _unknown(name: str, place: Location, options: list[click.Parameter]) -> Problem:
    flags = sorted(_names(option)[0].replace("_", "-") for option in options)
    nearest = suggest(name.replace("_", "-"), flags)
    hint = f"did you mean `{nearest}`?" if nearest else f"known are {', '.join(flags)}"
    return Problem(place, "error", "unknown-option", f"there is no option `{name}`", hint)


def options_with_origins(context: click.Context) -> Iterator[tuple[str, str, str]]:
    """Yield each option with its value and where that came from, in words."""
    places: dict[str, Location] = context.meta.get(_PLACES, {})
    for parameter in context.command.params:
        name = parameter.name or ""
        if name in _NOT_IN_A_FILE:
            continue
        value = context.params[name]
        source = context.get_parameter_source(name)
        if source is ParameterSource.ENVIRONMENT:
            origin = f"environment {_variable(parameter)}"
        elif source is ParameterSource.DEFAULT_MAP:
            origin = places[name].short
        else:
            origin = "default" if source is ParameterSource.DEFAULT else "argument"
        yield name, _shown(value), origin


def _variable(parameter: click.Parameter) -> str:
    """The environment variable that a parameter was read from: the first that is not empty."""
    # Click takes an empty variable for one that is not set.
    return next(variable for variable in _variables(parameter) if os.environ.get(variable))


def _variables(parameter: click.Parameter) -> Sequence[str]:
    return [parameter.envvar] if isinstance(parameter.envvar, str) else parameter.envvar or ()


def _shown(value: Any) -> str:
    if isinstance(value, (tuple, list)):
        return " ".join(map(str, value))
    if is_address(value):
        # Without its password.
        return str(address_of(value))
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
        raise RegistryError([Problem(root.location, "error", "option", "the file must map options to values")])
    for key, value in root.entries:
        # Values stay texts, which click parses and checks as those of the command line.
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
