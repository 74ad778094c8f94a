"""The screen History: every revision with what it changed, its evaluation, and a way back."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from datetime import datetime
from functools import partial

from nicegui import ui
from nicegui.element import Element
from nicegui.elements.mixins.text_element import TextElement

from intentmatch.authoring.past_registries import registry_before, registry_of
from intentmatch.authoring.revision_scores import Scores
from intentmatch.authoring.revisions import Files, Revision
from intentmatch.authoring.score_revision import evaluate
from intentmatch.authoring.workspace import Workspace
from intentmatch.core.errors import IntentMatchError, RegistryError
from intentmatch.registry.editing.edits import Edit
from intentmatch.studio.changes_view import changes_view
from intentmatch.studio.following import follow
from intentmatch.studio.parts import (
    badge,
    bring_into_view,
    card,
    empty,
    heading,
    in_thread,
    later,
    set_current,
    tag,
    words,
)
from intentmatch.studio.proposal import explained, propose
from intentmatch.studio.replay_card import ReplayCard
from intentmatch.studio.rows import Rows
from intentmatch.studio.sentences import Sentence, sentences
from intentmatch.studio.visit import Visit
from intentmatch.studio.wording import plainly

PER_PAGE = 30
_MOST = 1000
_MOST_AUDIT = 100
_SOURCES = {"held_out": "examples, each left out", "tests": "tests"}


async def show(visit: Visit) -> None:
    """Draw the screen."""
    page = _HistoryPage(visit)
    await page.refresh()
    if wanted := ui.context.client.request.query_params.get("revision"):
        await page.open(wanted)
    if visit.may("admin"):
        page.show_audit()
    follow(visit, page.refresh)


class _HistoryPage:
    """The screen on one page."""

    def __init__(self, visit: Visit) -> None:
        self._visit = visit
        self._revisions: list[Revision] = []
        self._chosen: str | None = None
        self._page = 1
        self._buttons: dict[str, Element] = {}
        heading("History", "Every save is a version that can be restored.")
        with tag("div", classes="st-split") as self._split:
            with tag("aside", classes="st-card st-intents", aria_label="Versions") as self._aside:
                self._rows = Rows(tag("ul", classes="st-plain st-list-of-intents"), self._row)
                self._pages = ui.pagination(1, 1, direction_links=True, on_change=self._turn).props("dense max-pages=5")
            with tag("div", classes="st-stack st-gap"):
                self._right = tag("div", classes="st-stack st-gap st-opened")
                self._audit = tag("div", classes="st-stack")

    async def refresh(self) -> None:
        """Read the revisions anew."""
        self._revisions = await in_thread(_revisions, self._visit.bot.workspace)
        self._draw()
        if self._chosen is None:
            self._right.clear()
            with self._right:
                empty("Choose a version." if self._revisions else "There is no version yet: the first save makes one.")

    async def open(self, identity: str) -> None:
        """Show what a revision changed."""
        try:
            revision, told, diffs = await in_thread(_opened, self._visit.bot.workspace, identity)
        except IntentMatchError as error:
            self._visit.tell(explained(error), "negative")
            return
        self._chosen = revision.id
        self._draw()
        self._right.clear()
        with self._right:
            self._revision(revision, told, diffs)
        bring_into_view(self._right)
        self._visit.show_address("history", revision=revision.id)
        self._visit.announce(f"{revision.note} is open")

    def _turn(self) -> None:
        # The field reports its own setting, too.
        if self._pages.value != self._page:
            self._page = int(self._pages.value or 1)
            self._draw()

    def _draw(self) -> None:
        pages = max(1, -(-len(self._revisions) // PER_PAGE))
        self._pages.props["max"] = pages
        self._pages.set_visibility(pages > 1)
        shown = self._revisions[(self._page - 1) * PER_PAGE : self._page * PER_PAGE]
        self._aside.set_visibility(bool(shown))
        # Without a version, the right side says so, and an empty list would stand beside it.
        self._split.classes(**{"remove" if shown else "add": "st-one"})
        self._rows.show(shown)
        self._buttons = {revision.id: self._buttons[revision.id] for revision in shown}
        for identity, button in self._buttons.items():
            set_current(button, current=identity == self._chosen)

    def _row(self, revision: Revision) -> Element:
        with tag("li") as row:
            button = tag("button", classes="st-intent", type="button").on("click", partial(self.open, revision.id))
            with button:
                words(_note(revision), "st-strong")
                with tag("span", classes="st-row st-small st-muted"):
                    words(revision.author or "another program")
                    _time(revision)
        self._buttons[revision.id] = button
        return row

    def _revision(self, revision: Revision, told: Sequence[Sentence], diffs: Mapping[str, str]) -> None:
        with card():
            with tag("div", classes="st-row"):
                words(_note(revision), "st-name", "h2")
                if revision.id == self._revisions[0].id:
                    badge("newest", "primary")
                restore = ui.button("Restore", icon="restore", on_click=partial(self._restore, revision))
                restore.props("outline").classes("st-push")
            with tag("div", classes="st-row st-muted"):
                words(revision.author or "another program")
                _time(revision)
                tag("span", f"version {revision.id[:10]}")
            if diffs:
                changes_view(told, diffs)
            else:
                tag("p", "It changed no file of this bot.", "st-muted")

        with card("Evaluation") as box:
            scores = self._visit.bot.workspace.scores.read(revision.id)
            if scores is not None:
                _scores(scores)
            else:
                tag(
                    "p",
                    "Right answers to examples, each left out, and to tests, before and after this version.",
                    "st-muted",
                )
            button = ui.button("Evaluate again" if scores else "Evaluate", icon="analytics")
            button.props("outline").on_click(partial(self._evaluate, revision, box, button, again=scores is not None))
        ReplayCard(self._visit, revision)

    async def _evaluate(self, revision: Revision, box: TextElement, button: ui.button, *, again: bool) -> None:
        """Evaluate in a thread; the page stays usable meanwhile, and may show another revision when it ends."""
        button.props("loading")
        self._visit.announce("The evaluation has begun.")
        done = False
        try:
            # An evaluation takes the processor for up to a minute.
            self._visit.require("author")
            done = await asyncio.to_thread(_evaluated, self._visit, revision.id, again=again)
        except IntentMatchError as error:
            self._visit.tell(explained(error), "negative")
        # The page may have been closed, or show another version.
        if not box.is_deleted:
            button.props(remove="loading")
            if done and self._chosen == revision.id:
                await self.open(revision.id)

    async def _restore(self, revision: Revision) -> None:
        workspace = self._visit.bot.workspace

        def edits(_: Files) -> list[Edit]:
            return workspace.restoring(revision.id)

        note = f"Restore: {revision.note or revision.id[:10]}"[:200]
        if await propose(self._visit, edits, title="Restore this version", note=note, undoes=True) is not None:
            await self.refresh()

    def show_audit(self) -> None:
        """Show who wrote what. Last: a part that comes later ends the first answer to the browser."""

        async def draw() -> None:
            entries = await in_thread(self._visit.bot.workspace.audit, _MOST_AUDIT)
            if not entries:
                return
            with card("Audit log"), tag("table", classes="st-table"):
                with tag("thead"), tag("tr"):
                    for head in ("time", "who", "what", "version"):
                        tag("th", head, scope="col")
                with tag("tbody"):
                    for entry in entries:
                        with tag("tr"):
                            tag("td", f"{datetime.fromisoformat(entry.time).astimezone():%Y-%m-%d %H:%M:%S}", "st-mono")
                            words(entry.author, "st-cell", name="td")
                            words(entry.what, "st-cell", name="td")
                            tag("td", (entry.revision or "")[:10], "st-mono")

        with self._audit:
            later(draw, "Reading the audit log …")


def _revisions(workspace: Workspace) -> list[Revision]:
    """Return the revisions, with that of a change which is being written. For a thread."""
    # Files are written before their revision is kept.
    workspace.settle()
    return workspace.revisions(_MOST)


def _opened(workspace: Workspace, identity: str) -> tuple[Revision, list[Sentence], dict[str, str]]:
    """Return a revision, and what it changed: in sentences, and by files. For a thread. Raises `UnknownNameError`."""
    revision, files = workspace.revision(identity)
    diffs = {one.name: one.diff for one in files}
    # Against nothing, every line would be told as new.
    if not workspace.history.before(revision.id):
        return revision, [Sentence("The first version that is kept: all files as they were.")], diffs
    try:
        after = registry_of(workspace, revision.id)
    except RegistryError:
        return revision, sentences(None, None, diffs), diffs
    return revision, sentences(registry_before(workspace, revision.id), after, diffs), diffs


def _evaluated(visit: Visit, identity: str, *, again: bool) -> bool:
    """Evaluate a revision after what is being evaluated; return False if the page is closed before. For a thread."""
    workspace = visit.bot.workspace
    with workspace.scores.turn(lambda: visit.client.is_deleted) as may:
        if may and (again or workspace.scores.read(identity) is None):
            evaluate(workspace, identity, visit.bot.matcher)
        return may


def _scores(scores: Scores) -> None:
    with tag("div", classes="st-row"):
        badge(f"{scores.fixed} fixed", "good" if scores.fixed else "plain")
        badge(f"{scores.broken} broken", "bad" if scores.broken else "plain")
        if scores.sampled:
            tag("span", "some messages were left out for lack of time", "st-muted st-small")
    with tag("table", classes="st-table"):
        with tag("thead"), tag("tr"):
            for head in ("messages", "number", "right before", "right after"):
                tag("th", head, scope="col")
        with tag("tbody"):
            for source in scores.sources:
                with tag("tr"):
                    tag("td", _SOURCES.get(source.source, source.source))
                    tag("td", f"{source.messages:,} of {source.of:,}")
                    before = source.right_before
                    tag("td", "" if before is None or not source.messages else f"{before / source.messages:.1%}")
                    tag("td", f"{source.right_after / source.messages:.1%}" if source.messages else "")


def _note(revision: Revision) -> str:
    return plainly(revision.note) or "(no note)"


def _time(revision: Revision) -> TextElement:
    shown = revision.time.astimezone().strftime("%Y-%m-%d %H:%M")
    return tag("time", shown, datetime=revision.time.isoformat())
