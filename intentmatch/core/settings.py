"""One frozen `Settings`, resolved from four places, each value remembering which of them it came from.

An explicit argument wins over the environment (`INTENTMATCH_*`), that over the registry's `settings:`, and that over
the default.
"""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from intentmatch.core.errors import InputError, Location, Problem, RegistryError, SettingsError, suggest
from intentmatch.text.normalize import language_code

ENVIRONMENT_PREFIX = "INTENTMATCH_"
AGGREGATIONS = ("mean2", "max")
SCORERS = ("head", "cosine")
INDEXES = ("exact", "usearch", "torch")
VECTORS = ("float32", "float16")
TARGETS = ("precision", "false_accept", "balance")
PRECISIONS = ("auto", "float32", "float16", "bfloat16")
LINT_LEVELS = ("off", "info", "warning", "error")
INBOX_MODES = ("redacted", "hashed", "plain")
INBOX_BOUNDS = ("messages", "days")
LOCAL = frozenset(
    {"device", "precision", "threads", "remote_seconds", "cache", "lint", "inbox", "inbox_keep", "inbox_mode"}
)
"""Settings about this machine or about the YAML rather than the bot's answers; they do not travel with an artefact."""
DEFAULT_LANGUAGE = "default"
"""The key of a threshold mapping that holds for every language not named in it."""


@dataclass(frozen=True)
class Settings:
    """Everything about a matcher that is not an intent. The README's settings table is checked against these."""

    encoder: str = "static"
    """`KIND` or `KIND:MODEL`: `static`, `static:./folder`, `onnx:FOLDER`, `sentence_transformer:NAME_OR_FOLDER`,
    `remote:URL#MODEL`."""
    device: str = "auto"
    """Where a transformer runs: auto (the GPU when there is one), cpu, cuda, cuda:1, cuda:all, mps."""
    precision: str = "auto"
    """Of a transformer's arithmetic: auto (half on a GPU), float32, float16, bfloat16."""
    threads: int = 1
    """That a call of an `onnx` encoder computes with; messages at the same time spread over the cores without them."""
    remote_seconds: float = 20.0
    """How long the server of a `remote` encoder may be silent, and have us wait when it is busy."""
    prompts: Mapping[str, str] = field(default_factory=dict)
    """Text put before every `utterance` and `query`, for models trained with such prefixes; empty: the model's own."""
    aggregation: str = "mean2"
    """How an intent's score comes from its utterances: mean2 (mean of the two nearest), max (the nearest)."""
    scorer: str = "head"
    """What intents are told apart by: head (a regression fitted at build time) or cosine (that alone)."""
    index: str = "exact"
    """What finds the nearest utterances where cosine tells intents apart: exact (a look at all), usearch (a graph)."""
    vectors: str = "float32"
    """The numbers that vectors of utterances are kept in: float32, or float16, which takes half of the memory."""
    target: Mapping[str, float | bool] = field(default_factory=lambda: {"precision": 0.95, "give_up": 0.005})
    """What the learned cuts are for. `precision`: so many of the answers given are right; with `give_up`, as long as
    that costs no more than this share of all messages. `false_accept`: no more than this share of the messages out of
    scope is answered. `balance`: most messages rightly answered or rightly refused."""
    threshold: Mapping[str, float] = field(default_factory=dict)
    """Cut on the score by language, `default` for all others; empty: cuts on the confidence, learned for `target`."""
    margin: float | None = None
    """Two intents whose scores are closer than this are ambiguous; None: learned."""
    fuzzy: float = 0.8
    """Typo-tolerant hits: least share of characters that agree; 1.0 turns them off."""
    reranker: str = "none"
    """A cross-encoder for doubtful messages: none, `cross_encoder:NAME_OR_FOLDER`, or just the name or folder."""
    band: float | None = None
    """The reranker is asked this near a threshold; None: where the verdict is wrong too often."""
    reranker_seconds: float = 0.5
    """Time the reranker may take for a message; it is asked about as many utterances as it manages in that time."""
    several_intents: bool = False
    """Whether a message may be several requests, which the result then has as `parts`."""
    top_k: int = 5
    """Candidates in a result."""
    cache: str = "auto"
    """Vectors on disk: auto (the user's cache folder), off, or a folder."""
    lint: Mapping[str, str] = field(default_factory=dict)
    """Rule id to what `lint` makes of its findings: off, info, warning, error; a rule not named has its own."""
    inbox: str = "off"
    """Where messages that were not understood are kept: off, or a file."""
    inbox_keep: Mapping[str, int] = field(default_factory=lambda: {"messages": 10_000, "days": 90})
    """How many distinct messages are kept there, and for how long after they were last said."""
    inbox_mode: str = "redacted"
    """What is kept of a message: redacted (without addresses and numbers of people), hashed (no text), or plain."""
    origins: Mapping[str, str] = field(default_factory=dict, compare=False, repr=False)
    """Name of a setting to where its value came from, in words; a name not in it has its default."""

    def origin(self, name: str) -> str:
        """Where the value of a setting came from, in words."""
        return self.origins.get(name, "default")

    def to_dict(self) -> dict[str, Any]:
        """The values that an answer depends on, as plain JSON values."""
        return {name: _plain(getattr(self, name)) for name in PARSERS if name not in LOCAL}


