"""Places of lines: names of files as the studio shows them, and links that open the editor at the line."""

from __future__ import annotations

import os

from intentmatch.core.errors import IntentMatchError, Location
from intentmatch.core.relative_paths import relative
from intentmatch.studio.drawing import Node, node
from intentmatch.studio.parts import link, tag
from intentmatch.studio.visit import Visit

_PLACE, _NO_PLACE = "st-mono st-place", "st-mono st-muted"


def file_name(visit: Visit, location: Location) -> str | None:
    """Return the name of the file from the folder of the registry, with `/`; None outside of it, or without files."""
    try:
        base = visit.bot.workspace.base
    except IntentMatchError:
        return None
    name = os.path.relpath(location.path, base).replace(os.sep, "/")
    # An included file elsewhere is no file that the studio edits.
    return None if name.startswith("../") else name


def with_short_names(visit: Visit, text: str) -> str:
    """Return a text with the names of files from the folder of the registry, as everywhere in the studio."""
    try:
        base = visit.bot.workspace.base
    except IntentMatchError:
        return text
    return relative(text.replace(f"{base}{os.sep}", ""))


def place(visit: Visit, location: Location | None) -> None:
    """Draw `orders.yaml:12`, as a link to that line of the editor where the visitor may edit."""
    if location is None:
        return
    text, url = _place(visit, location)
    if url is not None:
        link(text, url, _PLACE)
    else:
        tag("span", text, _NO_PLACE)


def place_node(visit: Visit, location: Location | None) -> list[Node]:
    """Return what `place` draws; nothing without a location."""
    if location is None:
        return []
    text, url = _place(visit, location)
    if url is not None:
        return [node("a", text, classes=f"st-link {_PLACE}", href=url)]
    return [node("span", text, classes=_NO_PLACE)]


def intent_link(visit: Visit, intent: str, text: str = "") -> None:
    """Draw the name of an intent, as a link to its page where the visitor may edit."""
    if visit.may("author"):
        link(text or intent, visit.url("edit", intent=intent), "st-mono").props('dir="auto"')
    else:
        tag("span", text or intent, "st-mono")


def intent_node(visit: Visit, intent: str) -> Node:
    """Return what `intent_link` draws."""
    if visit.may("author"):
        return node("a", intent, classes="st-link st-mono", href=visit.url("edit", intent=intent), dir="auto")
    return node("span", intent, classes="st-mono")


def _place(visit: Visit, location: Location) -> tuple[str, str | None]:
    """Return the short name of a place, and its address in the editor if the visitor may open it."""
    name = file_name(visit, location)
    text = f"{name or os.path.basename(location.path)}:{location.line}"  # noqa: PTH119
    if name is None or not visit.may("author"):
        return text, None
    return text, visit.url("edit", file=name, line=str(location.line))
