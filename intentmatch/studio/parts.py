"""Small pieces that screens are made of: tags, headings, cards, links, badges and differences."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Awaitable, Callable
from typing import ParamSpec, TypeVar

from nicegui import background_tasks, ui
from nicegui.element import Element
from nicegui.elements.mixins.text_element import TextElement

from intentmatch.core.errors import IntentMatchError
from intentmatch.studio.wording import BadgeKind, error_in_words

_Parameters = ParamSpec("_Parameters")
_Found = TypeVar("_Found")

_DIFF_CLASSES = {"+++": "file", "---": "file", "@@": "hunk", "+": "add", "-": "del"}
_RIGHT_TO_LEFT = re.compile("[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc]").search
_QUOTED_OR_WORD = re.compile("(?<=“)[^”]*(?=”)|[^\\s“”,.;:()=]+")
_ISOLATE, _END = "\u2068", "\u2069"  # first strong isolate, pop directional isolate
NARROW = 860
"""Pixels up to which the style puts columns below each other."""
MOST_DIFF_LINES = 400
"""Lines of a difference that are drawn; a page with more would be slow."""


def tag(name: str, text: str = "", classes: str = "", **attributes: str) -> TextElement:
    """Return an HTML element with plain text; use it as a context manager to put others inside.

    `aria_label="..."` sets the attribute `aria-label`. Text and values are never read as HTML.
    """
    element = TextElement(tag=name, text=text)
    element.classes(classes)
    for key, value in attributes.items():
        # Set one by one: `props` would parse a text for names and quotes.
        element.props[key.rstrip("_").replace("_", "-")] = value
    return element


def heading(title: str, says: str = "", *, keys: bool = False) -> None:
    """Draw the heading of a screen, with a sentence that says what it is for, and how to find its `keys`, if any."""
    with tag("div", classes="st-heading"):
        tag("h1", title, "st-h1")
        if says:
            tag("p", says, "st-muted")
        if keys:
            tag("p", "Press ? for the keys.", "st-muted st-wide-only")  # phones have none


def card(title: str = "", classes: str = "") -> TextElement:
    """Return a box; use it as a context manager. With a title it is a region with a heading."""
    if not title:
        return tag("div", classes=f"st-card {classes}")
    region = tag("section", classes=f"st-card {classes}", aria_label=title)
    with region:
        tag("h2", title, "st-h2")
    return region


def words(text: str, classes: str = "", name: str = "span") -> TextElement:
    """Show a text of a user in the direction of its own script."""
    return tag(name, text, f"st-words {classes}", dir="auto")


def isolated(text: str) -> str:
    """Keep the order of a sentence from left to right that quotes words from right to left.

    Without isolates, everything between two such words is read with them: numbers and commas change their places.
    """
    return _QUOTED_OR_WORD.sub(
        lambda found: f"{_ISOLATE}{found[0]}{_END}" if _RIGHT_TO_LEFT(found[0]) else found[0], text
    )


def link(text: str, url: str, classes: str = "") -> TextElement:
    """Draw a link, such as one to another screen (`Visit.url`)."""
    return tag("a", text, f"st-link {classes}", href=url)


def badge(text: str, kind: BadgeKind = "plain") -> TextElement:
    """Draw a short word on a coloured ground."""
    return tag("span", text, f"st-badge {'' if kind == 'plain' else kind}")


def empty(text: str) -> TextElement:
    """Say that there is nothing to show, and what to do about it."""
    return tag("p", text, "st-empty")


def answer_buttons(dialog: ui.dialog, field: ui.input | ui.select, accept: str = "Go on") -> None:
    """Add the buttons that close a dialog with what its field holds, or without an answer."""
    with tag("div", classes="st-row st-end"):
        ui.button("Cancel", on_click=lambda: dialog.submit(None)).props("flat")
        ui.button(accept, on_click=lambda: dialog.submit(field.value)).props("unelevated")


async def answer_of(dialog: ui.dialog) -> str | None:
    """Return the text that a dialog is closed with, once it is; None if there is none."""
    answer = await dialog
    if not dialog.is_deleted:
        dialog.delete()
    return str(answer).strip() if answer else None


def set_current(element: Element, *, current: bool) -> None:
    """Say whether an element of a list is the one that is open; nothing is sent if it says so already."""
    if current and "aria-current" not in element.props:
        element.props["aria-current"] = "true"
    elif not current:
        element.props.pop("aria-current", None)


def bring_into_view(element: Element) -> None:
    """Scroll to what a choice has opened where it lies below the list, as on phones."""
    element.client.run_javascript(
        # Once the browser has drawn what was opened.
        f"setTimeout(() => window.matchMedia('(max-width: {NARROW}px)').matches && "
        f"getHtmlElement({element.id})?.scrollIntoView({{block: 'start'}}), 50)"
    )


def difference(diff: str) -> None:
    """Draw a unified diff with colours; screen readers read its lines."""
    lines = diff.splitlines()
    with tag("div", classes="st-diff", role="group", aria_label="Difference", tabindex="0"):
        for line in lines[:MOST_DIFF_LINES]:
            kind = next((name for start, name in _DIFF_CLASSES.items() if line.startswith(start)), "")
            tag("div", line or " ", kind)
        if len(lines) > MOST_DIFF_LINES:
            tag("div", f"… {len(lines) - MOST_DIFF_LINES} more lines", "hunk")


async def in_thread(
    work: Callable[_Parameters, _Found], *args: _Parameters.args, **kwargs: _Parameters.kwargs
) -> _Found:
    """Do what takes long in a thread. If the page is closed meanwhile, the task ends: there is nothing to draw on."""
    client = ui.context.client
    try:
        return await asyncio.to_thread(work, *args, **kwargs)
    finally:
        if client.is_deleted:
            # Otherwise the task would go on to draw on a page that is gone.
            raise asyncio.CancelledError


def later(build: Callable[[], Awaitable[None]], waiting: str) -> None:
    """Draw a part of the page after the rest of it, and say `waiting` until it is there.

    `build` runs inside the place of this call while the browser loads the page. An `IntentMatchError` is shown there.
    """
    place = tag("div", classes="st-stack", aria_busy="true")
    with place, tag("div", classes="st-row st-muted") as spinner:
        ui.spinner(size="20px").props('aria-hidden="true"')
        tag("span", waiting)

    async def fill() -> None:
        try:
            await build()
        except IntentMatchError as error:
            tag("p", error_in_words(error), "st-problem", role="alert")
        if place.is_deleted:
            return  # the page was closed meanwhile
        spinner.delete()
        place.props["aria-busy"] = "false"

    background_tasks.create(_inside(place, fill), name="a part of a page")


async def _inside(place: Element, work: Callable[[], Awaitable[None]]) -> None:
    with place:
        await work()