def resolve(
    explicit: Mapping[str, Any] | None = None,
    *,
    environ: Mapping[str, str] | None = None,
    registry: Mapping[str, Any] | None = None,
    locations: Mapping[str, Location] | None = None,
    base: Settings | None = None,
) -> Settings:
    """Settings from all four places.

    `registry` is the `settings:` block as the reader gives it (text, or a mapping of text); `locations` says where
    each of its keys stands. `base` stands in for the defaults: the settings an artefact was built with. Raises
    `SettingsError` for an impossible value from code or the environment and `RegistryError`, with positions and all
    problems at once, for those from the registry.
    """
    values: dict[str, Any] = {} if base is None else {name: getattr(base, name) for name in PARSERS}
    origins: dict[str, str] = {} if base is None else dict(base.origins)
    problems: list[Problem] = []
    for name, value in (registry or {}).items():
        place = (locations or {}).get(name) or Location("settings")
        try:
            values[name] = parse(name, value)
        except InputError as error:
            problems.append(Problem(place, "error", "setting", str(error)))
        origins[name] = place.short
    if problems:
        raise RegistryError(problems)
    for name in PARSERS:
        variable = ENVIRONMENT_PREFIX + name.upper()
        text = (os.environ if environ is None else environ).get(variable)
        if text is not None:
            values[name] = _parse_from(variable, name, text)
            origins[name] = f"environment {variable}"
    for name, value in (explicit or {}).items():
        values[name] = _parse_from("argument", name, value)
        origins[name] = "argument"
    return Settings(**values, origins=origins)


def parse(name: str, value: Any) -> Any:
    """The value of one setting from text, a mapping of text, or a Python value. Raises `SettingsError`."""
    if name not in PARSERS:
        nearest = suggest(name, PARSERS)
        hint = f"did you mean {nearest!r}?" if nearest else f"known are {', '.join(sorted(PARSERS))}"
        raise SettingsError(f"unknown setting {name!r}: {hint}")
    try:
        return PARSERS[name](value)
    except (ValueError, TypeError) as error:
        raise SettingsError(f"setting {name!r} cannot be {value!r}: {error}") from None


def fraction(value: Any) -> float:
    """A number from 0 to 1. Raises `ValueError` saying so."""
    try:
        number = float(value)
    except (TypeError, ValueError, OverflowError):
        raise ValueError("it must be a number from 0 to 1") from None
    if isinstance(value, bool) or not 0.0 <= number <= 1.0:
        raise ValueError("it must be a number from 0 to 1")
    return number


def _parse_from(origin: str, name: str, value: Any) -> Any:
    try:
        return parse(name, value)
    except SettingsError as error:
        raise SettingsError(f"{error} (from {origin})") from None


def _text(value: Any) -> str:
    if not isinstance(value, (str, os.PathLike)) or not str(value).strip():
        raise ValueError("it must be text")
    return str(value).strip()


def _one_of(*choices: str) -> Callable[[Any], str]:
    def parse_choice(value: Any) -> str:
        if value not in choices:
            raise ValueError(f"it must be one of {', '.join(choices)}")
        return str(value)

    return parse_choice


def _count(value: Any) -> int:
    try:
        number = 0 if isinstance(value, (bool, float)) else int(value)
    except (TypeError, ValueError):
        number = 0
    if number < 1:
        raise ValueError("it must be a whole number from 1 up")
    return number


def _switch(value: Any) -> bool:
    known = {"true": True, "false": False}
    if (said := str(value).lower()) not in known:
        raise ValueError("it must be true or false")
    return known[said]


def _seconds(value: Any) -> float:
    try:
        seconds = -1.0 if isinstance(value, bool) else float(value)
    except (TypeError, ValueError):
        seconds = -1.0
    if not 0.0 < seconds < math.inf:
        raise ValueError("it must be a number of seconds above 0")
    return seconds


