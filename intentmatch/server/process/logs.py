"""The log of `intentmatch serve`: uvicorn's lines for people, or one JSON object a line for machines.

Neither holds what users say unless that is asked for.
"""

from __future__ import annotations

import json
import logging
from copy import deepcopy
from datetime import datetime, timezone
from typing import Any

from intentmatch.server.middleware.request_log import LOGGER as REQUESTS
from intentmatch.server.middleware.request_log import request_id

MESSAGES = "intentmatch.server.messages"
"""Name of the logger of what users say; silent unless asked, whatever others are."""

messages_log = logging.getLogger(MESSAGES)
if not messages_log.level:
    messages_log.setLevel(logging.WARNING)


class JsonLines(logging.Formatter):
    """A record as one line of JSON, with the id of the request that it belongs to."""

    def format(self, record: logging.LogRecord) -> str:
        """The line."""
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
        return json.dumps(line, ensure_ascii=True, default=str)


def log_config(uvicorns: dict[str, Any], form: str, *, messages: bool) -> dict[str, Any]:
    """The configuration of uvicorn, which would otherwise keep what we say to itself, for `form` text or json.

    Requests are told by uvicorn in text, and by us in JSON, where they come with their ids.
    """
    config = deepcopy(uvicorns)
    config["filters"] = {"no_queries": {"()": _NoQueries}}
    config["handlers"]["access"]["filters"] = ["no_queries"]
    as_json = form == "json"
    if as_json:
        config["formatters"]["default"] = {"()": JsonLines}
        config["loggers"]["uvicorn.access"] = {"handlers": [], "level": "WARNING", "propagate": False}
    config["loggers"]["intentmatch"] = {"handlers": ["default"], "level": "INFO", "propagate": False}
    config["loggers"][REQUESTS] = {"level": "INFO" if as_json else "WARNING"}
    config["loggers"][MESSAGES] = {"level": "INFO" if messages else "WARNING"}
    return config


class _NoQueries(logging.Filter):
    """Keeps what stands behind the path out of the log: some protocols have their key there."""

    def filter(self, record: logging.LogRecord) -> bool:
        """Shorten a line of uvicorn's: address, method, path, version and status."""
        if isinstance(record.args, tuple):
            record.args = tuple(arg.partition("?")[0] if isinstance(arg, str) else arg for arg in record.args)
        return True
