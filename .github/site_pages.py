"""Hooks of MkDocs: the order of the pages, the README as the first one, links outward, search without a server."""

from __future__ import annotations

import posixpath
import re
from pathlib import Path
from typing import Any

from intentmatch.cli.guide import GROUPS

ROOT = Path(__file__).resolve().parents[1]
GUIDE = "intentmatch/guide"
SEARCH = "assets/iframe-worker.js"
"""The theme loads the script of this name from another site, unless the configuration names one."""
_LINK = re.compile(
    r"^(?P<fence>```|~~~).*?^(?P=fence)[^\n]*$|(?P<ticks>`+)(?!`).+?(?<!`)(?P=ticks)(?!`)"  # code, which stays as it is
    r"|(?<=\]\()(?!https?://|mailto:|#)(?P<path>[^)\s#]+)(?P<anchor>#[^)\s]*)?(?=\))",
    re.DOTALL | re.MULTILINE,
)


def on_config(config: Any) -> Any:
    """Put the pages in the order of `intentmatch guide`, and load no script from elsewhere."""
    config["extra"]["polyfills"] = [SEARCH]
    pages = [{group: [f"{topic}.md" for topic in topics]} for group, topics in GROUPS.items()]
    config["nav"] = [{"intentmatch": "index.md"}, *pages]
    return config


def on_files(files: Any, config: Any) -> Any:
    """Add the README as the first page, and the script of the search."""
    from mkdocs.structure.files import File

    text = (ROOT / "README.md").read_text(encoding="utf-8")
    files.append(File.generated(config, "index.md", content=linked(text, ".", config["repo_url"])))
    files.append(File.generated(config, SEARCH, abs_src_path=str(ROOT / ".github" / "iframe-worker.js")))
    return files


def on_page_markdown(markdown: str, page: Any, config: Any, files: Any) -> str:
    """Let links lead out of the guide."""
    inside = page.file.src_uri == "index.md"
    return markdown if inside else linked(markdown, GUIDE, config["repo_url"])


def linked(markdown: str, folder: str, repository: str) -> str:
    """Return a document of `folder` whose links to files of the guide stay and all others lead to the repository."""

    def target(link: re.Match[str]) -> str:
        if link["path"] is None:
            return link[0]
        path, anchor = posixpath.normpath(posixpath.join(folder, link["path"])), link["anchor"] or ""
        if path.startswith(f"{GUIDE}/"):
            return path.removeprefix(f"{GUIDE}/") + anchor
        return f"{repository}/blob/main/{path}{anchor}"

    return _LINK.sub(target, markdown)
