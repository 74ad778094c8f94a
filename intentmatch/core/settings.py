"""Settings of a matcher, resolved from four sources; each value knows its source.

Order of precedence: explicit argument, environment variable (`INTENTMATCH_*`), `settings:` of the registry, default.
"""

from __future__ import annotations

import math
import os
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, Literal

from intentmatch.core.errors import InputError, Location, Problem, RegistryError, SettingsError, suggest
from intentmatch.core.threshold import parse_threshold
from intentmatch.text.normalize import fold, language_code

ENVIRONMENT_PREFIX = "INTENTMATCH_"
AGGREGATIONS = ("mean2", "max")
SCORERS = ("head", "cosine")
INDEXES = ("exact", "usearch", "torch", "pgvector")
VECTORS = ("float32", "float16")
TARGETS = ("precision", "false_accept", "balance")
WITH_PRECISION = ("give_up", "confidence")
"""Further keys of a target that has a precision."""
PRECISIONS = ("auto", "float32", "float16", "bfloat16")
LINT_LEVELS = ("off", "info", "warning", "error")
INBOX_MODES = ("redacted", "hashed", "plain")
INBOX_BOUNDS = ("messages", "days")
SAMPLE_BOUNDS = ("share", "messages")
BUDGET_TIMES = ("minute", "day")
LOCAL = frozenset(
    {
        "device", "precision", "threads", "remote_seconds", "reranker_budget", "reranker_prompt", "cache",
        "require_signature", "confine", "max_file_bytes", "lint", "inbox", "inbox_keep", "inbox_mode", "inbox_sample",
        "drift", "drift_webhook",
    }
)  # fmt: skip
"""Settings of this machine or of the YAML that do not affect answers. An artefact does not contain them."""
OPERATORS = frozenset({"require_signature", "confine", "max_file_bytes"})
"""Settings of whoever runs the bot, which limit what YAML may do: YAML cannot set them."""
USUAL_SHARE = 0.1
"""Default of `out_of_scope_share`, chosen on development sets: with 0.06 to 0.1, the learned thresholds come equally
near to the best ones there. With 0.07, bots of few intents accept clearly more everyday talk.
"""
FROM_TESTS: Final = "tests"
"""Value of `out_of_scope_share`: learn it from `tests:`."""
WITH_LISTS = frozenset({"fallback"})
"""Settings whose values may be lists in YAML."""
DEFAULT_LANGUAGE = "default"
"""Key of a threshold mapping for all languages that it does not list."""


