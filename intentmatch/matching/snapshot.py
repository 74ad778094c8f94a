"""Matching against one registry: every question that a built registry answers, and the registry that answers it."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import fields
from datetime import datetime
from pickle import PicklingError
from typing import Any, TypeVar

from intentmatch.artefact.artefact import Artefact
from intentmatch.artefact.build import uncovered
from intentmatch.core.arguments import check_argument
from intentmatch.core.errors import InputError, Problem, UnavailableError, UnknownNameError
from intentmatch.core.result import Entity, MatchResult, WordMatch
from intentmatch.core.settings import Settings
from intentmatch.core.types import Encoder, Registry, Reranker
from intentmatch.learning.subsampling import subsampling_problems
from intentmatch.matching.batch import Precomputed
from intentmatch.matching.n_best import Hypotheses, checked_hypotheses, match_hypotheses
from intentmatch.matching.options import MatchOptions
from intentmatch.matching.pipeline import Engine
from intentmatch.matching.policy import Policy
from intentmatch.reading.reader import Reading
from intentmatch.reading.resolved_options import ResolvedOptions
from intentmatch.registry import check

_Answer = TypeVar("_Answer")


class BaseMatcher:
    """What `Matcher` and `Snapshot` have in common. Safe to use from many threads."""

    _engine: Engine
    """The registry in use, ready to answer. Each call reads it once, so that it sees one registry whole."""

    def match(
        self,
        message: str | Hypotheses,
        *,
        language: str | None = None,
        top_k: int | None = None,
        allowed: Collection[str] | None = None,
        context: Collection[str] = (),
        now: datetime | None = None,
        previous: str | MatchResult | None = None,
    ) -> MatchResult:
        """Return what the user means.

        `language` (BCP-47) chooses thresholds and the response; without it the message's language is guessed among
        all that the embedded tokenizer knows. `top_k` bounds the candidates in the result. `context` holds the active
        tags: an intent with `when` answers only if one of them is its own. `allowed` names the only intents that may
        answer, whatever their tags. `now` is the user's local time, from which "tomorrow" counts; the default is this
        machine's. `previous` is what the turn before was about, the name of an intent or its result: a message that
        does not stand alone ("and tomorrow?", "the other one") is of that intent.

        A message from speech may be a list of at most 20 hypotheses with their weights, `[("two tables", 0.6), ...]`:
        the confidence of an intent is the mean over them, and the result's message is the one that says most for it.

        Raises `InputError` for a message that is not text, a `language` that is no code, a `top_k` below 1, a `context`
        that is not a list, and a name in `allowed` or `previous` that the registry does not have.

        `previous` was added in 0.3.0.
        """
        return _match(self._engine, message, MatchOptions(language, top_k, allowed, context, now, previous))

    def match_many(
        self,
        messages: Iterable[str | Hypotheses],
        *,
        language: str | None = None,
        top_k: int | None = None,
        allowed: Collection[str] | None = None,
        context: Collection[str] = (),
        now: datetime | None = None,
        previous: str | MatchResult | None = None,
    ) -> list[MatchResult]:
        """Match each message as `match` does, all against the same registry.

        Messages may be of any iterable, such as a column of a table. An `InputError` about one of them says which.
        Messages and their parts are encoded and searched together, which takes half the time with the embedded encoder,
        and less with others. Numbers may differ from those of `match` in their last digits.

        `previous` was added in 0.3.0.
        """
        engine = self._engine
        options = engine.resolve(MatchOptions(language, top_k, allowed, context, now, previous))
        if isinstance(messages, (str, bytes, Mapping)) or not isinstance(messages, Iterable):
            raise InputError(f"messages must be a list of messages, not {type(messages).__name__}")
        every = list(messages)
        # All are checked before the first is matched, or an error would throw away answers.
        for number, message in enumerate(every):
            if not isinstance(message, str):
                try:
                    checked_hypotheses(message)
                except InputError as error:
                    raise InputError(f"messages[{number}]: {error}") from None
        found = iter(engine.match_many([each for each in every if isinstance(each, str)], options))
        return [next(found) if isinstance(each, str) else match_hypotheses(engine, each, options) for each in every]

    def match_each(
        self, asked: Sequence[tuple[str | Hypotheses, MatchOptions | Mapping[str, Any]]]
    ) -> list[MatchResult | Exception]:
        """Match messages of several callers, each with its own options, all against the same registry.

        Options are `MatchOptions`, or a mapping with the keywords of `match`.
        Messages are encoded and searched together where that saves time. What `match` would raise for one message is
        returned in its place, so that one caller's mistake does not affect the others.
        """
        check_argument("asked", asked, Sequence[tuple[object, MatchOptions | Mapping[str, object]]])
        engine = self._engine
        if not engine.batching_helps(len(asked)):
            return [_attempt(_match, engine, message, options) for message, options in asked]
        readings: list[Reading | MatchResult | Exception] = [
            _attempt(_read, engine, message, options)
            if isinstance(message, str)
            else _attempt(_match, engine, message, options)
            for message, options in asked
        ]
        precomputed = _precompute(engine, [reading for reading in readings if isinstance(reading, Reading)])
        return [
            _attempt(engine.answer, reading, precomputed) if isinstance(reading, Reading) else reading
            for reading in readings
        ]

    async def amatch(
        self,
        message: str | Hypotheses,
        *,
        language: str | None = None,
        top_k: int | None = None,
        allowed: Collection[str] | None = None,
        context: Collection[str] = (),
        now: datetime | None = None,
        previous: str | MatchResult | None = None,
    ) -> MatchResult:
        """Match in a worker thread, so that the caller's event loop is not blocked. `previous` was added in 0.3.0."""
        import asyncio  # imported by every async caller already; the command line need not load it

        options = MatchOptions(language, top_k, allowed, context, now, previous)
        return await asyncio.to_thread(_match, self._engine, message, options)

    def fill(
        self,
        message: str,
        intent: str,
        slots: Collection[str] | None = None,
        *,
        others: Collection[str] | None = None,
        language: str | None = None,
        now: datetime | None = None,
    ) -> tuple[Entity, ...]:
        """Return the entities that a user's answer gives for an intent's slots, or only for those named in `slots`.

        For a dialogue that asks for the `missing` slots. If exactly one slot is asked for and it takes any text, the
        whole message is its value. With `others`, slots that were not asked for, these are filled as well where their
        own words say so, and free text ends before "please". Raises `InputError` as `match` does, and for an unknown
        intent or slot.

        `others` was added in 0.3.0.
        """
        check_argument("intent", intent, str)
        check_argument("slots", slots, Collection[str] | None)
        check_argument("others", others, Collection[str] | None)
        engine = self._engine
        return engine.fill(message, intent, slots, engine.resolve(MatchOptions(language, now=now)), others)

    def word_matches(self, result: MatchResult) -> tuple[WordMatch, ...]:
        """Return which words of a result's message met which words of the first candidate's nearest utterance.

        In the order of the message. Empty without a candidate, and for a registry that is decided by scores alone.

        Added in 0.3.0.
        """
        check_argument("result", result, MatchResult)
        return self._engine.word_matches(result)

    def explain(self, result: MatchResult) -> str:
        """Explain a result as `result.explain()` does, and say which words met. Added in 0.3.0."""
        check_argument("result", result, MatchResult)
        return result.explain(self.word_matches(result))

    def snapshot(self) -> Snapshot:
        """Return the registry in use as it is now: later reloads do not change its answers."""
        return Snapshot(self._engine)

    @property
    def artefact(self) -> Artefact:
        """The built registry in use."""
        return self._engine.artefact

    @property
    def registry(self) -> Registry:
        """The intents in use."""
        return self._engine.artefact.registry

    @property
    def fingerprint(self) -> str:
        """Digest of everything that can change an answer: registry, encoder, text version and settings."""
        return self._engine.artefact.fingerprint

    @property
    def problems(self) -> list[Problem]:
        """Problems of the registry in use, sorted by place: broken rules, uncovered languages, and size."""
        engine = self._engine
        registry = engine.artefact.registry
        found = check(registry), uncovered(registry, engine.encoder), subsampling_problems(registry, engine.settings)
        return sorted(problem for some in found for problem in some)

    @property
    def settings(self) -> Settings:
        """The settings in use, each with its origin."""
        return self._engine.settings

    @property
    def encoder(self) -> Encoder:
        """The encoder in use."""
        return self._engine.encoder

    @property
    def batches(self) -> bool:
        """Whether the encoder is faster per message when messages are matched together."""
        return getattr(self._engine.encoder, "batches", False)

    @property
    def reranker(self) -> Reranker | None:
        """The reranker in use; None without one."""
        return self._engine.reranker

    @property
    def policy(self) -> Policy:
        """The thresholds and margin in use, each threshold with its origin."""
        return self._engine.policy

    @property
    def foreign_policy(self) -> Policy:
        """Those in use for messages in languages that the registry does not have; `policy` if nothing else is known.

        Added in 0.3.0.
        """
        return self._engine.foreign_policy


