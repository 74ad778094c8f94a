"""Scripts that browsers fetch before another script asks for them."""

from __future__ import annotations

import re
from functools import cache
from html import escape
from pathlib import Path

from nicegui import __version__, dependencies, ui
from nicegui.element import Element

_IMPORTED = re.compile(r"""from\s*["']\./([^"']+)["']""").findall


def preload(root: str, *elements: type[Element]) -> None:
    """Have the scripts of these elements fetched while the page is read; `root` is the address of the studio.

    NiceGUI itself names the component of each element of a page, but neither the library that it imports nor the
    component of what is drawn later.
    """
    for address in _addresses(root, elements):
        ui.add_head_html(f'<link rel="modulepreload" href="{escape(address)}">')


def prefetch(root: str, *elements: type[Element]) -> None:
    """Have the scripts of these elements fetched while nobody waits, for pages that are opened later."""
    for address in _addresses(root, elements):
        # `studio.js` makes links of them. A link would compete with what the page itself needs.
        ui.add_head_html(f'<meta name="studio-prefetch" content="{escape(address)}">')


def _addresses(root: str, elements: tuple[type[Element], ...]) -> list[str]:
    return [f"{root}{address}" for element in elements for address in scripts(element)]


def scripts(element: type[Element]) -> tuple[str, ...]:
    """Return the addresses of an element's component and library, below the address of the studio."""
    component = element.component
    if component is None:
        return ()
    base = f"/_nicegui/{__version__}"
    found = [f"{base}/components/{component.key}"]
    # NiceGUI keeps the library of an element in the folder of its component.
    for key, library in dependencies.esm_modules.items():
        if library.path.parent == component.path.parent:
            found += [f"{base}/esm/{key}/{name}" for name in _modules(library.path)]
    return tuple(found)


@cache
def _modules(library: Path) -> tuple[str, ...]:
    """Return the names of a library's first module and of those that it imports, read once for all pages."""
    return ("index.js", *_IMPORTED((library / "index.js").read_text(encoding="utf-8")))