@dataclass(frozen=True)
class Settings:
    """All options of a matcher. A test compares the settings table of the documentation with these defaults."""

    encoder: str = "static"
    """`KIND` or `KIND:MODEL`: `static`, `static:./folder`, `onnx:FOLDER`, `sentence_transformer:NAME_OR_FOLDER`,
    `remote:URL#MODEL`."""
    device: str = "auto"
    """Where a transformer runs: auto (the GPU if there is one), cpu, cuda, cuda:1, cuda:all, mps."""
    precision: str = "auto"
    """Floating-point precision of a transformer: auto (half precision on a GPU), float32, float16, bfloat16."""
    threads: int = 1
    """Threads of one call of an `onnx` encoder. Concurrent messages use several cores even with 1."""
    remote_seconds: float = 20.0
    """Read timeout of a `remote` encoder in seconds, and the longest wait between retries."""
    prompts: Mapping[str, str] = field(default_factory=dict)
    """Prefix for each `utterance` and `query`, for models trained with prefixes; empty: the model's own prefixes."""
    aggregation: str = "mean2"
    """An intent's score from its utterances: mean2 (mean of the two nearest), max (the nearest)."""
    scorer: str = "head"
    """How intents are scored: head (with a classification head trained at build time) or cosine (similarity alone)."""
    index: str = "exact"
    """Nearest-neighbour search for scorer `cosine`: exact or torch (compare with all), usearch (graph), pgvector (graph
    in the database that the bot is in)."""
    vectors: str = "float32"
    """Number format of stored utterance vectors: float32, or float16 for half of the memory."""
    target: Mapping[str, float | bool] = field(default_factory=lambda: {"precision": 0.95, "give_up": 0.005})
    """What learned thresholds aim for. `precision`: this share of the answers given is right; `give_up` limits the
    share of all messages left unanswered to get there; `confidence` makes it a promise, which is kept with this
    probability if `tests:` suffice for it. `false_accept`: at most this share of out-of-scope messages is
    answered. `balance`: the most messages answered or refused correctly."""
    out_of_scope_share: float | Literal["tests"] = USUAL_SHARE
    """Share of all messages that are expected to be out of scope. Confidences, learned thresholds, and the numbers of
    an evaluation on held-out utterances are made for it. `tests`: the share and the confidence curve are learned from
    `tests:`, if these are 30 messages or more."""
    threshold: Mapping[str, float | str] = field(default_factory=dict)
    """Threshold per language, `default` for all others: a number is on the score, a text like "90%" on the confidence;
    empty: learned for `target`."""
    margin: float | None = None
    """Two intents whose scores are closer than this are ambiguous; None: learned."""
    fuzzy: float = 0.8
    """Typo tolerance: smallest share of characters that must agree; 1.0 turns it off, with `spelling`."""
    spelling: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    """Shorthand of users and what it stands for, per language, `default` for all, in addition to the built-in one."""
    reranker: str = "none"
    """Second opinion on doubtful messages: none, words (word alignment, needs no model), a cross-encoder as
    `cross_encoder:NAME_OR_FOLDER` or just its name or folder, an exported one as `onnx:FOLDER`, or a server as
    `remote:URL#MODEL` or `chat:URL#MODEL`."""
    band: float | None = None
    """Distance to the threshold within which the reranker is used; None: learned."""
    reranker_seconds: float = 0.5
    """Time limit of the reranker per message; it scores as many utterances as fit."""
    reranker_budget: Mapping[str, int] = field(default_factory=lambda: {"minute": 60, "day": 5_000})
    """Most requests to the server of a reranker, per minute and per day; beyond them the verdict stands."""
    reranker_prompt: bool = False
    """Whether the trace shows what a chat model was asked."""
    several_intents: bool = False
    """Whether a message may hold several requests, returned as `parts` of the result."""
    top_k: int = 5
    """Number of candidates in a result."""
    fallback: Mapping[str, Sequence[str]] = field(default_factory=dict)
    """What a bot of the protocol `dialogflow` says to a message that no intent fits: texts per language, `default` for
    all others. A conversation gets one after the other."""
    cache: str = "auto"
    """Vectors on disk: auto (the user's cache folder), off, or a folder."""
    require_signature: str = "off"
    """PEM file of the ed25519 public key that must have signed the artefact; off: YAML and unsigned artefacts may be
    loaded."""
    confine: bool = False
    """Whether `include:` and the models, caches and inboxes that YAML names must lie in the registry's own folder."""
    max_file_bytes: int = 64 * 1024 * 1024
    """Largest YAML file that is read."""
    lint: Mapping[str, str] = field(default_factory=dict)
    """Rule id to level: off, info, warning, error. Rules that are not listed keep their own level."""
    inbox: str = "off"
    """File for messages that were not understood, or off."""
    inbox_keep: Mapping[str, int] = field(default_factory=lambda: {"messages": 10_000, "days": 90})
    """Limits of the inbox: number of distinct messages, and days since a message was last seen."""
    inbox_mode: str = "redacted"
    """What the inbox stores: redacted (personal data removed), hashed (no text), or plain."""
    inbox_sample: Mapping[str, float] = field(default_factory=lambda: {"share": 0.0, "messages": 1000})
    """Random sample of all answers that the inbox keeps for a review: the share of answers, and the most answers."""
    drift: str = "off"
    """Time of day, such as 06:30 in UTC, when a server compares the sample of the last day with the weeks before."""
    drift_webhook: str = "off"
    """URL that is told what has changed, as JSON, or off."""
    origins: Mapping[str, str] = field(default_factory=dict, compare=False, repr=False)
    """Setting name to the source of its value, in words; names that are missing have their default."""

    @property
    def promises(self) -> bool:
        """Whether the target is a promised precision."""
        return "confidence" in self.target

    def origin(self, name: str) -> str:
        """Return the source of a setting's value, in words."""
        return self.origins.get(name, "default")

    def to_dict(self) -> dict[str, Any]:
        """Return the settings that can change an answer, as plain JSON values."""
        return {name: _plain(getattr(self, name)) for name in PARSERS if name not in LOCAL}