class Snapshot(BaseMatcher):
    """One registry, built and ready. Its answers never change. Made by `Matcher.snapshot`."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    def __reduce__(self) -> tuple[Any, ...]:
        raise PicklingError(
            "a snapshot cannot be pickled: save its `artefact` with `save_artefact`, and load that in the other process"
        )

    def __copy__(self) -> Snapshot:
        return self

    def __deepcopy__(self, memo: dict[int, Any]) -> Snapshot:
        return self


def _resolved(engine: Engine, options: MatchOptions | Mapping[str, Any]) -> ResolvedOptions:
    if isinstance(options, MatchOptions):
        return engine.resolve(options)
    names = [field.name for field in fields(MatchOptions)]
    for name in options:
        if name not in names:
            raise UnknownNameError("option", str(name), names)
    return engine.resolve(MatchOptions(**options))


def _read(engine: Engine, message: str, options: MatchOptions | Mapping[str, Any]) -> Reading:
    return engine.read(message, _resolved(engine, options))


def _match(engine: Engine, message: str | Hypotheses, options: MatchOptions | Mapping[str, Any]) -> MatchResult:
    resolved = _resolved(engine, options)
    if not isinstance(message, str):
        return match_hypotheses(engine, message, resolved)
    return engine.match(message, resolved)


def _precompute(engine: Engine, readings: Sequence[Reading]) -> Callable[[str], Precomputed] | None:
    """Precompute vectors and shortlists for all messages; None if that failed, so that each is then tried alone."""
    try:
        return engine.precompute(readings).__getitem__
    except UnavailableError as error:
        gone = error  # for every message, perhaps after a time-out: no use in trying each alone

        def unavailable(text: str) -> Precomputed:
            raise gone

        return unavailable
    except Exception:  # noqa: BLE001 - each message is tried alone next, and the one at fault raises it again
        return None


def _attempt(call: Callable[..., _Answer], *arguments: Any) -> _Answer | Exception:
    try:
        return call(*arguments)
    except Exception as error:  # noqa: BLE001 - returned to the caller of this one message
        return error
