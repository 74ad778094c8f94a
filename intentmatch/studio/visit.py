"""One open page: whose it is, which bot it shows, and what its visitor may do."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Literal
from urllib.parse import quote, urlencode

from nicegui import Client, ui
from nicegui.elements.mixins.text_element import TextElement

from intentmatch.core.errors import InputError
from intentmatch.core.relative_paths import relative
from intentmatch.studio.host import Bot, Host, Role, reaches
from intentmatch.studio.sessions import Session
from intentmatch.studio.wording import plainly

Handler = Callable[[], None] | Callable[[], Awaitable[None]]


@dataclass(frozen=True, slots=True)
class Shortcut:
    """A key that does something on a screen, such as `j`, `Enter`, or `g t` for one after the other."""

    keys: str
    says: str
    """What it does, for the list that `?` opens."""
    handler: Handler


@dataclass(slots=True)
class Visit:
    """One page in one browser tab. Each reload makes a new one; nothing else may keep it."""

    host: Host
    session: Session
    bot: Bot
    name: str | None
    """Name of the bot, if there are several."""
    root: str
    """Path of the studio on the server, without a slash at the end, such as `/studio`."""
    client: Client
    """The page in NiceGUI, for what must not depend on the element that a handler belongs to."""
    screen: str = ""
    digest: str | None = None
    """Digest of the files before the screen was drawn; None if there are no files."""
    shortcuts: list[Shortcut] = field(default_factory=list)
    live: TextElement | None = field(default=None, repr=False)
    """The element whose text screen readers speak when it changes."""

    @property
    def author(self) -> str:
        """The name that revisions and the audit log get."""
        return self.session.visitor.name

    @property
    def role(self) -> Role | None:
        """What the visitor may do with this bot now; None once signed out."""
        return None if self.session.ended else self.host.role(self.session.visitor, self.name)

    def may(self, needed: Role) -> bool:
        """Whether the visitor may do what this role may."""
        return reaches(self.role, needed)

    def require(self, needed: Role) -> None:
        """Raise `InputError` unless the visitor may do what this role may. Call it before each write."""
        if not self.may(needed):
            raise InputError(f"this takes a key for {needed}s; sign in with one")

    def url(self, screen: str, **query: str) -> str:
        """Return the address of a screen for the same bot, such as `url("edit", intent="greet")`."""
        return f"{self.root}{self.path(screen, **query)}"

    def go(self, screen: str, **query: str) -> None:
        """Open a screen in place of this page."""
        self.client.open(self.path(screen, **query))  # NiceGUI puts the root in front itself

    def show_address(self, screen: str, **query: str) -> None:
        """Show the address of what is open in the address bar, without opening it."""
        # Not opened: the page has what it shows, and a reload or a bookmark finds it again.
        self.client.run_javascript(f"history.replaceState({{}}, '', {json.dumps(self.url(screen, **query))})")

    def announce(self, text: str) -> None:
        """Let screen readers speak a text, without anything to see."""
        if self.live is not None:
            self.live.set_text(text)

    def tell(self, text: str, kind: Literal["positive", "negative", "warning", "info"] = "info") -> None:
        """Show a message at the edge of the page for some seconds; screen readers speak it."""
        # A handler may outlive the element that it belongs to, such as a button of a list that was drawn anew.
        close = "Close" if kind == "negative" else ""
        with self.client:
            ui.notify(plainly(relative(text)), type=kind, position="bottom", multi_line=True, close_button=close)

    def shortcut(self, keys: str, says: str, handler: Handler) -> None:
        """Let keys do something while no text field has the focus. Names are those of `KeyboardEvent.key`."""
        self.shortcuts.append(Shortcut(keys, says, handler))

    def path(self, screen: str, **query: str) -> str:
        """Return the address of a screen below `root`, as NiceGUI's own functions want it."""
        bot = "" if self.name is None else f"/bots/{quote(self.name, safe='')}"
        return f"{bot}/{screen}{'?' + urlencode(query) if query else ''}"
