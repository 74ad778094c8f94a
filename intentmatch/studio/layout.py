"""What surrounds every screen: the bar with the navigation, the theme, and keyboard shortcuts."""

from __future__ import annotations

import hashlib
import inspect
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import cache, partial
from html import escape
from pathlib import Path
from typing import Protocol

from nicegui import ui
from nicegui.events import GenericEventArguments

from intentmatch.studio.parts import tag
from intentmatch.studio.preloading import prefetch
from intentmatch.studio.sessions import Theme
from intentmatch.studio.visit import Visit

ASSETS = Path(__file__).parent / "assets"
ASSETS_PATH = "/assets"

_DARK: dict[Theme, bool | None] = {"auto": None, "light": False, "dark": True}
_NEXT_THEME: dict[Theme, Theme] = {"auto": "light", "light": "dark", "dark": "auto"}
_THEME_ICONS: dict[Theme, str] = {"auto": "brightness_auto", "light": "light_mode", "dark": "dark_mode"}


class Tab(Protocol):
    """An entry of the navigation."""

    @property
    def path(self) -> str:
        """Path of the screen, such as `try`."""

    @property
    def title(self) -> str:
        """Name of the screen for people."""

    @property
    def icon(self) -> str:
        """Name of a Material icon."""

    @property
    def key(self) -> str:
        """The key that opens the screen after `g`."""


@contextmanager
def frame(visit: Visit, tabs: Sequence[Tab], title: str) -> Iterator[None]:
    """Draw everything around a screen; the block adds its content to the region of the screen."""
    ui.add_head_html(head(visit.root))
    prefetch(visit.root, ui.echart, ui.codemirror)
    ui.colors(primary="#2f5fd0", secondary="#5b6472", accent="#8a5cd6", positive="#1c7a45", negative="#b3261e")
    dark = ui.dark_mode(_DARK[visit.session.theme])
    with tag("header", classes="st-bar"):
        tag("a", "intentmatch", "st-brand", href=visit.url("try"))
        if visit.name is not None:
            tag("a", visit.name, "st-bot", href=f"{visit.root}/", dir="auto", title="Change the bot")
        with tag("nav", classes="st-nav", aria_label="Screens"):
            for tab in tabs:
                _tab(visit, tab)
        with tag("div", classes="st-tools"):
            _theme_button(visit, dark)
            _icon_button("keyboard", "Keyboard shortcuts", partial(_show_shortcuts, visit)).classes("st-wide-only")
            if visit.host.needs_key:
                _sign_out(visit)
    main = tag("section", classes="st-main", aria_label=title)  # Quasar's page around it is the <main>
    ui.skip_link(target=main)
    # A screen reader reads what changes in here, and only in regions that were there before.
    visit.live = tag("div", classes="st-hidden", role="status", aria_live="polite")
    for tab in tabs:
        visit.shortcut(f"g {tab.key}", f"Open {tab.title}", partial(visit.go, tab.path))
    visit.shortcut("?", "Show these shortcuts", partial(_show_shortcuts, visit))
    with main:
        yield
    _listen(visit)


def _tab(visit: Visit, tab: Tab) -> None:
    with tag("a", classes="st-tab", href=visit.url(tab.path)) as item:
        if tab.path == visit.screen:
            item.props["aria-current"] = "page"
        ui.icon(tab.icon).props('aria-hidden="true"')
        tag("span", tab.title)


def _icon_button(icon: str, label: str, on_click: Callable[[], object] | None = None) -> ui.button:
    button = ui.button(icon=icon, on_click=on_click).props("flat round dense")
    button.props["aria-label"] = label
    return button


def _theme_button(visit: Visit, dark: ui.dark_mode) -> None:
    def change() -> None:
        visit.session.theme = _NEXT_THEME[visit.session.theme]
        show()
        visit.announce(str(button.props["aria-label"]))

    def show() -> None:
        theme = visit.session.theme
        dark.set_value(_DARK[theme])
        button.props["icon"] = _THEME_ICONS[theme]
        button.props["aria-label"] = f"Theme: {theme}"

    button = _icon_button("", "", change)
    show()


def _sign_out(visit: Visit) -> None:
    # A form and not a link: a GET changes nothing, and other sites can link.
    with tag("form", method="post", action=f"{visit.root}/sign-out"):
        _icon_button("logout", f"Sign out {visit.author}").props("type=submit")


def _show_shortcuts(visit: Visit) -> None:
    with visit.client, ui.dialog() as dialog, ui.card().classes("st-dialog"):
        tag("h2", "Keyboard shortcuts", "st-h2")
        with tag("dl", classes="st-shortcuts"):
            for shortcut in visit.shortcuts:
                with tag("dt"):
                    for key in shortcut.keys.split():
                        tag("kbd", key, "st-kbd")
                tag("dd", shortcut.says)
        ui.button("Close", on_click=dialog.close).props("flat autofocus")
    dialog.on("hide", dialog.delete)
    dialog.open()


def _listen(visit: Visit) -> None:
    """Run the handlers of shortcuts. `studio.js` sends listed keys only, and none from text fields."""

    async def pressed(event: GenericEventArguments) -> None:
        for shortcut in visit.shortcuts:
            if shortcut.keys == event.args:
                result = shortcut.handler()
                if inspect.isawaitable(result):
                    await result
                return

    ui.on("studio_keys", pressed)
    # After the screen, which has added its own.
    listed = "\n".join(shortcut.keys for shortcut in visit.shortcuts)
    tag("div", classes="st-hidden", aria_hidden="true", id="studio-keys", data_keys=listed)


@cache
def head(root: str) -> str:
    """Style and script, with a digest in the address: browsers keep them until they change."""
    style, script = (f"{root}{ASSETS_PATH}/{name}?{_digest(name)}" for name in ("studio.css", "studio.js"))
    return f'<link rel="stylesheet" href="{escape(style)}"><script type="module" src="{escape(script)}"></script>'


@cache
def _digest(name: str) -> str:
    return hashlib.sha256((ASSETS / name).read_bytes()).hexdigest()[:12]
