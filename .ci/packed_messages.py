"""Build hook: the messages to train on as one archive, which is a third of their size."""

from __future__ import annotations

from pathlib import Path
from typing import Any
from zipfile import ZIP_BZIP2, ZipFile, ZipInfo

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

_MESSAGES = "intentmatch/distill/messages"


class PackedMessages(BuildHookInterface):
    """Puts the archive into a wheel instead of the files; an editable install reads the files."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Write the archive, and name it in the wheel."""
        if version == "editable":
            return
        self._archive.parent.mkdir(parents=True, exist_ok=True)
        with ZipFile(self._archive, "w") as packed:
            for file in sorted((Path(self.root) / _MESSAGES).glob("*.yaml")):
                # Without the time of the file: two builds of the same tree are equal.
                packed.writestr(ZipInfo(f"messages/{file.name}"), file.read_bytes(), ZIP_BZIP2)
        build_data["force_include"][str(self._archive)] = f"{_MESSAGES}.zip"

    def finalize(self, version: str, build_data: dict[str, Any], artifact_path: str) -> None:
        """Remove the archive, which is in the wheel now."""
        self._archive.unlink(missing_ok=True)

    @property
    def _archive(self) -> Path:
        return Path(self.directory) / "messages.zip"
