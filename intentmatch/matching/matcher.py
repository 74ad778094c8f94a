"""The face of matching: load, match, reload. What happens to a message stands in `engine`."""

from __future__ import annotations

import logging
import os
import threading
from collections.abc import Callable, Collection, Mapping, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any, TypeVar

from intentmatch.artefact.build import uncovered
from intentmatch.artefact.store import Artefact
from intentmatch.core.errors import InputError, Problem, UnavailableError
from intentmatch.core.result import Entity, MatchResult
from intentmatch.core.settings import Settings
from intentmatch.core.types import Encoder, Registry, Reranker, checked_language_code
from intentmatch.encoders.encode import Progress
from intentmatch.learning.subsampling import extent_problems
from intentmatch.matching.loader import Source, _learned_again
from intentmatch.matching.multi_intent import with_parts
from intentmatch.matching.pipeline import Engine, Foreseen, Question
from intentmatch.matching.policy import Policy
from intentmatch.registry import check

if TYPE_CHECKING:
    from intentmatch.matching.watch import OnError, OnReload, Watch

_log = logging.getLogger(__name__)

_Answer = TypeVar("_Answer")


class Matcher:
    """Holds one built registry and matches messages against it. Safe to use from many threads.

    Make one with `Matcher.load`. `reload` swaps the registry while matching goes on; every match sees one registry,
    the old or the new, whole.
    """

    def __init__(self, source: Source, *, progress: Progress | None = None) -> None:
        self._source = source
        self._reloading, self._learning = threading.Lock(), threading.Lock()
        self._borrowed = False
        self._engine, self._content = source.engine(None, progress)

    @classmethod
    def load(
        cls,
        path: str | os.PathLike[str] | Registry = "intents",
        *,
        encoder: Encoder | str | None = None,
        reranker: Reranker | str | None = None,
        progress: Progress | None = None,
        **settings: Any,
    ) -> Matcher:
        """A matcher for a folder or file of YAML, an artefact, or a `Registry` made in code.

        `settings` are those of `Settings` and win over the environment and the YAML; `encoder` and `reranker` may also
        be ready-made objects. `progress` is told how far the encoding has got.

        Raises `RegistryError` with every problem of the YAML, `ArtefactError`, `SettingsError`, or an
        `UnavailableError` that says what to install or download.
        """
        if encoder is not None:
            settings["encoder"] = encoder if isinstance(encoder, str) else encoder.name
        if reranker is not None:
            settings["reranker"] = reranker if isinstance(reranker, str) else reranker.name
        ready_encoder = None if isinstance(encoder, str) else encoder
        ready_reranker = None if isinstance(reranker, str) else reranker
        return cls(Source(path, settings, ready_encoder, ready_reranker), progress=progress)

    def match(
        self,
        message: str,
        *,
        language: str | None = None,
        top_k: int | None = None,
        allowed: Collection[str] | None = None,
        context: Collection[str] = (),
        now: datetime | None = None,
    ) -> MatchResult:
        """What the user means.

        `language` (BCP-47) chooses thresholds and the response; without it the message's own is guessed among those of
        the registry. `top_k` bounds the candidates in the result. `context` are the tags that are active: an intent
        with `when` answers only where one of them is its own. `allowed` names the only intents that may answer,
        whatever their tags. `now` is the user's local time, from which "tomorrow" counts; without it, that of this
        machine. Raises `InputError` for a message that is no text, a `language` that is no code, a `top_k` below 1, a
        `context` that is no list, and a name in `allowed` that the registry does not have.
        """
        engine = self._engine
        question = _question(engine, language, top_k, allowed, context, now=now)
        return _whole_or_parts(engine, engine.match(message, question), question)

    def match_many(
        self,
        messages: Sequence[str],
        *,
        language: str | None = None,
        top_k: int | None = None,
        allowed: Collection[str] | None = None,
        context: Collection[str] = (),
        now: datetime | None = None,
    ) -> list[MatchResult]:
        """As `match` for each message, against one and the same registry, but for the last digits of numbers.

        They are encoded and looked at together, which takes a third of the time and less.
        """
        engine = self._engine
        question = _question(engine, language, top_k, allowed, context, now=now)
        return [_whole_or_parts(engine, whole, question) for whole in engine.match_many(messages, question)]

    def match_each(self, asked: Sequence[tuple[str, Mapping[str, Any]]]) -> list[MatchResult | Exception]:
        """As `match` for messages of many callers, each with its own keywords, against one and the same registry.

        Where that takes less time, they are encoded and looked at together. Nobody pays for another's mistake: what
        `match` would raise stands in the place of the one answer.
        """
        engine = self._engine
        questions = [_attempt(_question, engine, **keywords) for _, keywords in asked]
        ready = [(text, q) for (text, _), q in zip(asked, questions, strict=True) if isinstance(q, Question)]
        foreseen = _foreseen_together(engine, ready) if engine.gains_from(len(ready)) else None

        def answer(message: str, question: Question) -> MatchResult:
            return _whole_or_parts(engine, engine.match(message, question, foreseen), question)

        return [
            _attempt(answer, message, question) if isinstance(question, Question) else question
            for (message, _), question in zip(asked, questions, strict=True)
        ]

    async def amatch(
        self,
        message: str,
        *,
        language: str | None = None,
        top_k: int | None = None,
        allowed: Collection[str] | None = None,
        context: Collection[str] = (),
        now: datetime | None = None,
    ) -> MatchResult:
        """As `match`, in a worker thread, so that the caller's event loop goes on."""
        import asyncio  # by whoever calls this, long ago; a command line need not wait for it

        return await asyncio.to_thread(
            self.match, message, language=language, top_k=top_k, allowed=allowed, context=context, now=now
        )

    def fill(
        self,
        message: str,
        intent: str,
        slots: Collection[str] | None = None,
        *,
        language: str | None = None,
        now: datetime | None = None,
    ) -> tuple[Entity, ...]:
        """What the user's answer to a question says for an intent's slots, or for those of `slots`.

        For a dialogue that asks for what is `missing`. Where one slot is asked for that takes any text, the whole
        message is its value. Raises `InputError` as `match` does, and for an intent or a slot that is not there.
        """
        engine = self._engine
        return engine.fill(message, intent, slots, _question(engine, language, now=now))

    def reload(self, *, progress: Progress | None = None) -> None:
        """Read the files again and swap the registry in one step.

        If anything is wrong with them this raises what `load` would, and the old registry goes on answering.
        """
        with self._reloading:
            self._engine, self._content = self._source.engine(self._engine, progress)

    def watch(self, *, on_reload: OnReload | None = None, on_error: OnError | None = None) -> Watch:
        """Reload by itself whenever the files hold something else, until `stop()` of what this returns.

        That is a context manager too. `on_reload` is told the new registry, and `on_error` every problem of files that
        cannot be used, while the old registry goes on answering; both are called in the watching thread, which does
        not keep the process alive. A new registry answers with the thresholds of the old one until its own are learned,
        which takes longer than all the rest, and a large one with the same intents with the head of the old one too.
        Raises `InputError` for a registry that was made in code, and `MissingExtraError` with the line to install
        `watchfiles`.
        """
        from intentmatch.matching.watch import Watch  # by those who watch; a command line need not wait for it

        path = self._source.path
        if isinstance(path, Registry):
            raise InputError("a registry that was made in code has no files to watch")
        return Watch(path, lambda: self._content, self._take_up, self._learn, on_reload=on_reload, on_error=on_error)

    def _take_up(self) -> Registry:
        """As `reload`, but with the old calibration where that will do, which takes a fraction of the time."""
        with self._reloading:
            before = self._engine.artefact.calibration
            self._engine, self._content = self._source.engine(self._engine, meanwhile=True)
            self._borrowed = self._engine.artefact.calibration is before
        return self.registry

    def _learn(self) -> None:
        """Replace a calibration that was taken over; should another registry have come in meanwhile, that one stays."""
        with self._learning:
            engine = self._engine
            if not self._borrowed:
                return
            learned = Engine(_learned_again(engine.artefact), engine.encoder, engine.reranker)
            learned.self_test()
            with self._reloading:
                if self._engine is engine:
                    self._engine, self._borrowed = learned, False

    @property
    def artefact(self) -> Artefact:
        """The built registry in use now."""
        return self._engine.artefact

    @property
    def registry(self) -> Registry:
        """The intents in use now."""
        return self._engine.artefact.registry

    @property
    def problems(self) -> list[Problem]:
        """About the registry in use, sorted by place: of its rules, of languages not covered, and of its size."""
        of_size = extent_problems(self.registry, self.settings)
        return sorted([*check(self.registry), *uncovered(self.registry, self.encoder), *of_size])

    @property
    def settings(self) -> Settings:
        """The settings in use now, each with its origin."""
        return self._engine.settings

    @property
    def encoder(self) -> Encoder:
        """The encoder in use now."""
        return self._engine.encoder

    @property
    def batches(self) -> bool:
        """Whether its encoder gains from messages that are matched together."""
        return getattr(self._engine.encoder, "batches", False)

    @property
    def reranker(self) -> Reranker | None:
        """The reranker in use now, if there is one."""
        return self._engine.reranker

    @property
    def policy(self) -> Policy:
        """The thresholds and margin in use now, each threshold with its origin."""
        return self._engine.policy


