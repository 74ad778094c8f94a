"""The recipe of a distillation: every parameter that determines the student, and how recipes are read and written."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields
from pathlib import Path
from typing import Any, ClassVar, Protocol, TypeVar

import yaml

from intentmatch.core.errors import InputError, suggest
from intentmatch.text.normalize import language_code


class AnyRecipe(Protocol):
    """A dataclass of numbers, and of weights by source (`source_weights`) or language (`language_weights`)."""

    NEVER_ZERO: ClassVar[frozenset[str]]
    """Fields that must be more than 0."""
    __dataclass_fields__: ClassVar[dict[str, Any]]


SomeRecipe = TypeVar("SomeRecipe", bound=AnyRecipe)


@dataclass(frozen=True, slots=True)
class Recipe:
    """Parameters of a distillation; the defaults are those of the embedded model."""

    NEVER_ZERO: ClassVar[frozenset[str]] = frozenset({"pieces", "rows", "dim", "pairs", "temperature"})

    seed: int = 1
    pieces: int = 160_000
    """Size of the vocabulary."""
    rows: int = 72_000
    """Maximum number of rows of the table; if there are more tokens, rare ones share the rows of others."""
    dim: int = 256
    """Dimensions of a vector; at most those of the teacher."""
    steps: int = 12_000
    pairs: int = 1024
    """Translations per step, each with its English sentence."""
    sentences: int = 768
    """Additional English sentences per step."""
    learning_rate: float = 0.01
    """Initial learning rate; it decays linearly to 2 %."""
    flatness: float = 0.55
    """A language with n translations is sampled in proportion to n ** flatness: 1 as in the corpus, 0 uniformly."""
    language_weights: Mapping[str, float] = field(default_factory=dict)
    """Language to factor on its sampling probability and on its weight in the vocabulary; the default is 1."""
    source_weights: Mapping[str, float] = field(default_factory=dict)
    """Source to factor on the sampling probability of its lines within their language; the default is 1."""
    temperature: float = 0.07
    teacher_contrast: float = 0.1
    """Weight of the contrastive loss between a text and the teacher's vectors of the batch."""
    pair_pull: float = 0.5
    """Weight of the cosine distance between the student's vectors of a translation and its English sentence."""
    pair_contrast: float = 0.3
    """Weight of the contrastive loss between translations and English sentences of the batch."""
    dropout: float = 0.1
    """Share of tokens that are dropped from each text."""
    typos: float = 0.1
    """Share of texts that are added a second time with a typo."""
    whitening: float = 0.25
    """Whitening at the end: 0 none, 1 gives all axes the same variance."""
    vocabulary_lines: int = 30_000
    """Maximum number of lines per language for training the tokenizer."""
    vocabulary_english_lines: int = 400_000
    vocabulary_english: float = 3.0
    """Weight of English in training the tokenizer, relative to a language with as many lines."""


def read_recipe(file: Path, kind: type[SomeRecipe]) -> SomeRecipe:
    """Read a recipe of a kind from a YAML mapping of field to value; missing fields keep their defaults.

    Raises `InputError` with the file name if it cannot be read, or if a field or value is invalid.
    """
    try:
        values = yaml.safe_load(file.read_text(encoding="utf-8")) or {}
    except (OSError, ValueError, yaml.YAMLError) as error:
        raise InputError(f"{file} cannot be read: {error}") from error
    if not isinstance(values, dict):
        raise InputError(f"{file}: a recipe must be a mapping of field names to values")
    return kind(**{name: _value(file, kind, str(name), value) for name, value in values.items()})


def write_recipe(file: Path, recipe: AnyRecipe) -> None:
    """Write a recipe as YAML for `read_recipe`."""
    file.write_text(yaml.safe_dump(asdict(recipe), sort_keys=False), encoding="utf-8")


def _value(file: Path, kind: type[AnyRecipe], name: str, value: Any) -> Any:
    kinds = {field.name: field.type for field in fields(kind)}
    if name not in kinds:
        nearest = suggest(name, kinds)
        hint = f"did you mean {nearest!r}?" if nearest else f"the fields are {', '.join(kinds)}"
        raise InputError(f"{file}: a recipe has no field {name!r}; {hint}")
    if name in ("source_weights", "sentence_weights"):
        return _weights(file, name, value, "the name of a source")
    if name == "language_weights":
        weights = _weights(file, name, value, "a language code")
        return {_language(file, code): weight for code, weight in weights.items()}
    whole = kinds[name] == "int"
    if not _is_number(value) or (whole and not isinstance(value, int)):
        raise InputError(f"{file}: {name} must be a {'whole ' if whole else ''}number of 0 or more, not {value!r}")
    if name in kind.NEVER_ZERO and not value:
        raise InputError(f"{file}: {name} must be more than 0")
    return value if whole else float(value)


def _weights(file: Path, name: str, value: Any, key: str) -> dict[str, float]:
    if not isinstance(value, dict) or not all(_is_number(weight) for weight in value.values()):
        raise InputError(f"{file}: {name} must map {key} to a number of 0 or more")
    return {str(named): float(weight) for named, weight in value.items()}


def _language(file: Path, code: str) -> str:
    known = language_code(code)
    if known is None:
        hint = "use one such as `de` or `pt-BR`; quote Norwegian as `'no'`, because YAML reads a bare `no` as false"
        raise InputError(f"{file}: language_weights: {code!r} is not a language code; {hint}")
    return known


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value < math.inf
