"""Helpers to write registry files and to show problems."""

from __future__ import annotations

from pathlib import Path


def places(problems: list) -> list[str]:
    """Return sorted `LINE:COLUMN rule` of the problems."""
    return [f"{p.location.line}:{p.location.column} {p.rule}" for p in sorted(problems)]


def in_file(folder: Path, text: str | bytes, name: str = "bot.yaml") -> Path:
    file = folder / name
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(text if isinstance(text, bytes) else text.encode("utf-8", "surrogatepass"))
    return file