def _threshold(value: Any) -> dict[str, float]:
    """`0.5`, `{default: 0.5, de: 0.45}`, or the latter as the text `0.5,de=0.45`."""
    if value is None or value == "auto":
        return {}
    if isinstance(value, str) and ("=" in value or "," in value):
        pairs = [part.strip().rpartition("=") for part in value.split(",")]
        value = {key.strip() or DEFAULT_LANGUAGE: number for key, _, number in pairs}
    if isinstance(value, Mapping):
        return {_language(str(code)): fraction(number) for code, number in value.items()}
    return {DEFAULT_LANGUAGE: fraction(value)}


def _target(value: Any) -> dict[str, float | bool]:
    """`{precision: 0.95}` and the like, or the same as the text `precision=0.95,give_up=0.03` or `balance`."""
    if isinstance(value, str):
        pairs = [part.strip().partition("=") for part in value.split(",")]
        value = {key.strip(): number.strip() or True for key, _, number in pairs}
    if not isinstance(value, Mapping) or len(set(value) & set(TARGETS)) != 1:
        raise ValueError(f"it must be one of {', '.join(TARGETS)}, as in `{{precision: 0.95}}`")
    if unknown := set(map(str, value)) - {*TARGETS, "give_up"}:
        raise ValueError(f"it takes {', '.join(TARGETS)} and give_up, not {', '.join(sorted(unknown))}")
    if "give_up" in value and "precision" not in value:
        raise ValueError("give_up goes with precision")
    if "balance" in value:
        if str(value["balance"]).lower() != "true":
            raise ValueError("balance is `true` or left out")
        return {"balance": True}
    return {str(key): fraction(number) for key, number in value.items()}


def _learned(value: Any) -> float | None:
    """A number from 0 to 1, or `auto` for one that is learned."""
    return None if value is None or value == "auto" else fraction(value)


def _language(code: str) -> str:
    language = DEFAULT_LANGUAGE if code == DEFAULT_LANGUAGE else language_code(code)
    if language is None:
        raise ValueError(f"{code!r} is neither a language code such as en or pt-BR, nor `default`")
    return language


def _prompts(value: Any) -> dict[str, str]:
    if not isinstance(value, Mapping):
        raise ValueError("it must be a mapping with the keys utterance and query")
    unknown = set(value) - {"utterance", "query"}
    if unknown:
        raise ValueError(f"its keys are utterance and query, not {', '.join(sorted(map(str, unknown)))}")
    if not all(isinstance(text, str) for text in value.values()):
        raise ValueError("each must be text")
    return dict(value)


def _lint(value: Any) -> dict[str, str]:
    """`{few-utterances: off}`, or the same as the text `few-utterances=off,two-clusters=warning`."""
    if isinstance(value, str):
        pairs = [part.partition("=") for part in value.split(",")]
        value = {rule: level for rule, _, level in pairs}
    if not isinstance(value, Mapping):
        raise ValueError("it must map rule ids to levels, as few-utterances=off does")
    known = _one_of(*LINT_LEVELS)
    return {str(rule).strip(): known(str(level).strip()) for rule, level in value.items()}


def _off_or_path(value: Any) -> str:
    return "off" if value is False else _text(value)


def _bounds(value: Any) -> dict[str, int]:
    """`{messages: 5000, days: 30}`, or the same as the text `messages=5000,days=30`; one left out is the default."""
    if isinstance(value, str):
        pairs = [part.partition("=") for part in value.split(",")]
        value = {name.strip(): number.strip() for name, _, number in pairs}
    if not isinstance(value, Mapping) or set(map(str, value)) - set(INBOX_BOUNDS):
        raise ValueError("it must be a mapping with the keys messages and days")
    return {**Settings().inbox_keep, **{str(name): _count(number) for name, number in value.items()}}


PARSERS: Mapping[str, Callable[[Any], Any]] = {
    "encoder": _text,
    "device": _text,
    "precision": _one_of(*PRECISIONS),
    "threads": _count,
    "remote_seconds": _seconds,
    "prompts": _prompts,
    "aggregation": _one_of(*AGGREGATIONS),
    "scorer": _one_of(*SCORERS),
    "index": _one_of(*INDEXES),
    "vectors": _one_of(*VECTORS),
    "target": _target,
    "threshold": _threshold,
    "margin": _learned,
    "fuzzy": fraction,
    "reranker": _text,
    "band": _learned,
    "reranker_seconds": _seconds,
    "several_intents": _switch,
    "top_k": _count,
    "cache": _off_or_path,
    "lint": _lint,
    "inbox": _off_or_path,
    "inbox_keep": _bounds,
    "inbox_mode": _one_of(*INBOX_MODES),
}
"""Setting name to the function that reads its value; the only list of what may be set."""


def _plain(value: Any) -> Any:
    return dict(value) if isinstance(value, Mapping) else value