def resolve(
    explicit: Mapping[str, Any] | None = None,
    *,
    environ: Mapping[str, str] | None = None,
    registry: Mapping[str, Any] | None = None,
    locations: Mapping[str, Location] | None = None,
    base: Settings | None = None,
) -> Settings:
    """Resolve settings from all sources.

    `registry` is the `settings:` block from the reader (text, or a mapping of text); `locations` holds the position of
    each of its keys. `base` replaces the defaults, for example by the settings of an artefact.

    Raises `SettingsError` for an invalid value from code or the environment, and `RegistryError` with all problems for
    invalid values from the registry.
    """
    values: dict[str, Any] = {} if base is None else {name: getattr(base, name) for name in PARSERS}
    origins: dict[str, str] = {} if base is None else dict(base.origins)
    problems: list[Problem] = []
    for name, value in (registry or {}).items():
        place = (locations or {}).get(name) or Location("settings")
        if name in OPERATORS:
            hint = f"set {ENVIRONMENT_PREFIX}{name.upper()}, or pass it to Matcher.load or --set"
            problems.append(Problem(place, "error", "setting", f"{name} cannot be set in YAML, which it limits", hint))
            continue
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
    """Parse one setting from text, a mapping of text, or a Python value. Raises `SettingsError` if it is invalid."""
    if name not in PARSERS:
        nearest = suggest(name, PARSERS)
        hint = f"did you mean {nearest!r}?" if nearest else f"known are {', '.join(sorted(PARSERS))}"
        raise SettingsError(f"unknown setting {name!r}: {hint}")
    try:
        return PARSERS[name](value)
    except (ValueError, TypeError) as error:
        raise SettingsError(f"setting {name!r} cannot be {value!r}: {error}") from None


def fraction(value: Any) -> float:
    """Parse a number from 0 to 1. Raises `ValueError` for anything else."""
    try:
        number = float(value)
    except (TypeError, ValueError, OverflowError):
        raise ValueError("it must be a number from 0 to 1") from None
    if isinstance(value, bool) or not 0.0 <= number <= 1.0:
        raise ValueError("it must be a number from 0 to 1")
    return number


def _share(value: Any) -> float | Literal["tests"]:
    if value == FROM_TESTS:
        return FROM_TESTS
    try:
        number = fraction(value)
    except ValueError:
        number = 1.0
    if number == 1.0:
        raise ValueError(f"it must be a number from 0 to 1, 1 excluded, or `{FROM_TESTS}`")
    return number


def _parse_from(origin: str, name: str, value: Any) -> Any:
    try:
        return parse(name, value)
    except SettingsError as error:
        raise SettingsError(f"{error} (from {origin})") from None


def _text(value: Any) -> str:
    if not isinstance(value, (str, os.PathLike)) or not str(value).strip():
        raise ValueError("it must be text")
    text = str(value).strip()
    # The names of files that are not UTF-8 have such surrogates.
    if "\0" in text or any("\ud800" <= letter <= "\udfff" and not "\udc80" <= letter <= "\udcff" for letter in text):
        raise ValueError("it must be text without NUL and unpaired surrogates")
    return text


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
        raise ValueError("it must be a whole number, 1 or more")
    return number


def _switch(value: Any) -> bool:
    known = {"true": True, "false": False}
    if (text := str(value).lower()) not in known:
        raise ValueError("it must be true or false")
    return known[text]


def _seconds(value: Any) -> float:
    try:
        seconds = -1.0 if isinstance(value, bool) else float(value)
    except (TypeError, ValueError):
        seconds = -1.0
    if not 0.0 < seconds < math.inf:
        raise ValueError("it must be a number of seconds greater than 0")
    return seconds


