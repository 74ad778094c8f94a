"""Logging of `intentmatch serve`: uvicorn's lines for people, or one JSON object per line for machines.

Neither holds messages of users unless `--log-messages` turns that on.
"""

from __future__ import annotations

import json
import logging
import time
from collections.abc import Callable, Mapping
from copy import deepcopy
from datetime import datetime, timezone
from typing import Any

from intentmatch.core.errors import Problem, RegistryError
from intentmatch.server.config import LogFormat
from intentmatch.server.middleware.request_log import LOGGER as REQUESTS
from intentmatch.server.middleware.request_log import request_id
from intentmatch.text.printable import continued, one_line, shown_json

MESSAGES = "intentmatch.server.messages"
"""Name of the logger of messages; off by default, whatever the level of other loggers."""

_MARK = "  | "
_SOCKETS = ("engineio.server", "socketio.server")
"""Loggers of the WebSockets of the studio, which give themselves a level and a handler."""

messages_log = logging.getLogger(MESSAGES)
# A program may have chosen a level before it imports this.
if not messages_log.level:
    messages_log.setLevel(logging.WARNING)


class JsonLines(logging.Formatter):
    """Formats a record as one line of JSON, with the id of its request."""

    def format(self, record: logging.LogRecord) -> str:
        """Return the line."""
        when = datetime.fromtimestamp(record.created, timezone.utc)
        line: dict[str, Any] = {
            "time": when.isoformat(timespec="milliseconds"),
            "level": record.levelname.lower(),
            "logger": record.name,
            "message": record.getMessage(),
            "request_id": request_id.get(),
            **getattr(record, "fields", {}),
        }
        if record.exc_info:
            line["exception"] = self.formatException(record.exc_info)
        return shown_json(json.dumps(line, ensure_ascii=True, default=str))


class Printable(logging.Filter):
    """Writes a record so that nothing in it can look like another one, or change the terminal that shows the log.

    Whatever a record is about, such as a name, a path or a message, stays in its line. What has lines of its own, such
    as problems of files and tracebacks, has a mark before each of them.
    """

    def filter(self, record: logging.LogRecord) -> bool:
        """Replace the values, the text and the traceback of a record; never drop it."""
        if getattr(record, "printable", False):  # by another handler
            return True
        record.printable = True
        if isinstance(record.args, tuple):
            record.args = tuple(map(_printable, record.args))
        elif isinstance(record.args, Mapping):
            record.args = {name: _printable(value) for name, value in record.args.items()}
        record.msg = continued(str(record.msg))
        if record.exc_info and not record.exc_text:
            # Formatters use this text if it is there, in place of making their own.
            record.exc_text = logging.Formatter().formatException(record.exc_info)
        if record.exc_text:
            record.exc_text = _MARK + continued(record.exc_text).removeprefix(_MARK)
        return True


def _printable(value: object) -> object:
    if value is None or isinstance(value, int | float):
        return value
    if isinstance(value, RegistryError):
        return continued("\n".join(map(_lines, value.problems)))
    return one_line(str(value))


def _lines(problem: Problem) -> str:
    """Return a problem in one or two lines, whatever its file is called."""
    first, *hint = str(problem).rsplit("\n  hint: ", 1)
    return "\n  hint: ".join(map(one_line, [first, *hint]))


class OncePerMinute:
    """Tells when a line about a repeated event is due, so that no attack fills the disk with them."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._events = 0
        self._next = -float("inf")

    def due(self) -> int:
        """Count an event. Returns how many there were since the last line if one is due, otherwise 0."""
        self._events += 1
        now = self._clock()
        if now < self._next:
            return 0
        count, self._events, self._next = self._events, 0, now + 60.0
        return count


def log_config(uvicorn_config: dict[str, Any], form: LogFormat, *, messages: bool) -> dict[str, Any]:
    """Return uvicorn's logging configuration with our loggers, in text or JSON, with or without `messages`.

    In text, uvicorn logs the requests; in JSON, the server does, with their ids.
    """
    # Uvicorn hands out its one dictionary, which other apps of the process use too.
    config = deepcopy(uvicorn_config)
    config["filters"] = {"no_queries": {"()": _NoQueries}, "accept_errors": {"()": _AcceptErrors}}
    config["handlers"]["access"]["filters"] = ["no_queries"]
    config["filters"]["no_socket_queries"] = {"()": _NoSocketQueries}
    config["loggers"]["uvicorn.error"]["filters"] = ["no_socket_queries"]
    as_json = form == "json"
    if not as_json:  # JSON escapes
        config["filters"]["printable"] = {"()": Printable}
        for handler in config["handlers"].values():
            handler["filters"] = [*handler.get("filters", ()), "printable"]
    # Of other libraries: without a handler of ours, Python would write them as they are.
    config["root"] = {"handlers": ["default"], "level": "WARNING"}
    # They write as they are, too, once their server is there, unless they have a level; naming them drops the handler.
    config["loggers"] |= {name: {"handlers": [], "level": "WARNING", "propagate": True} for name in _SOCKETS}
    if as_json:
        config["formatters"]["default"] = {"()": JsonLines}
        # The server logs its requests itself in JSON: each would come twice.
        config["loggers"]["uvicorn.access"] = {"handlers": [], "level": "WARNING", "propagate": False}
    config["loggers"]["intentmatch"] = {"handlers": ["default"], "level": "INFO", "propagate": False}
    config["loggers"]["asyncio"] = {"handlers": ["default"], "filters": ["accept_errors"], "propagate": False}
    config["loggers"][REQUESTS] = {"level": "INFO" if as_json else "WARNING"}
    config["loggers"][MESSAGES] = {"level": "INFO" if messages else "WARNING"}
    return config


class _NoQueries(logging.Filter):
    """Removes queries from logged paths: some protocols send their key there."""

    def filter(self, record: logging.LogRecord) -> bool:
        """Cut the query from the arguments of uvicorn's line: address, method, path, version and status."""
        if isinstance(record.args, tuple):
            record.args = tuple(arg.partition("?")[0] if isinstance(arg, str) else arg for arg in record.args)
        return True


class _NoSocketQueries(_NoQueries):
    """The same for uvicorn's lines about WebSockets, which are among its other lines."""

    def filter(self, record: logging.LogRecord) -> bool:
        """Cut the query from lines such as `10.0.0.1:4711 - "WebSocket /path?query" [accepted]`."""
        return '"WebSocket %s"' not in str(record.msg) or super().filter(record)


# The second one comes at the end of the process, if connections wait then: asyncio would listen again later.
_ACCEPT_ERRORS = (
    "socket.accept() out of system resource",
    "Exception in callback BaseSelectorEventLoop._start_serving(",
)


class _AcceptErrors(logging.Filter):
    """Replaces asyncio's tracebacks about missing file descriptors, hundreds a second, by a line a minute."""

    def __init__(self) -> None:
        super().__init__()
        self._warnings = OncePerMinute()

    def filter(self, record: logging.LogRecord) -> bool:
        """Drop or shorten a record about connections that could not be accepted."""
        message = record.getMessage()
        if not message.startswith(_ACCEPT_ERRORS):
            return True
        count = self._warnings.due()
        record.msg = "connections wait, because the process has no free file descriptors (seen %d times)"
        record.args, record.exc_info = (count,), None
        return bool(count)
