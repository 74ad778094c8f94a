"""The folder for what this user's processes may make again."""

from __future__ import annotations

from pathlib import Path

import platformdirs


def user_cache_folder() -> Path | None:
    """Return the folder; None for a user without a home, such as a container's user who has no entry in passwd."""
    try:
        folder = Path(platformdirs.user_cache_dir("intentmatch"))
    except RuntimeError:
        return None
    return folder if folder.is_absolute() else None