def _threshold(value: Any) -> dict[str, float | str]:
    """Parse `0.5`, `90%`, `{default: 0.5, de: 90%}`, or the mapping as text: `0.5,de=90%`."""
    if value is None or value == "auto":
        return {}
    if isinstance(value, str) and ("=" in value or "," in value):
        pairs = [part.strip().rpartition("=") for part in value.split(",")]
        value = {key.strip() or DEFAULT_LANGUAGE: number for key, _, number in pairs}
    if isinstance(value, Mapping):
        return {_language(str(code)): parse_threshold(number) for code, number in value.items()}
    return {DEFAULT_LANGUAGE: parse_threshold(value)}


def _target(value: Any) -> dict[str, float | bool]:
    """Parse a mapping such as `{precision: 0.95}`, or text such as `precision=0.95,confidence=0.9` or `balance`."""
    if isinstance(value, str):
        pairs = [part.strip().partition("=") for part in value.split(",")]
        value = {key.strip(): number.strip() or True for key, _, number in pairs}
    if not isinstance(value, Mapping) or len(set(value) & set(TARGETS)) != 1:
        raise ValueError(f"it must be one of {', '.join(TARGETS)}, as in `{{precision: 0.95}}`")
    if unknown := set(map(str, value)) - {*TARGETS, *WITH_PRECISION}:
        *most, last = *TARGETS, *WITH_PRECISION
        raise ValueError(f"its keys are {', '.join(most)} and {last}, not {', '.join(sorted(unknown))}")
    for key in WITH_PRECISION:
        if key in value and "precision" not in value:
            raise ValueError(f"{key} needs precision")
    if set(WITH_PRECISION) <= set(value):
        raise ValueError("a promise (confidence) gives nothing up: leave one of confidence and give_up out")
    if "balance" in value:
        if str(value["balance"]).lower() != "true":
            raise ValueError("balance must be `true`")
        return {"balance": True}
    parsed: dict[str, float | bool] = {str(key): fraction(number) for key, number in value.items()}
    if "confidence" in parsed and not (0.0 < parsed["confidence"] < 1.0 and 0.0 < parsed["precision"] < 1.0):
        raise ValueError("precision and confidence of a promise must be between 0 and 1")
    return parsed


def _learned(value: Any) -> float | None:
    """Parse a number from 0 to 1; return None for `auto`, which means learned."""
    return None if value is None or value == "auto" else fraction(value)


def _language(code: str) -> str:
    language = DEFAULT_LANGUAGE if code == DEFAULT_LANGUAGE else language_code(code)
    if language is None:
        raise ValueError(f"{code!r} is not `default` or a language code such as en or pt-BR")
    return language


def _spelling(value: Any) -> dict[str, dict[str, str]]:
    """Parse `{en: {gr8: great}}`."""
    if not isinstance(value, Mapping) or not all(isinstance(words, Mapping) for words in value.values()):
        raise ValueError("it must map languages to words, for example {en: {gr8: great}}")
    parsed: dict[str, dict[str, str]] = {}
    for code, words in value.items():
        for short, long in words.items():
            if len(fold(str(short)).split()) != 1:
                raise ValueError(f"{short!r} is not one word")
            if not isinstance(long, str) or not fold(long):
                raise ValueError(f"{short!r} must stand for words, not {long!r}")
        parsed[_language(str(code))] = {str(short): long.strip() for short, long in words.items()}
    return parsed


def _fallback(value: Any) -> dict[str, list[str]]:
    """Parse `Sorry?`, `[Sorry?, Pardon?]`, or a mapping of languages to either."""
    by_language = value if isinstance(value, Mapping) else {DEFAULT_LANGUAGE: value}
    parsed: dict[str, list[str]] = {}
    for code, texts in by_language.items():
        listed = [texts] if isinstance(texts, str) else texts
        if not isinstance(listed, (list, tuple)) or not listed:
            raise ValueError("it must be a text, a list of texts, or map languages to them")
        parsed[_language(str(code))] = list(map(_text, listed))
    return parsed


