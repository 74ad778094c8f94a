"""The screen Edit: all intents on the left, one of them or a file on the right."""

from __future__ import annotations

from collections import Counter

from nicegui import ui

from intentmatch.studio.following import follow
from intentmatch.studio.held import Held, held
from intentmatch.studio.intent_cards import IntentCards
from intentmatch.studio.intent_list import IntentList
from intentmatch.studio.new_intent import new_intent
from intentmatch.studio.parts import bring_into_view, card, empty, heading, in_thread, tag, words
from intentmatch.studio.preloading import preload
from intentmatch.studio.proposal import propose
from intentmatch.studio.questions import questions_card
from intentmatch.studio.visit import Visit
from intentmatch.studio.yaml_editor import YamlEditor


async def show(visit: Visit) -> None:
    """Draw the screen."""
    query = ui.context.client.request.query_params
    page = _EditPage(visit, await held(visit.bot.workspace))
    await page.begin(query.get("intent"), query.get("file"), query.get("line"))
    follow(visit, page.refresh)


class _EditPage:
    """The screen on one page."""

    def __init__(self, visit: Visit, found: Held) -> None:
        self._visit, self._held = visit, found
        self._intent: str | None = None
        self._editor: YamlEditor | None = None
        self._cards: IntentCards | None = None
        with tag("div", classes="st-row"):
            heading("Edit", "You see what a change does before you save it.")
            self._undo = ui.button("Undo the last save", icon="undo", on_click=self._undo_last).props("flat")
            self._undo.classes("st-push")
            self._undo.disable()
        with tag("div", classes="st-split"):
            self._list = IntentList(visit, self._open_intent, self._open_file)
            self._right = tag("div", classes="st-stack st-gap st-opened")

    async def begin(self, intent: str | None, file: str | None, line: str | None) -> None:
        """Open what the address of the page names."""
        await self._list.show(self._held)
        await self._allow_undo()
        if file is not None and file in self._held.files:
            # Before the editor is made, so that the browser fetches it with the page.
            preload(self._visit.root, ui.codemirror)
            await self._open_file(file, int(line) if line is not None and line.isdecimal() else None)
        elif intent is not None and intent in self._held.registry:
            await self._open_intent(intent)
        else:
            self._overview()

    async def refresh(self) -> None:
        """Show what the files say now. What is the same stays as it is, with the text that somebody is typing."""
        found = await held(self._visit.bot.workspace)
        if found.digest == self._held.digest:
            return  # such as after a save of this page
        self._held = found
        await self._list.show(found)
        await self._allow_undo()
        if self._editor is not None:
            await self._editor.refresh(found)
        elif self._cards is not None and self._cards.name in found.registry:
            self._cards.show(found)
        else:
            self._draw()

    async def _allow_undo(self) -> None:
        # An undo brings back the revision before the newest.
        newest = await in_thread(self._visit.bot.workspace.revisions, 2)
        self._undo.set_enabled(len(newest) > 1)

    async def _open_intent(self, name: str) -> None:
        if not await self._may_leave():
            return
        self._intent, self._editor, self._cards = name, None, None
        self._list.mark(name)
        self._draw()
        bring_into_view(self._right)
        self._remember(intent=name)
        self._visit.announce(f"{name} is open")

    async def _open_file(self, name: str, line: int | None = None) -> None:
        if not await self._may_leave():
            return
        self._intent = self._cards = None
        self._list.mark(None)
        self._right.clear()
        with self._right:
            self._editor = YamlEditor(self._visit, self._held, name, self.refresh)
        await self._editor.check()
        if line is not None:
            await self._editor.reveal(line)
        bring_into_view(self._right)
        self._remember(file=name)

    async def _may_leave(self) -> bool:
        """Ask before text that is not saved is left."""
        if self._editor is None or not self._editor.dirty:
            return True
        with self._visit.client, ui.dialog() as dialog, ui.card().classes("st-dialog"):
            tag("p", f"{self._editor.name} has changes that are not saved.")
            with tag("div", classes="st-row st-end"):
                ui.button("Discard them", on_click=lambda: dialog.submit(True)).props("flat")
                ui.button("Stay", on_click=lambda: dialog.submit(False)).props("unelevated autofocus")
        leave = bool(await dialog)
        if not dialog.is_deleted:
            dialog.delete()
        return leave

    async def _done(self, intent: str | None) -> None:
        await self.refresh()
        if intent != self._intent or intent is None:
            self._intent = intent
            self._draw()
        self._list.mark(intent)
        self._remember(**({} if intent is None else {"intent": intent}))

    def _draw(self) -> None:
        self._right.clear()
        self._cards = None
        if self._intent is None:
            self._overview()
            return
        with self._right:
            if self._intent not in self._held.registry:
                empty(f"{self._intent} is not there any more.")
                return
            self._cards = IntentCards(self._visit, self._held, self._intent, self._done)

    def _overview(self) -> None:
        registry = self._held.registry
        self._right.clear()
        with self._right:
            with card("All intents"):
                counts = Counter(line.language or "no language" for line in registry.utterances)
                tag(
                    "p", f"{len(registry):,} intents, {len(registry.utterances):,} lines, {len(registry.tests):,} tests"
                )
                with tag("dl", classes="st-pairs"):
                    for language, count in counts.most_common():
                        tag("dt", language, "st-mono")
                        tag("dd", f"{count:,} lines")
                errors = sum(problem.severity == "error" for problem in self._held.problems)
                words(f"{errors} errors, {len(self._held.problems) - errors} warnings", "st-muted", "p")
            questions_card(self._visit, registry)
            new_intent(self._visit, self._held, self._done)

    async def _undo_last(self) -> None:
        workspace = self._visit.bot.workspace
        newest = await in_thread(workspace.revisions, 2)
        if len(newest) < 2:
            return
        # As much as the field of the dialog holds.
        note = f"Undo: {newest[0].note}"[:200]
        edits = workspace.restoring(newest[1].id)
        if await propose(self._visit, lambda _: edits, title="Undo the last save", note=note, undoes=True) is not None:
            await self.refresh()

    def _remember(self, **query: str) -> None:
        self._visit.show_address("edit", **query)
