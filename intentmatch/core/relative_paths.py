"""Name files in what an author reads: from the folder of the registry, never from the root of the server.

A server tells once for each request which folders it serves (`folders`); `relative` then leaves them out of a text.
"""

from __future__ import annotations

import os
import re
import tempfile
from collections.abc import Callable, Sequence
from contextlib import suppress
from contextvars import ContextVar
from functools import lru_cache
from pathlib import Path
from typing import Any

folders: ContextVar[Callable[[], Sequence[str]] | None] = ContextVar("intentmatch_folders", default=None)
"""Returns the folders that the present request is about, the innermost first, absolute or as the server was given them;
None outside of a server."""

_PLACES = ("location", "place", "path")


def relative(text: str) -> str:
    """Return a text without the folders of the server: `/srv/bots/shop/bot.yaml:3` becomes `bot.yaml:3`.

    Left out are the folders of the present request and what lies around them, and those of the process. Outside of a
    server, the text stays as it is.
    """
    if os.sep not in text or (told := folders.get()) is None:
        return text
    return _pattern(tuple(told())).sub(_kept, text)


def relative_file(place: str) -> str:
    """Return the name of a file, with or without a line, as `relative` does, in a fraction of the time."""
    if (told := folders.get()) is None:
        return place
    for folder in told():
        if place.startswith(folder) and place.startswith(os.sep, len(folder)):
            return place[len(folder) + 1 :]
    return relative(place)


def with_relative_places(value: Any) -> Any:
    """Return JSON values whose places (`location`, `place`, `path`) are `relative`; other texts stay as they are."""
    if folders.get() is None:
        return value
    if isinstance(value, list | tuple):
        return [with_relative_places(one) for one in value]
    if not isinstance(value, dict):
        return value
    return {key: _place(one) if key in _PLACES else with_relative_places(one) for key, one in value.items()}


def _place(value: Any) -> Any:
    if isinstance(value, str):
        return relative(value)
    if isinstance(value, list | tuple) and value and isinstance(value[0], str):
        return [relative(value[0]), *value[1:]]  # path, line and column
    return with_relative_places(value)


def _kept(found: re.Match[str]) -> str:
    """Return what stays of a folder: nothing in front of a file, its own name where it stands alone."""
    return "" if found[0].endswith(os.sep) else Path(found[0]).name


@lru_cache(maxsize=256)
def _pattern(inner: tuple[str, ...]) -> re.Pattern[str]:
    given = [folder for folder in map(Path, inner) if not folder.is_absolute() and folder.name]
    served = [form for folder in map(Path, inner) if folder.is_absolute() for form in (folder, folder.resolve())]
    process = []
    # There may be no home (no HOME and no entry in passwd), no place that is writable, and a folder that was removed.
    for folder_of in (Path.cwd, Path.home, tempfile.gettempdir):
        with suppress(FileNotFoundError, RuntimeError):
            process.append(Path(folder_of()))
    known = {str(folder) for folder in (*served, *(folder.parent for folder in served), *process) if folder.name}
    # The longest first: of two folders, the inner one is left out.
    listed, separator = "|".join(map(re.escape, sorted(known, key=len, reverse=True))), re.escape(os.sep)
    found = [rf"(?:{listed})(?:{separator}|(?![\w-]))"]
    # A bot in the folder "and" may be asked about this and/or that, but not about and/or.yaml.
    found += [rf"{re.escape(str(folder))}{separator}(?=[^\s:'\"]+\.ya?ml\b)" for folder in given]
    # Not inside of a longer path or word: "/srv" is no folder in "/usr/srv".
    return re.compile(rf"(?<![\w.~/-])(?:{'|'.join(found)})")