def _prompts(value: Any) -> dict[str, str]:
    if not isinstance(value, Mapping):
        raise ValueError("it must be a mapping with the keys utterance and query")
    unknown = set(value) - {"utterance", "query"}
    if unknown:
        raise ValueError(f"its keys are utterance and query, not {', '.join(sorted(map(str, unknown)))}")
    if not all(isinstance(text, str) for text in value.values()):
        raise ValueError("each value must be text")
    return dict(value)


def _lint(value: Any) -> dict[str, str]:
    """Parse `{few-utterances: off}`, or text such as `few-utterances=off,two-clusters=warning`."""
    if isinstance(value, str):
        pairs = [part.partition("=") for part in value.split(",")]
        value = {rule: level for rule, _, level in pairs}
    if not isinstance(value, Mapping):
        raise ValueError("it must map rule ids to levels, for example few-utterances=off")
    known = _one_of(*LINT_LEVELS)
    return {str(rule).strip(): known(str(level).strip()) for rule, level in value.items()}


def _time_of_day(value: Any) -> str:
    """Parse `off` or a time such as `06:30`."""
    if value is False or value == "off":
        return "off"
    found = re.fullmatch(r"([01]?\d|2[0-3]):([0-5]\d)", str(value))
    if found is None:
        raise ValueError("it must be a time of day in quotes, such as '06:30', or off")
    return f"{found[1]:>02}:{found[2]}"


def _off_or_path(value: Any) -> str:
    return "off" if value is False else _text(value)


def _sample(value: Any) -> dict[str, float]:
    """Parse `{share: 0.01, messages: 1000}`, the same as text `share=0.01,messages=1000`, or the share alone."""
    if isinstance(value, str) and "=" in value:
        pairs = [part.partition("=") for part in value.split(",")]
        value = {name.strip(): number.strip() for name, _, number in pairs}
    if not isinstance(value, Mapping):
        value = {"share": value}
    if set(map(str, value)) - set(SAMPLE_BOUNDS):
        raise ValueError(f"it must be a number from 0 to 1, or a mapping with the keys {' and '.join(SAMPLE_BOUNDS)}")
    parsed = {str(name): fraction(number) if name == "share" else _count(number) for name, number in value.items()}
    return {**Settings().inbox_sample, **parsed}


def _counts(setting: str, keys: Sequence[str]) -> Callable[[Any], dict[str, int]]:
    """Parse `{messages: 5000, days: 30}`, or text such as `messages=5000,days=30`. A missing key has its default."""

    def parse_counts(value: Any) -> dict[str, int]:
        if isinstance(value, str):
            pairs = [part.partition("=") for part in value.split(",")]
            value = {name.strip(): number.strip() for name, _, number in pairs}
        if not isinstance(value, Mapping) or set(map(str, value)) - set(keys):
            raise ValueError(f"it must be a mapping with the keys {' and '.join(keys)}")
        return {**getattr(Settings(), setting), **{str(name): _count(number) for name, number in value.items()}}

    return parse_counts


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
    "out_of_scope_share": _share,
    "threshold": _threshold,
    "margin": _learned,
    "fuzzy": fraction,
    "spelling": _spelling,
    "reranker": _text,
    "band": _learned,
    "reranker_seconds": _seconds,
    "reranker_prompt": _switch,
    "reranker_budget": _counts("reranker_budget", BUDGET_TIMES),
    "several_intents": _switch,
    "top_k": _count,
    "fallback": _fallback,
    "cache": _off_or_path,
    "require_signature": _off_or_path,
    "confine": _switch,
    "max_file_bytes": _count,
    "lint": _lint,
    "inbox": _off_or_path,
    "inbox_keep": _counts("inbox_keep", INBOX_BOUNDS),
    "inbox_mode": _one_of(*INBOX_MODES),
    "inbox_sample": _sample,
    "drift": _time_of_day,
    "drift_webhook": _off_or_path,
}
"""Setting name to the parser of its value; the only list of setting names."""


def _plain(value: Any) -> Any:
    return {key: _plain(inner) for key, inner in value.items()} if isinstance(value, Mapping) else value
