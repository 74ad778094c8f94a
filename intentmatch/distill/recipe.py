"""What a distillation is told: every number that decides what the student becomes."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields
from pathlib import Path
from typing import Any

import yaml

from intentmatch.core.errors import InputError, suggest
from intentmatch.text.normalize import language_code

_NEVER_ZERO = frozenset({"pieces", "rows", "dim", "pairs", "temperature"})


@dataclass(frozen=True, slots=True)
class Recipe:
    """The defaults are those of the embedded model."""

    seed: int = 1
    pieces: int = 160_000
    """Size of the vocabulary."""
    rows: int = 72_000
    """Of the table, at most; where there are more pieces, the least used ones share the rows of others."""
    dim: int = 256
    """Numbers in a vector; at most as many as the teacher's."""
    steps: int = 12_000
    pairs: int = 1024
    """Translations in a step, each with its English sentence."""
    sentences: int = 768
    """Further English sentences in a step."""
    learning_rate: float = 0.01
    """At the first step; it falls in a straight line to a fiftieth."""
    flatness: float = 0.55
    """A language with n translations is drawn in proportion to n to this power: 1 as it comes, 0 all alike."""
    language_weights: Mapping[str, float] = field(default_factory=dict)
    """How often translations into a language are drawn beside what `flatness` gives them, and how much it counts in the
    vocabulary; 1 where it is not named."""
    source_weights: Mapping[str, float] = field(default_factory=dict)
    """How often lines of a source are drawn beside the others of their language; 1 where it is not named."""
    temperature: float = 0.07
    teacher_contrast: float = 0.1
    """Weight of telling a sentence's target from those of the other sentences of the step."""
    pair_pull: float = 0.5
    """Weight of the distance of a translation from its English sentence, as the student sees both."""
    pair_contrast: float = 0.3
    """Weight of telling the two from the other pairs of the step."""
    dropout: float = 0.1
    """Share of the pieces that are left out of each text."""
    typos: float = 0.1
    """Share of the texts that are learned a second time with a typing mistake."""
    whitening: float = 0.25
    """How far the strong axes are weakened at the end: 0 not at all, 1 until all are alike."""
    vocabulary_lines: int = 30_000
    """Lines of a language, at most, that the vocabulary is learned from."""
    vocabulary_english_lines: int = 400_000
    vocabulary_english: float = 3.0
    """How much more English counts there than another language with as many lines would."""


def read_recipe(file: Path) -> Recipe:
    """The recipe in a YAML mapping of field to value; what it leaves out keeps its default.

    Raises `InputError`, naming the file, where it cannot be read or a field or its value is none of a recipe.
    """
    try:
        told = yaml.safe_load(file.read_text(encoding="utf-8")) or {}
    except (OSError, ValueError, yaml.YAMLError) as error:
        raise InputError(f"{file} cannot be read: {error}") from error
    if not isinstance(told, dict):
        raise InputError(f"{file}: a recipe is a mapping of names to values")
    return Recipe(**{name: _value(file, str(name), value) for name, value in told.items()})


def write_recipe(file: Path, recipe: Recipe) -> None:
    """The recipe as `read_recipe` reads it."""
    file.write_text(yaml.safe_dump(asdict(recipe), sort_keys=False), encoding="utf-8")


def _value(file: Path, name: str, value: Any) -> Any:
    kinds = {field.name: field.type for field in fields(Recipe)}
    if name not in kinds:
        nearest = suggest(name, kinds)
        hint = f"did you mean {nearest!r}?" if nearest else f"known are {', '.join(kinds)}."
        raise InputError(f"{file}: a recipe has no {name!r}; {hint}")
    if name == "source_weights":
        return _weights(file, name, value, "the name of a source")
    if name == "language_weights":
        weights = _weights(file, name, value, "a language code")
        return {_language(file, code): weight for code, weight in weights.items()}
    whole = kinds[name] == "int"
    if not _is_number(value) or (whole and not isinstance(value, int)):
        raise InputError(f"{file}: {name} must be a {'whole ' if whole else ''}number of 0 or more, not {value!r}")
    if name in _NEVER_ZERO and not value:
        raise InputError(f"{file}: {name} must be more than 0")
    return value if whole else float(value)


def _weights(file: Path, name: str, value: Any, key: str) -> dict[str, float]:
    if not isinstance(value, dict) or not all(_is_number(weight) for weight in value.values()):
        raise InputError(f"{file}: {name} maps {key} to a number of 0 or more")
    return {str(named): float(weight) for named, weight in value.items()}


def _language(file: Path, code: str) -> str:
    known = language_code(code)
    if known is None:
        hint = "write one such as `de` or `pt-BR`, and Norwegian as `'no'`, since YAML takes a bare `no` for false"
        raise InputError(f"{file}: language_weights: {code!r} is no language code; {hint}")
    return known


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value < math.inf
