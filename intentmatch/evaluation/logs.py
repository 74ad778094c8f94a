"""Read logs of answers: which messages arrived, how often, and what was answered."""

from __future__ import annotations

import json
import os
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

from intentmatch.core.errors import InputError, Location
from intentmatch.core.types import Case
from intentmatch.registry import read_text

_MESSAGES = "intentmatch.server.messages"
"""The logger of the webhook that writes messages; its other lines are about other things."""

Answer = tuple[str, str | None]
"""Verdict and intent, as a log records them."""


@dataclass(slots=True)
class LoggedMessage:
    """A message of a log."""

    case: Case
    """Text and place of its first line, and its language if the log has it."""
    count: int = 0
    """How often it arrived."""
    answers: Counter[Answer] = field(default_factory=Counter)
    """What was answered then, if the log says so."""


@dataclass(frozen=True, slots=True)
class Log:
    """The messages of one log or several, each text once, in the order in which they first arrived."""

    messages: tuple[LoggedMessage, ...]
    skipped: int
    """Lines that are no messages, or too old."""

    @property
    def received(self) -> int:
        """How many messages arrived."""
        return sum(message.count for message in self.messages)


def read_log(paths: Iterable[str | os.PathLike[str]], since: datetime | None = None) -> Log:
    """Read files of JSON lines, as `serve --log-format json --log-messages` and `match --json` write them.

    A message is an object with `text`; `verdict`, `intent`, `language` and `time` are optional. Other lines are
    skipped, so that the whole log of a server can be read, and so are messages that follow the turn before. With
    `since`, older lines and those without a time are skipped too.

    Raises `InputError` for a file that cannot be read, and if there is no message in any file.
    """
    return _log(((str(path), _lines(path)) for path in map(Path, paths)), since)


def log_of_text(text: str, since: datetime | None = None, *, name: str = "log") -> Log:
    """Return the messages of JSON lines, as `read_log` reads them from files. Raises `InputError` if there is none."""
    return _log([(name, text.split("\n"))], since)


def _log(sources: Iterable[tuple[str, list[str]]], since: datetime | None) -> Log:
    found: dict[str, LoggedMessage] = {}
    skipped = 0
    for name, lines in sources:
        for number, line in enumerate(lines, 1):
            values = _message(line)
            if values is None or not _is_recent(values, since):
                skipped += bool(line.strip())
                continue
            text, language = values["text"], values.get("language")
            place = Location(name, number)
            case = Case(text, None, language if isinstance(language, str) else None, location=place)
            message = found.setdefault(text, LoggedMessage(case))
            message.count += 1
            if isinstance(verdict := values.get("verdict"), str):
                intent = values.get("intent")
                message.answers[verdict, intent if isinstance(intent, str) else None] += 1
    if not found:
        when = "" if since is None else f" since {since.isoformat(timespec='minutes')}"
        needs = "`text`" if since is None else "`text` and `time`"
        raise InputError(
            f"the log has no messages{when}: each needs a line of JSON with {needs}, as `serve --log-format json "
            "--log-messages` writes them"
        )
    return Log(tuple(found.values()), skipped)


def read_times(paths: Iterable[str | os.PathLike[str]]) -> list[tuple[str, datetime]]:
    """Return each message of logs as `read_log` reads them, with the time when it arrived, oldest first.

    Lines without a time are skipped. Raises `InputError` for a file that cannot be read, and if no message has a time.
    """
    lines = (_message(line) for path in map(Path, paths) for line in _lines(path))
    timed = [(values["text"], _time(values)) for values in lines if values is not None]
    found = [(text, time) for text, time in timed if time is not None]
    if not found:
        raise InputError(
            "the log has no messages with a time: each needs a line of JSON with `text` and `time`, as `serve "
            "--log-format json --log-messages` writes them"
        )
    return sorted(found, key=lambda message: message[1])


def _lines(path: Path) -> list[str]:
    try:
        return read_text(path).split("\n")
    except OSError as error:
        raise InputError(f"{path} cannot be read: {error.strerror or error}") from error


def _message(line: str) -> Mapping[str, Any] | None:
    try:
        values = json.loads(line)
    except (ValueError, RecursionError):
        return None
    if not isinstance(values, dict) or values.get("logger", _MESSAGES) != _MESSAGES:
        return None
    if values.get("follow_up") is True:
        return None  # alone it does not say what it means
    text = values.get("text")
    return values if isinstance(text, str) and text.strip() else None


def _is_recent(values: Mapping[str, Any], since: datetime | None) -> bool:
    if since is None:
        return True
    when = _time(values)
    return when is not None and when >= since


def _time(values: Mapping[str, Any]) -> datetime | None:
    """Return when a message arrived, with a time zone; None if its line does not say."""
    try:
        when = datetime.fromisoformat(str(values.get("time")).replace("Z", "+00:00"))
    except ValueError:
        return None
    return when if when.tzinfo else when.replace(tzinfo=timezone.utc)
