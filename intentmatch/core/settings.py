"""Settings of a matcher, resolved from four sources; each value knows its source.

Order of precedence: explicit argument, environment variable (`INTENTMATCH_*`), `settings:` of the registry, default.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from intentmatch.core import allowed, setting_values
from intentmatch.core.errors import InputError, Location, Problem, RegistryError, SettingsError, suggest

ENVIRONMENT_PREFIX = "INTENTMATCH_"
LOCAL = frozenset(
    {
        "device", "precision", "threads", "remote_seconds", "reranker_budget", "reranker_prompt", "cache",
        "require_signature", "confine", "allow", "max_file_bytes", "lint", "inbox", "inbox_keep", "inbox_mode",
        "inbox_sample", "drift", "drift_webhook",
    }
)  # fmt: skip
"""Settings of this machine or of the YAML that do not affect answers. An artefact does not contain them."""
OPERATORS = frozenset({"require_signature", "confine", "allow", "max_file_bytes"})
"""Settings of whoever runs the bot, which limit what YAML may do: YAML cannot set them."""
USUAL_SHARE = 0.1
"""Default of `out_of_scope_share`, chosen on development sets: with 0.06 to 0.1, the learned thresholds come equally
near to the best ones there. With 0.07, bots of few intents accept clearly more everyday talk.
"""
FILES = frozenset({"cache", "inbox"})
"""Settings that name a file or a folder. In YAML, a relative path begins at the folder of the file that names it."""
MODELS = frozenset({"encoder", "reranker"})
"""Settings that name a model as `KIND:MODEL` or `MODEL`. A MODEL that begins with `./` or `../` is such a path too."""
ON_SERVERS = frozenset({"remote", "chat", "systemone", "decisions"})
"""Kinds of models on servers: MODEL is `URL#NAME`."""
NO_FILES = frozenset({"auto", "off", "database"})
"""Values of these settings that are no paths."""
WITH_LISTS = frozenset({"fallback"})
"""Settings whose values may be lists in YAML."""


@dataclass(frozen=True)
class Settings:
    """All options of a matcher. A test compares the settings table of the documentation with these defaults.

    Added in 0.3.0: `out_of_scope_share`, `spelling`, `reranker_budget`, `reranker_prompt`, `fallback`,
    `require_signature`, `confine`, `allow`, `max_file_bytes`, `inbox_sample`, `drift`, `drift_webhook`, `by_operator`.
    """

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
    `remote:URL#MODEL`, `chat:URL#MODEL`, `systemone:URL#MODEL` or `decisions:URL#MODEL`."""
    band: float | None = None
    """Distance to the threshold within which the reranker is used; None: learned."""
    reranker_seconds: float = 0.5
    """Time limit of the reranker per message; it scores as many utterances as fit."""
    reranker_budget: Mapping[str, int] = field(default_factory=lambda: {"minute": 60, "day": 5_000})
    """Most requests to the server of a reranker, per minute and per day; beyond them the verdict stands."""
    reranker_prompt: bool = False
    """Whether the trace shows what a judge on a server (`chat`, `systemone`, `decisions`) was asked."""
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
    """Whether `include:` and the models, caches and inboxes that YAML names must lie in the registry's own folder, and
    the servers and models elsewhere that it names be allowed."""
    allow: tuple[str, ...] = ()
    """What a confined registry may name besides: servers (`https://HOST`), models (`KIND:MODEL` or `KIND`), folders."""
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
    by_operator: frozenset[str] = field(default=frozenset(), compare=False, repr=False)
    """Names of the settings that an argument or the environment gives, and no file."""

    @property
    def promises(self) -> bool:
        """Whether the target is a promised precision. Added in 0.3.0."""
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
    by_operator: set[str] = set()
    problems: list[Problem] = []
    for name, value in (registry or {}).items():
        place = (locations or {}).get(name) or Location("settings")
        # Whoever may write YAML would otherwise lift the limits on it.
        if name in OPERATORS:
            hint = f"set {ENVIRONMENT_PREFIX}{name.upper()}, or pass it to Matcher.load or --set"
            problems.append(Problem(place, "error", "setting", f"{name} cannot be set in YAML, which it limits", hint))
            continue
        try:
            values[name] = parse(name, value)
            if name in FILES | MODELS:
                values[name] = beside(place, values[name], model=name in MODELS)
        except InputError as error:
            # Collected, so that an author sees all wrong settings at once.
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
            by_operator.add(name)
    for name, value in (explicit or {}).items():
        values[name] = _parse_from("argument", name, value)
        origins[name] = "argument"
        by_operator.add(name)
    return Settings(**values, origins=origins, by_operator=frozenset(by_operator))


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


