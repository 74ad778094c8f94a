"""Read logs of answers: which messages arrived, how often, and what was answered."""

from __future__ import annotations

import json
import os
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timezone
from pathlib import Path
from typing import Any, TypeGuard

from intentmatch.core.erasure import Erasure
from intentmatch.core.errors import InputError, Location
from intentmatch.core.types import Case
from intentmatch.registry import read_text
from intentmatch.storage.atomic import write_file

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
    """Lines that are no messages of the bot, or too old."""
    broken: tuple[Location, ...] = ()
    """Those of them that are no JSON."""

    @property
    def received(self) -> int:
        """How many messages arrived."""
        return sum(message.count for message in self.messages)


def read_log(paths: Iterable[str | os.PathLike[str]], since: datetime | None = None, bot: str | None = None) -> Log:
    """Read files of JSON lines, as `serve --log-format json --log-messages` and `match --json` write them.

    A message is an object with `text`; `verdict`, `intent`, `language`, `time` and `bot` are optional. Other lines are
    skipped, so that the whole log of a server can be read, and so are messages that follow the turn before. With
    `since`, older lines and those without a time are skipped too; with `bot`, those of other bots.

    Raises `InputError` for a file that cannot be read, if there is no message in any file, and if there are messages of
    several bots and none is chosen.
    """
    return _log([(str(path), _lines(path)) for path in map(Path, paths)], since, bot)


def erase_from_log(path: str | os.PathLike[str], erasure: Erasure) -> int:
    """Remove the lines of a log that have the words of messages, in any form of log; return how many there were.

    Raises `InputError` if the file cannot be read or written.
    """
    file = Path(path)
    try:
        # As bytes, so that lines in another encoding stay as they are.
        lines = file.read_bytes().split(b"\n")
        kept = [line for line in lines if not erasure.quoted_in_json(line.decode("utf-8", "replace"))]
        if len(kept) < len(lines):
            write_file(file, b"\n".join(kept))
    except OSError as error:
        raise InputError(f"{file}: cannot be read or written: {error.strerror or error}") from error
    return len(lines) - len(kept)


def log_of_text(text: str, since: datetime | None = None, *, bot: str | None = None) -> Log:
    """Return the messages of JSON lines, as `read_log` reads them from files. Raises `InputError` as that does."""
    return _log([("the log", text.split("\n"))], since, bot)


def _log(sources: list[tuple[str, list[str]]], since: datetime | None, bot: str | None) -> Log:
    found: dict[str, LoggedMessage] = {}
    bots = _Bots(bot)
    skipped = 0
    broken: list[Location] = []
    for name, lines in sources:
        for number, line in enumerate(lines, 1):
            place = Location(name, number)
            values = _values(line)
            # Of other programs, or cut off at the end of the log: counted, and no reason to refuse the rest.
            if values is None and line.strip():
                broken.append(place)
            if not _is_message(values) or not bots.wanted(values) or not _is_recent(values, since):
                skipped += bool(line.strip())
                continue
            text, language = values["text"], values.get("language")
            case = Case(text, None, language if isinstance(language, str) else None, location=place)
            message = found.setdefault(text, LoggedMessage(case))
            message.count += 1
            if isinstance(verdict := values.get("verdict"), str):
                intent = values.get("intent")
                message.answers[verdict, intent if isinstance(intent, str) else None] += 1
    bots.check()
    if not found:
        when = "" if since is None else f" since {since.isoformat(timespec='minutes')}"
        raise _no_messages(sources, when, "`text`" if since is None else "`text` and `time`")
    return Log(tuple(found.values()), skipped, tuple(broken))


def read_times(paths: Iterable[str | os.PathLike[str]], bot: str | None = None) -> list[tuple[str, datetime]]:
    """Return each message of logs as `read_log` reads them, with the time when it arrived, oldest first.

    Lines without a time are skipped. Raises `InputError` as `read_log`, and if no message has a time.
    """
    sources = [(str(path), _lines(path)) for path in map(Path, paths)]
    bots = _Bots(bot)
    found = []
    for values in (_values(line) for _, lines in sources for line in lines):
        if _is_message(values) and bots.wanted(values) and (time := _time(values)) is not None:
            found.append((values["text"], time))
    bots.check()
    if not found:
        raise _no_messages(sources, " with a time", "`text` and `time`")
    return sorted(found, key=lambda message: message[1])


class _Bots:
    """Chooses the messages of one bot. Those that name no bot are everyone's."""

    def __init__(self, chosen: str | None) -> None:
        self._chosen = chosen
        self._named: set[str] = set()

    def wanted(self, values: Mapping[str, Any]) -> bool:
        """Whether a message is of the chosen bot."""
        bot = values.get("bot")
        if not isinstance(bot, str):
            return True
        # Also the names that are not wanted, so that the error can list them.
        self._named.add(bot)
        return self._chosen in (None, bot)

    def check(self) -> None:
        """Raise `InputError` if there were messages of several bots, or none of the chosen one but of others."""
        named = ", ".join(sorted(self._named))
        if self._chosen is None and len(self._named) > 1:
            raise InputError(f"the log has messages of several bots ({named}): name one of them with --bot")
        if self._chosen is not None and self._named and self._chosen not in self._named:
            raise InputError(f"the log has no messages of the bot {self._chosen!r}, but of {named}")


def _no_messages(sources: list[tuple[str, list[str]]], which: str, needs: str) -> InputError:
    names = ", ".join(name for name, _ in sources)
    return InputError(
        f"there are no messages{which} in {names}: each needs a line of JSON with {needs}, as `serve --log-format json "
        "--log-messages` writes them"
    )


def _lines(path: Path) -> list[str]:
    try:
        return read_text(path).split("\n")
    except OSError as error:
        raise InputError(f"{path} cannot be read: {error.strerror or error}") from error


def is_about_something_else(values: object) -> bool:
    """Whether the value of a line is of a server's log and about something else than a message, such as a request."""
    return isinstance(values, dict) and values.get("logger", _MESSAGES) != _MESSAGES


def _values(line: str) -> object:
    """Return the value of a line of JSON; None if it is none."""
    try:
        return json.loads(line)
    except (ValueError, RecursionError):
        return None


def _is_message(values: object) -> TypeGuard[Mapping[str, Any]]:
    if not isinstance(values, dict) or is_about_something_else(values):
        return False
    if values.get("follow_up") is True:
        return False  # alone it does not say what it means
    text = values.get("text")
    return isinstance(text, str) and bool(text.strip())


def _is_recent(values: Mapping[str, Any], since: datetime | None) -> bool:
    if since is None:
        return True
    when = _time(values)
    return when is not None and when >= since


def _time(values: Mapping[str, Any]) -> datetime | None:
    """Return when a message arrived, with a time zone; None if its line does not say."""
    try:
        # Before Python 3.11, `fromisoformat` did not know `Z`.
        when = datetime.fromisoformat(str(values.get("time")).replace("Z", "+00:00"))
    except ValueError:
        return None
    # Logs of servers without a zone are taken for UTC, as ours are.
    return when if when.tzinfo else when.replace(tzinfo=timezone.utc)
