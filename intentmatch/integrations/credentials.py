"""Tokens of chat services from environment variables; shared by the examples."""

from __future__ import annotations

import os


def credential(variable: str, source: str) -> str:
    """Return the value of an environment variable, without spaces around it.

    `source` says in the imperative where to get one: "write /newbot to https://t.me/BotFather". Raises `SystemExit`,
    which ends a program with that instruction and no traceback, if the variable is not set or empty.
    """
    value = os.environ.get(variable, "").strip()
    if not value:
        raise SystemExit(
            f"The environment variable {variable} is not set. To get its value, {source}.\n"
            f"Then run: export {variable}=..."
        )
    return value
