"""Programs that PyInstaller freezes: it finds the hook of this folder through the entry point `pyinstaller40`."""

from __future__ import annotations

from pathlib import Path


def hook_folders() -> list[str]:
    """Return the folders of hooks for PyInstaller."""
    return [str(Path(__file__).parent)]
