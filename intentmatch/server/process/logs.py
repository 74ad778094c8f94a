"""Logging of `intentmatch serve`: uvicorn's lines for people, or one JSON object per line for machines.

Neither holds messages of users unless `--log-messages` turns that on.
"""

from __future__ import annotations

import json
import logging
from copy import deepcopy
from datetime import datetime, timezone
from typing import Any

from intentmatch.server.config import LogFormat
from intentmatch.server.middleware.request_log import LOGGER as REQUESTS
from intentmatch.server.middleware.request_log import request_id

MESSAGES = "intentmatch.server.messages"
"""Name of the logger of messages; off by default, whatever the level of other loggers."""

messages_log = logging.getLogger(MESSAGES)
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
        return json.dumps(line, ensure_ascii=True, default=str)


def log_config(uvicorn_config: dict[str, Any], form: LogFormat, *, messages: bool) -> dict[str, Any]:
    """Return uvicorn's logging configuration with our loggers, in text or JSON, with or without `messages`.

    In text, uvicorn logs the requests; in JSON, the server does, with their ids.
    """
    config = deepcopy(uvicorn_config)
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
    """Removes queries from logged paths: some protocols send their key there."""

    def filter(self, record: logging.LogRecord) -> bool:
        """Cut the query from the arguments of uvicorn's line: address, method, path, version and status."""
        if isinstance(record.args, tuple):
            record.args = tuple(arg.partition("?")[0] if isinstance(arg, str) else arg for arg in record.args)
        return True