def beside(place: Location, value: str, *, model: bool = False) -> str:
    """Return a path that a YAML file names as one from its folder: in `bots/shop.yaml`, `a.sqlite` is `bots/a.sqlite`.

    Of a `model`, only a path that begins with `./` or `../` is one from the folder: `onnx:./small` is
    `onnx:bots/small`. A file that is not on the disk, such as one in a database, has no folder.
    """
    folder = Path(place.path).parent
    if not folder.is_dir():
        return value
    if model:
        kind, separator, path = value.rpartition(":")
        return f"{kind}{separator}{_from(folder, path)}" if path.startswith(("./", "../")) else value
    return value if value in NO_FILES or value.startswith("~") else _from(folder, value)


def _from(folder: Path, path: str) -> str:
    """Return a path from a folder. A relative one still shows that it is a path, and no name of a model hub."""
    joined = folder / path
    return str(joined) if joined.is_absolute() or joined.parts[0] == ".." else f"./{joined}"


def _parse_from(origin: str, name: str, value: Any) -> Any:
    try:
        return parse(name, value)
    except SettingsError as error:
        raise SettingsError(f"{error} (from {origin})") from None


def _with_defaults(name: str, parser: Callable[[Any], dict[str, Any]]) -> Callable[[Any], dict[str, Any]]:
    """Return a parser of a mapping, in which a missing key has the value of the setting's default."""
    return lambda value: {**getattr(Settings(), name), **parser(value)}


PARSERS: Mapping[str, Callable[[Any], Any]] = {
    "encoder": setting_values.text,
    "device": setting_values.device,
    "precision": setting_values.one_of(*setting_values.PRECISIONS),
    "threads": setting_values.count,
    "remote_seconds": setting_values.seconds,
    "prompts": setting_values.prompts,
    "aggregation": setting_values.one_of(*setting_values.AGGREGATIONS),
    "scorer": setting_values.one_of(*setting_values.SCORERS),
    "index": setting_values.one_of(*setting_values.INDEXES),
    "vectors": setting_values.one_of(*setting_values.VECTORS),
    "target": setting_values.target,
    "out_of_scope_share": setting_values.share,
    "threshold": setting_values.threshold,
    "margin": setting_values.learned,
    "fuzzy": setting_values.fraction,
    "spelling": setting_values.spelling,
    "reranker": setting_values.text,
    "band": setting_values.learned,
    "reranker_seconds": setting_values.seconds,
    "reranker_prompt": setting_values.switch,
    "reranker_budget": _with_defaults("reranker_budget", setting_values.counts(*setting_values.BUDGET_TIMES)),
    "several_intents": setting_values.switch,
    "top_k": setting_values.count,
    "fallback": setting_values.fallback,
    "cache": setting_values.off_or_path,
    "require_signature": setting_values.off_or_path,
    "confine": setting_values.switch,
    "allow": allowed.entries,
    "max_file_bytes": setting_values.count,
    "lint": setting_values.lint,
    "inbox": setting_values.inbox,
    "inbox_keep": _with_defaults("inbox_keep", setting_values.counts(*setting_values.INBOX_BOUNDS)),
    "inbox_mode": setting_values.one_of(*setting_values.INBOX_MODES),
    "inbox_sample": _with_defaults("inbox_sample", setting_values.sample),
    "drift": setting_values.time_of_day,
    "drift_webhook": setting_values.webhook,
}
"""Setting name to the parser of its value; the only list of setting names."""


def _plain(value: Any) -> Any:
    return {key: _plain(inner) for key, inner in value.items()} if isinstance(value, Mapping) else value