def _whole_or_parts(engine: Engine, whole: MatchResult, question: Question) -> MatchResult:
    return with_parts(engine, whole, question) if engine.settings.several_intents else whole


def _foreseen_together(engine: Engine, asked: Sequence[tuple[str, Question]]) -> Callable[[str], Foreseen] | None:
    """What is known of messages together; None where that failed and one may be to blame: then each is tried alone."""
    try:
        return engine.foresee(asked).__getitem__
    except UnavailableError as error:
        gone = error  # for all of them, and perhaps only after a while

        def unavailable(text: str) -> Foreseen:
            raise gone

        return unavailable
    except Exception:  # noqa: BLE001 - whatever it is, whoever is to blame will have it
        return None


def _attempt(call: Callable[..., _Answer], *arguments: Any, **keywords: Any) -> _Answer | Exception:
    try:
        return call(*arguments, **keywords)
    except Exception as error:  # noqa: BLE001 - it is for the one who asked
        return error


def _question(
    engine: Engine,
    language: str | None = None,
    top_k: int | None = None,
    allowed: Collection[str] | None = None,
    context: Collection[str] = (),
    *,
    now: datetime | None = None,
) -> Question:
    if isinstance(context, str):
        raise InputError(f"context must be a list of tags, such as [{context!r}]")
    if top_k is not None and top_k < 1:
        raise InputError(f"top_k must be 1 or more, and is {top_k}")
    if language is not None:
        language = checked_language_code(language)
    if now is not None and not isinstance(now, datetime):
        raise InputError(f"now must be a datetime, not {type(now).__name__}")
    answering = engine.answering(allowed, context)
    return Question(engine.settings.top_k if top_k is None else top_k, language, answering, now)
