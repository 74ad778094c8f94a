"""The cards of one intent: lines by language, negatives, responses, slots. Each edit goes through a proposal."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from functools import partial
from typing import Any

from nicegui import ui

from intentmatch.core.errors import InputError
from intentmatch.core.threshold import parse_threshold
from intentmatch.core.types import Intent, Slot, Utterance
from intentmatch.registry.editing.edits import (
    AddIntent,
    AddUtterance,
    Edit,
    MoveUtterance,
    RemoveIntent,
    RemoveUtterance,
    RenameIntent,
)
from intentmatch.registry.editing.fields import SetField
from intentmatch.studio.held import Held, languages_of
from intentmatch.studio.intent_list import health_badge
from intentmatch.studio.parts import card, tag, words
from intentmatch.studio.places import place
from intentmatch.studio.proposal import explained, problem_line, propose
from intentmatch.studio.visit import Visit

LINES_PER_PAGE = 50
_NO_LANGUAGE = "no language"
_MOST_PROBLEMS = 10

Done = Callable[[str | None], Awaitable[None]]
"""Called after an edit with the intent to show; None if it is gone."""


class IntentCards:
    """The cards on one page."""

    def __init__(self, visit: Visit, held: Held, intent: Intent, shown: dict[str, str], done: Done) -> None:
        """`shown` keeps which language is shown while cards are drawn anew."""
        self._visit, self._held, self._intent, self._shown, self._done = visit, held, intent, shown, done
        self._others = [one.name for one in held.registry if one.name != intent.name]
        self._head()
        self._problems()
        self._utterances()
        with card(f"Not this intent ({len(intent.negatives)})"):
            self._lines(list(intent.negatives), None, negative=True)
        self._responses()
        self._slots()
        self._settings()

    def _head(self) -> None:
        intent = self._intent
        with card():
            with tag("div", classes="st-row"):
                tag("h2", intent.name, "st-name", dir="auto")
                health_badge(self._held.health[intent.name])
                place(self._visit, intent.location)
                with (
                    ui.button(icon="more_vert").props('flat round dense aria-label="More"').classes("st-push"),
                    ui.menu(),
                ):
                    ui.menu_item("Rename …", self._rename)
                    ui.menu_item("Remove this intent …", self._remove)
            if intent.title:
                words(intent.title, "st-muted", "p")
            if intent.description:
                words(intent.description, "st-muted", "p")

    def _problems(self) -> None:
        start = self._intent.location
        if start is None:
            return
        starts = sorted(
            one.location.line for one in self._held.registry if one.location and one.location.path == start.path
        )
        end = next((line for line in starts if line > start.line), None)
        found = [
            problem
            for problem in self._held.problems
            if problem.location.path == start.path
            and start.line <= problem.location.line
            and (end is None or problem.location.line < end)
        ]
        if found:
            with card("Problems"):
                for problem in found[:_MOST_PROBLEMS]:
                    problem_line(problem)

    def _utterances(self) -> None:
        """One language at a time: an intent in thirty languages has hundreds of lines."""
        counts = languages_of(self._intent) or {"": 0}
        if self._shown.get("language") not in counts:
            self._shown["language"] = next(iter(counts))
        with card(f"Utterances ({len(self._intent.utterances)})"):
            with tag("div", classes="st-row", role="group", aria_label="Language"):
                for language, count in counts.items():
                    here = language == self._shown["language"]
                    button = ui.button(f"{language or _NO_LANGUAGE} {count}", on_click=partial(self._speak, language))
                    button.props("unelevated dense no-caps" if here else "outline dense no-caps").classes("st-small")
                    button.props["aria-pressed"] = str(here).lower()
                if _all_languages(self._held) - counts.keys():
                    ui.button("Another language …", on_click=self._other_language).props("flat dense no-caps")
            language = self._shown["language"]
            lines = [one for one in self._intent.utterances if (one.language or "") == language]
            self._lines(lines, language or None, negative=False)

    async def _speak(self, language: str) -> None:
        self._shown["language"] = language
        await self._done(self._intent.name)

    def _lines(self, lines: Sequence[Utterance], language: str | None, *, negative: bool) -> None:
        with tag("div", classes="st-stack"):
            listed = tag("ul", classes="st-plain st-lines")
            pages = max(1, -(-len(lines) // LINES_PER_PAGE))

            def draw(page: int) -> None:
                listed.clear()
                with listed:
                    for line in lines[(page - 1) * LINES_PER_PAGE : page * LINES_PER_PAGE]:
                        self._line(line, negative=negative)

            draw(1)
            if pages > 1:
                ui.pagination(1, pages, direction_links=True, on_change=lambda event: draw(int(event.value or 1)))
            with tag("div", classes="st-row st-top"):
                new = ui.textarea("Add lines, one per row").props('outlined dense autogrow rows=1 dir="auto"')
                new.classes("st-grow")
                ui.button("Add", on_click=lambda: self._add(str(new.value or ""), language, negative=negative)).props(
                    "unelevated"
                )

    def _line(self, line: Utterance, *, negative: bool) -> None:
        text = line.template or line.text
        with tag("li", classes="st-line"):
            words(text, "st-grow")
            place(self._visit, line.location)
            with ui.button(icon="more_vert").props("flat round dense size=sm") as button, ui.menu().props("auto-close"):
                ui.menu_item("Try it", partial(self._visit.go, "try", message=line.text))
                ui.menu_item("Move …", partial(self._move, text, line.language, negative=negative))
                ui.menu_item("Remove …", partial(self._remove_line, text, line.language, negative=negative))
            button.props["aria-label"] = f"Actions for {text}"

    async def _other_language(self) -> None:
        rest = sorted(_all_languages(self._held) - languages_of(self._intent).keys())
        language = await _ask(self._visit, rest, "Language")
        line = await _ask(self._visit, None, f"First line in {language}") if language else None
        if language and line:
            self._shown["language"] = language
            await self._add(line, language, negative=False)

    def _responses(self) -> None:
        held = self._intent.responses
        several = {code for code, more in self._intent.more_responses.items() if more}
        with card("Responses"):
            fields = {}
            for code, text in (held or {"": ""}).items():
                field = ui.textarea(f"Response · {code or _NO_LANGUAGE}", value=text)
                field.props('outlined dense autogrow dir="auto"').classes("st-wide")
                if code in several:
                    field.props("readonly").tooltip("It has several variants: edit them in the YAML.")
                else:
                    fields[code] = field

            async def save() -> None:
                values = {code: str(field.value or "").strip() or None for code, field in fields.items()}
                await self._set("response", values.get("") if set(held) <= {""} else values)

            if fields:
                ui.button("Review the responses", on_click=save).props("outline")

    def _slots(self) -> None:
        if not self._intent.slots:
            return
        with card("Slots"), tag("dl", classes="st-pairs"):
            for slot in self._intent.slots:
                tag("dt", slot.name, "st-mono")
                words(_described(slot), name="dd")

    def _settings(self) -> None:
        intent = self._intent
        with card("When it answers"), tag("div", classes="st-row st-top"):
            title = ui.input("Title", value="" if intent.titles else intent.title or "").props(
                'outlined dense dir="auto"'
            )
            if intent.titles:
                title.props("readonly").tooltip("It has a title per language: edit them in the YAML.")
            threshold = ui.input("Threshold", value=str(intent.threshold or ""), placeholder="learned")
            threshold.props("outlined dense").tooltip(
                "A number from 0 to 1 on the score, or such as 90% on the confidence"
            )
            when = ui.input("Only in the context", value=", ".join(intent.when)).props("outlined dense")
            confirm = ui.checkbox("Confirm first", value=intent.confirm)
            for field in (title, threshold, when):
                field.classes("st-grow")

            async def save() -> None:
                try:
                    edits = _setting_edits(
                        intent, str(title.value), str(threshold.value), str(when.value), bool(confirm.value)
                    )
                except InputError as error:
                    self._visit.tell(explained(error), "negative")
                    return
                await self._propose(edits, "Change the settings", f"Set the options of {intent.name}")

            ui.button("Review", on_click=save).props("outline")

    async def _add(self, text: str, language: str | None, *, negative: bool) -> None:
        lines = [line.strip() for line in text.splitlines() if line.strip()]
        if lines:
            edits = [AddUtterance(self._intent.name, line, language, negative) for line in lines]
            count = "a line" if len(lines) == 1 else f"{len(lines)} lines"
            await self._propose(edits, f"Add {count} to {self._intent.name}", f"Add {count} to {self._intent.name}")

    async def _remove_line(self, text: str, language: str | None, *, negative: bool) -> None:
        edit = RemoveUtterance(text, self._intent.name, language, negative)
        await self._propose([edit], "Remove a line", f"Remove a line of {self._intent.name}")

    async def _move(self, text: str, language: str | None, *, negative: bool) -> None:
        target = await _ask(self._visit, self._others, "Move to")
        if target:
            edit = MoveUtterance(text, target, self._intent.name, language, negative)
            await self._propose([edit], f"Move a line to {target}", f"Move a line to {target}")

    async def _set(self, field: str, value: Any) -> None:
        await self._propose(
            [SetField(self._intent.name, field, value)],
            f"Change the {field}",
            f"Set the {field} of {self._intent.name}",
        )

    async def _rename(self) -> None:
        name = await _ask(self._visit, None, "New name", self._intent.name)
        if name and name != self._intent.name:
            edits = [RenameIntent(self._intent.name, name)]
            if await propose(
                self._visit, edits, title=f"Rename to {name}", note=f"Rename {self._intent.name} to {name}"
            ):
                await self._done(name)

    async def _remove(self) -> None:
        edits = [RemoveIntent(self._intent.name)]
        note = f"Remove the intent {self._intent.name}"
        if await propose(self._visit, edits, title=note, note=note):
            await self._done(None)

    async def _propose(self, edits: Sequence[Edit], title: str, note: str) -> None:
        if edits and await propose(self._visit, edits, title=title, note=note) is not None:
            await self._done(self._intent.name)


def new_intent(visit: Visit, held: Held, done: Done) -> None:
    """Draw the card that adds an intent."""
    with card("New intent"), tag("div", classes="st-row st-top"):
        name = ui.input("Name").props("outlined dense").classes("st-grow")
        line = ui.input("First utterance").props('outlined dense dir="auto"').classes("st-grow")
        files = sorted(held.files)
        file = ui.select(files, value=files[0] if files else None, label="File").props("outlined dense")

        async def add() -> None:
            wanted, text = str(name.value or "").strip(), str(line.value or "").strip()
            if not wanted or not text:
                visit.tell("An intent needs a name and an utterance.", "warning")
                return
            target = None if file.value is None else visit.bot.workspace.place(str(file.value))
            note = f"Add the intent {wanted}"
            if await propose(visit, [AddIntent(wanted, text, None, target)], title=note, note=note):
                await done(wanted)

        ui.button("Add", on_click=add).props("unelevated")


async def _ask(visit: Visit, options: Sequence[str] | None, label: str, value: str = "") -> str | None:
    """Ask for a name, among options if there are any."""
    field: ui.select | ui.input
    with visit.client, ui.dialog() as dialog, ui.card().classes("st-dialog"):
        if options is None:
            field = ui.input(label, value=value).props("outlined autofocus")
        else:
            field = ui.select(list(options), label=label, with_input=True).props("outlined autofocus")
        field.classes("st-wide")
        with tag("div", classes="st-row st-end"):
            ui.button("Cancel", on_click=lambda: dialog.submit(None)).props("flat")
            ui.button("Go on", on_click=lambda: dialog.submit(field.value)).props("unelevated")
    answer = await dialog
    if not dialog.is_deleted:
        dialog.delete()
    return str(answer).strip() if answer else None


def _setting_edits(intent: Intent, title: str, threshold: str, when: str, confirm: bool) -> list[Edit]:
    """Return the edits for the fields that differ. Raises `InputError` for an invalid threshold."""
    edits: list[Edit] = []
    if not intent.titles and (new := title.strip() or None) != intent.title:
        edits.append(SetField(intent.name, "title", new))
    try:
        limit = parse_threshold(threshold.strip()) if threshold.strip() else None
    except ValueError as error:
        raise InputError(f"the threshold is invalid: {error}") from None
    if limit != intent.threshold:
        edits.append(SetField(intent.name, "threshold", limit))
    tags = [word for word in when.replace(",", " ").split() if word]
    if tuple(tags) != intent.when:
        edits.append(SetField(intent.name, "when", tags or None))
    if confirm != intent.confirm:
        edits.append(SetField(intent.name, "confirm", confirm or None))
    return edits


def _all_languages(held: Held) -> set[str]:
    return {line.language for line in held.registry.utterances if line.language}


def _described(slot: Slot) -> str:
    parts = [slot.kind, "required" if slot.required else ""]
    parts.append(", ".join(value.value for value in slot.values[:8]))
    parts.append(slot.question(None) or "")
    return " · ".join(part for part in parts if part)
