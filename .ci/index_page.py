"""Build hook: the README as the page of the package index, whose links must be absolute."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from hatchling.metadata.plugin.interface import MetadataHookInterface

_LINK = re.compile(r"(?<=\]\()(?!https?://|mailto:|#)([^)\s]+)(?=\))")


class IndexPage(MetadataHookInterface):
    """Adds the README to the metadata."""

    def update(self, metadata: dict[str, Any]) -> None:
        """Set `readme` to the README with absolute links to the files of this version."""
        root = Path(self.root)
        source = metadata["urls"]["Source"]
        version = re.search(
            r'^__version__ = "(.+)"$', (root / "intentmatch/__init__.py").read_text("utf-8"), re.MULTILINE
        )
        if version is None:
            raise ValueError("intentmatch/__init__.py has no __version__")
        text = absolute((root / "README.md").read_text(encoding="utf-8"), f"{source}/blob/v{version[1]}/")
        metadata["readme"] = {"content-type": "text/markdown", "text": text}


def absolute(markdown: str, base: str) -> str:
    """Put `base` before the relative links of a document."""
    return _LINK.sub(lambda link: base + link[1], markdown)
