"""The left side of Edit: all intents by file, with counts and health, and a search by text and by meaning."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
from nicegui import ui
from nicegui.element import Element

from intentmatch.encoders.encode import encode_all
from intentmatch.matching.matcher import Matcher
from intentmatch.studio.held import Health, Held, languages_of
from intentmatch.studio.parts import badge, empty, in_thread, set_current, tag, words
from intentmatch.studio.rows import Rows
from intentmatch.studio.visit import Visit
from intentmatch.text.normalize import clean

PER_PAGE = 40
_MOST_NEAR = 30
_MOST_CHIPS = 4


@dataclass(frozen=True, slots=True)
class FoundIntent:
    """An intent that a search has found, with the utterance that it was found by."""

    intent: str
    says: str = ""


@dataclass(frozen=True, slots=True)
class _FileRow:
    file: str


@dataclass(frozen=True, slots=True)
class _IntentRow:
    intent: str
    says: str
    health: Health
    counts: tuple[tuple[str, int], ...]
    """Utterances by language."""


@dataclass(frozen=True, slots=True)
class _NothingRow:
    pass


_ListedRow = _FileRow | _IntentRow | _NothingRow


def by_text(held: Held, searched: str) -> list[FoundIntent]:
    """Return the intents that have all words in their name, title or one utterance, in the order of the files."""
    wanted = searched.casefold().split()
    found = []
    for intent in held.registry:
        named = f"{intent.name} {intent.title or ''}".casefold()
        if all(word in named for word in wanted):
            found.append(FoundIntent(intent.name))
            continue
        lines = (line.text for line in (*intent.utterances, *intent.negatives))
        line = next((text for text in lines if all(word in text.casefold() for word in wanted)), None)
        if line is not None:
            found.append(FoundIntent(intent.name, line))
    return found


def by_meaning(matcher: Matcher, searched: str) -> list[FoundIntent]:
    """Return the intents whose nearest utterances mean about the same, the nearest first. For a thread."""
    registry = matcher.registry
    if not searched.strip() or not registry.utterances:
        return []
    vector = encode_all(matcher.encoder, [clean(searched)], "query")[0]
    cosines = np.asarray(matcher.artefact.vectors, dtype=np.float32) @ vector
    found: dict[str, FoundIntent] = {}
    # Many of the nearest lines are of one intent.
    for row in np.argsort(-cosines)[: 20 * _MOST_NEAR]:
        intent = registry.intents[registry.owners[int(row)]].name
        found.setdefault(intent, FoundIntent(intent, registry.utterances[int(row)].text))
        if len(found) == _MOST_NEAR:
            break
    return list(found.values())


class IntentList:
    """The list on one page. It draws `PER_PAGE` intents at a time."""

    def __init__(
        self, visit: Visit, choose: Callable[[str], Awaitable[None]], open_file: Callable[[str], Awaitable[None]]
    ) -> None:
        self._visit, self._choose, self._open_file = visit, choose, open_file
        self._held: Held | None = None
        self._found: list[FoundIntent] = []
        self._page = 1
        self._buttons: dict[str, Element] = {}
        self.chosen: str | None = None
        with tag("aside", classes="st-card st-intents", aria_label="Intents"):
            self._search = ui.input("Search", on_change=self._searched)
            self._search.props('outlined dense clearable debounce=150 dir="auto"').classes("st-wide")
            self._meaning = ui.checkbox("by meaning", on_change=self._searched).props("dense")
            self._count = tag("p", "", "st-muted st-small", role="status")
            self._rows = Rows(tag("ul", classes="st-plain st-list-of-intents"), self._row)
            self._pages = ui.pagination(1, 1, direction_links=True, on_change=self._turn).props("dense max-pages=5")
        visit.shortcut("/", "Search the intents", self._focus)

    async def show(self, held: Held) -> None:
        """Show the intents of the files."""
        self._held = held
        await self._search_again()

    def mark(self, intent: str | None) -> None:
        """Mark the intent that is open on the right."""
        self.chosen = intent
        place = next((number for number, one in enumerate(self._found) if one.intent == intent), None)
        if place is not None:
            self._page = place // PER_PAGE + 1
        self._draw()
        script = "document.querySelector('.st-list-of-intents [aria-current]')?.scrollIntoView({block: 'nearest'})"
        # Once the browser has drawn the marked row.
        self._visit.client.run_javascript(f"setTimeout(() => {script}, 50)")

    def _focus(self) -> None:
        self._search.run_method("focus")

    async def _searched(self) -> None:
        self._page = 1
        await self._search_again()

    async def _search_again(self) -> None:
        if self._held is None:
            return
        text = str(self._search.value or "")
        if text.strip() and self._meaning.value:
            self._found = await in_thread(by_meaning, self._visit.bot.matcher, text)
        else:
            self._found = by_text(self._held, text)
        self._draw()

    def _turn(self) -> None:
        if self._pages.value != self._page:
            self._page = int(self._pages.value or 1)
            self._draw()

    def _draw(self) -> None:
        held = self._held
        if held is None:
            return
        # What was found may have been renamed since.
        known = [one for one in self._found if one.intent in held.registry]
        pages = max(1, -(-len(known) // PER_PAGE))
        self._page = min(self._page, pages)
        self._pages.props["max"] = pages
        self._pages.set_value(self._page)
        self._pages.set_visibility(pages > 1)
        self._count.set_text(f"{len(known):,} of {len(held.registry):,} intents")
        rows = self._listed(held, known[(self._page - 1) * PER_PAGE : self._page * PER_PAGE])
        self._rows.show(rows)
        self._buttons = {row.intent: self._buttons[row.intent] for row in rows if isinstance(row, _IntentRow)}
        for name, button in self._buttons.items():
            set_current(button, current=name == self.chosen)

    def _listed(self, held: Held, found: Sequence[FoundIntent]) -> list[_ListedRow]:
        if not found:
            return [_NothingRow()]
        rows: list[_ListedRow] = []
        file = None
        for one in found:
            intent = held.registry[one.intent]
            # By meaning, the order is not that of the files.
            if not self._meaning.value and (name := held.file_of(intent)) != file and name is not None:
                file = name
                rows.append(_FileRow(name))
            counts = tuple(languages_of(intent).items())
            rows.append(_IntentRow(intent.name, one.says, held.health.get(intent.name, Health()), counts))
        return rows

    def _row(self, row: _ListedRow) -> Element:
        if isinstance(row, _NothingRow):
            return empty("Nothing found.")
        if isinstance(row, _FileRow):
            with tag("li", classes="st-file") as item:
                button = ui.button(row.file, icon="description", on_click=partial(self._open_file, row.file))
                button.props("flat dense no-caps align=left").classes("st-wide st-small")
            return item
        with tag("li") as item:
            self._buttons[row.intent] = self._intent(row)
        return item

    def _intent(self, row: _IntentRow) -> Element:
        button = tag("button", classes="st-intent", type="button").on("click", partial(self._choose, row.intent))
        with button:
            with tag("span", classes="st-row"):
                words(row.intent, "st-strong")
                health_badge(row.health)
            if row.says:
                words(f"“{row.says}”", "st-muted st-small")
            with tag("span", classes="st-row st-small"):
                for language, count in row.counts[:_MOST_CHIPS]:
                    tag("span", f"{language or 'any'} {count}", "st-chip")
                if len(row.counts) > _MOST_CHIPS:
                    tag("span", f"+{len(row.counts) - _MOST_CHIPS}", "st-muted")
        return button


def health_badge(health: Health) -> None:
    """Draw what is wrong with an intent, if anything is."""
    if health.errors:
        badge(f"{health.errors} {'error' if health.errors == 1 else 'errors'}", "bad")
    if health.warnings:
        badge(f"{health.warnings} {'warning' if health.warnings == 1 else 'warnings'}", "warn")
    if health.few and not health.errors:
        badge("few lines", "warn")
