"""Say why a file or folder cannot be written, and what to do about it."""

from __future__ import annotations

import errno

_RIGHTS = "Make the file and its folder writable for this user, or name another place"
_ADVICE = {
    errno.EROFS: "Mount it for writing, or name another place",
    errno.EACCES: _RIGHTS,
    errno.EPERM: _RIGHTS,
    errno.ENOSPC: "Free some space on this disk",
    errno.EDQUOT: "Free some space: this user's quota is used up",
}
# SQLite's words for a file, and for a folder, that cannot be written.
_SQLITE = ("readonly database", "unable to open database file")


def unwritable(what: object, error: Exception) -> str:
    """Return the message `<what> cannot be written: <reason>. <advice>`.

    `what` is a path, or names a thing with its path; see `with_advice` for the rest.
    """
    return f"{what} cannot be written: {with_advice(error)}"


def with_advice(error: Exception) -> str:
    """Return the reason of an `OSError` or an error of `sqlite3`, and what to do, if the cause is a usual one."""
    reason = (isinstance(error, OSError) and error.strerror) or str(error)
    number = error.errno if isinstance(error, OSError) else None
    # Errors of sqlite3 have words in place of the number of the system.
    advice = _RIGHTS if any(words in reason for words in _SQLITE) else _ADVICE.get(number or 0)
    return f"{reason}. {advice}" if advice else reason
