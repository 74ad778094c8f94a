"""Parsers of the values of settings: text, a mapping of text, or a Python value.

Each takes a value and returns the parsed one. Each raises `ValueError`, which says what the value must be.
"""

from __future__ import annotations

import math
import os
import re
from collections.abc import Callable, Mapping
from typing import Any, Final, Literal

from intentmatch.core.allowed import http_url
from intentmatch.core.threshold import parse_threshold
from intentmatch.text.normalize import fold, language_code

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
FROM_TESTS: Final = "tests"
"""Value of `out_of_scope_share`: learn it from `tests:`."""
_DEVICE = re.compile(r"auto|cpu|mps|cuda(:[0-9]+|:all)?")
DEFAULT_LANGUAGE = "default"
"""Key of a threshold mapping for all languages that it does not list."""


def fraction(value: Any) -> float:
    """Parse a number from 0 to 1. Raises `ValueError` for anything else."""
    try:
        number = float(value)
    except (TypeError, ValueError, OverflowError):
        raise ValueError("it must be a number from 0 to 1") from None
    # NaN fails this comparison too.
    if isinstance(value, bool) or not 0.0 <= number <= 1.0:
        raise ValueError("it must be a number from 0 to 1")
    return number


def share(value: Any) -> float | Literal["tests"]:
    """Parse a number from 0 to 1, 1 excluded, or `tests`."""
    if value == FROM_TESTS:
        return FROM_TESTS
    try:
        number = fraction(value)
    except ValueError:
        number = 1.0
    if number == 1.0:
        raise ValueError(f"it must be a number from 0 to 1, 1 excluded, or `{FROM_TESTS}`")
    return number


def text(value: Any) -> str:
    """Parse text that is not empty, or a path."""
    if not isinstance(value, (str, os.PathLike)) or not str(value).strip():
        raise ValueError("it must be text")
    text = str(value).strip()
    # The names of files that are not UTF-8 have such surrogates.
    if "\0" in text or any("\ud800" <= letter <= "\udfff" and not "\udc80" <= letter <= "\udcff" for letter in text):
        raise ValueError("it must be text without NUL and unpaired surrogates")
    return text


def one_of(*choices: str) -> Callable[[Any], str]:
    """Return a parser of one of these choices."""

    def parse_choice(value: Any) -> str:
        if value not in choices:
            raise ValueError(f"it must be one of {', '.join(choices)}")
        return str(value)

    return parse_choice


def device(value: Any) -> str:
    """Parse the name of a device. Whether this machine has it is known when a model is loaded."""
    name = text(value)
    if not _DEVICE.fullmatch(name):
        raise ValueError("it must be auto, cpu, mps, cuda, one GPU such as cuda:1, or cuda:all")
    return name


def count(value: Any) -> int:
    """Parse a whole number, 1 or more."""
    try:
        # `int` would cut 2.9 to 2 without a word.
        number = 0 if isinstance(value, (bool, float)) else int(value)
    except (TypeError, ValueError):
        number = 0
    if number < 1:
        raise ValueError("it must be a whole number, 1 or more")
    return number


def switch(value: Any) -> bool:
    """Parse true or false."""
    known = {"true": True, "false": False}
    if (text := str(value).lower()) not in known:
        raise ValueError("it must be true or false")
    return known[text]


def seconds(value: Any) -> float:
    """Parse a number of seconds greater than 0."""
    try:
        seconds = -1.0 if isinstance(value, bool) else float(value)
    except (TypeError, ValueError):
        seconds = -1.0
    if not 0.0 < seconds < math.inf:
        raise ValueError("it must be a number of seconds greater than 0")
    return seconds


def threshold(value: Any) -> dict[str, float | str]:
    """Parse `0.5`, `90%`, `{default: 0.5, de: 90%}`, or the mapping as text: `0.5,de=90%`."""
    if value is None or value == "auto":
        return {}
    if isinstance(value, str) and ("=" in value or "," in value):
        # A part without "=" has an empty key, which is `default`.
        pairs = [part.strip().rpartition("=") for part in value.split(",")]
        value = {key.strip() or DEFAULT_LANGUAGE: number for key, _, number in pairs}
    if isinstance(value, Mapping):
        return {_language(str(code)): parse_threshold(number) for code, number in value.items()}
    return {DEFAULT_LANGUAGE: parse_threshold(value)}


def _named(text: str) -> dict[str, str]:
    """Return the values by name of `messages=5000,days=30`, which may also be written as in YAML, with colons."""
    parts = (re.split("[=:]", part, maxsplit=1) for part in text.strip().removeprefix("{").removesuffix("}").split(","))
    return {name.strip(): "".join(value).strip() for name, *value in parts}


def target(value: Any) -> dict[str, float | bool]:
    """Parse a mapping such as `{precision: 0.95}`, or text such as `precision=0.95,confidence=0.9` or `balance`."""
    if isinstance(value, str):
        value = {key: number or True for key, number in _named(value).items()}
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


def learned(value: Any) -> float | None:
    """Parse a number from 0 to 1; return None for `auto`, which means learned."""
    return None if value is None or value == "auto" else fraction(value)


def _language(code: str) -> str:
    language = DEFAULT_LANGUAGE if code == DEFAULT_LANGUAGE else language_code(code)
    if language is None:
        raise ValueError(f"{code!r} is not `default` or a language code such as en or pt-BR")
    return language


def spelling(value: Any) -> dict[str, dict[str, str]]:
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


def fallback(value: Any) -> dict[str, list[str]]:
    """Parse `Sorry?`, `[Sorry?, Pardon?]`, or a mapping of languages to either."""
    by_language = value if isinstance(value, Mapping) else {DEFAULT_LANGUAGE: value}
    parsed: dict[str, list[str]] = {}
    for code, texts in by_language.items():
        listed = [texts] if isinstance(texts, str) else texts
        if not isinstance(listed, (list, tuple)) or not listed:
            raise ValueError("it must be a text, a list of texts, or map languages to them")
        parsed[_language(str(code))] = list(map(text, listed))
    return parsed


def prompts(value: Any) -> dict[str, str]:
    """Parse `{utterance: TEXT, query: TEXT}`."""
    if not isinstance(value, Mapping):
        raise ValueError("it must be a mapping with the keys utterance and query")
    unknown = set(value) - {"utterance", "query"}
    if unknown:
        raise ValueError(f"its keys are utterance and query, not {', '.join(sorted(map(str, unknown)))}")
    if not all(isinstance(text, str) for text in value.values()):
        raise ValueError("each value must be text")
    return dict(value)


def lint(value: Any) -> dict[str, str]:
    """Parse `{few-utterances: off}`, or text such as `few-utterances=off,two-clusters=warning`."""
    if isinstance(value, str):
        value = _named(value)
    if not isinstance(value, Mapping):
        raise ValueError("it must map rule ids to levels, for example few-utterances=off")
    known = one_of(*LINT_LEVELS)
    return {str(rule).strip(): known(str(level).strip()) for rule, level in value.items()}


def time_of_day(value: Any) -> str:
    """Parse `off` or a time such as `06:30`."""
    if value is False or value == "off":
        return "off"
    # YAML 1.1 reads 16:30 without quotes as a number to the base of 60: 990.
    found = re.fullmatch(r"([01]?\d|2[0-3]):([0-5]\d)", str(value))
    if found is None:
        raise ValueError("it must be a time of day in quotes, such as '06:30', or off")
    return f"{found[1]:>02}:{found[2]}"


def off_or_path(value: Any) -> str:
    """Parse `off` or a path."""
    # YAML 1.1 reads a bare `off` as false, where a value comes as Python and not as text.
    return "off" if value is False else text(value)


def inbox(value: Any) -> str:
    """Parse `off` or a path, which must not look like YAML: the next load would read the inbox as intents."""
    path = off_or_path(value)
    if path.lower().endswith((".yaml", ".yml")):
        raise ValueError("an inbox is no YAML file: write a name such as misses.sqlite")
    return path


def webhook(value: Any) -> str:
    """Parse `off` or an http(s) URL without a user; it may have a query, as those of chat programs do."""
    if value is False or value == "off":
        return "off"
    url = text(value)
    if http_url(url) is None:
        raise ValueError("it must be a URL that begins with https:// or http:// and has no user, or off")
    return url


def sample(value: Any) -> dict[str, float]:
    """Parse `{share: 0.01, messages: 1000}`, the same as text `share=0.01,messages=1000`, or the share alone."""
    if isinstance(value, str) and ("=" in value or ":" in value):
        value = _named(value)
    if not isinstance(value, Mapping):
        value = {"share": value}
    if set(map(str, value)) - set(SAMPLE_BOUNDS):
        raise ValueError(f"it must be a number from 0 to 1, or a mapping with the keys {' and '.join(SAMPLE_BOUNDS)}")
    return {str(name): fraction(number) if name == "share" else count(number) for name, number in value.items()}


def counts(*keys: str) -> Callable[[Any], dict[str, int]]:
    """Return a parser of `{messages: 5000, days: 30}`, or of text such as `messages=5000,days=30`."""

    def parse_counts(value: Any) -> dict[str, int]:
        if isinstance(value, str):
            value = _named(value)
        if not isinstance(value, Mapping) or set(map(str, value)) - set(keys):
            raise ValueError(f"it must be a mapping with the keys {' and '.join(keys)}")
        return {str(name): count(number) for name, number in value.items()}

    return parse_counts
