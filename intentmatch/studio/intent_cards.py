"""The cards of one intent: lines by language, negatives, responses, slots. Each edit goes through a proposal."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from functools import partial
from typing import NamedTuple

from nicegui import ui
from nicegui.element import Element
from nicegui.elements.mixins.text_element import TextElement

from intentmatch.core.errors import InputError, Location, Problem
from intentmatch.core.threshold import parse_threshold
from intentmatch.core.types import Intent, Slot, Utterance
from intentmatch.registry.editing.edits import (
    AddUtterance,
    Edit,
    MoveUtterance,
    RemoveIntent,
    RemoveUtterance,
    RenameIntent,
    RewordUtterance,
)
from intentmatch.registry.editing.fields import SetField
from intentmatch.studio.editable_line import editable_line
from intentmatch.studio.held import Health, Held, languages_of
from intentmatch.studio.intent_list import health_badge
from intentmatch.studio.parts import answer_buttons, answer_of, card, tag, words
from intentmatch.studio.places import place
from intentmatch.studio.proposal import explained, problem_line, propose
from intentmatch.studio.rows import PagePart, Rows
from intentmatch.studio.visit import Visit

LINES_PER_PAGE = 50
_NO_LANGUAGE = "no language"
_MOST_PROBLEMS = 10

Done = Callable[[str | None], Awaitable[None]]
"""Called after an edit with the intent to show; None if it is gone."""


class _Line(NamedTuple):
    """A line and its place, which equal lines do not share."""

    line: Utterance
    location: Location | None


class IntentCards:
    """The cards on one page."""

    def __init__(self, visit: Visit, held: Held, name: str, done: Done) -> None:
        """`name` is an intent of the files."""
        self._visit, self._held, self.name, self._done = visit, held, name, done
        self._language: str | None = None
        self._parts: list[PagePart] = []
        self._part(lambda: (_head_of(self._intent), self._health), self._head)
        self._part(self._own_problems, self._problems)
        with self._card(lambda: f"Examples ({len(self._intent.utterances)})"):
            self._part(lambda: (self._counts, self._spoken, self._unused), self._languages)
            self._lines(self._spoken_lines, negative=False)
        with self._card(lambda: f"Not this intent ({len(self._intent.negatives)})"):
            self._lines(lambda: list(self._intent.negatives), negative=True)
        self._part(lambda: self._intent.all_responses, self._responses, self._drafted_responses)
        self._part(lambda: self._intent.slots, self._slots)
        self._part(lambda: _settings_of(self._intent), self._settings, self._drafted_settings)
        self.show(held)

    def show(self, held: Held) -> None:
        """Show what the files say now. What is the same stays, with the text that somebody is typing."""
        self._held = held
        for part in self._parts:
            part.show()

    @property
    def _intent(self) -> Intent:
        return self._held.registry[self.name]

    @property
    def _health(self) -> Health:
        return self._held.health[self.name]

    @property
    def _counts(self) -> dict[str, int]:
        return languages_of(self._intent) or {"": 0}

    @property
    def _spoken(self) -> str:
        """The language whose utterances are shown: an intent in thirty languages has hundreds of lines."""
        return self._language if self._language in self._counts else next(iter(self._counts))

    @property
    def _unused(self) -> list[str]:
        """The languages of the registry that the intent has no utterance in."""
        return sorted({line.language for line in self._held.registry.utterances if line.language} - self._counts.keys())

    def _spoken_lines(self) -> list[Utterance]:
        return [one for one in self._intent.utterances if (one.language or "") == self._spoken]

    def _part(
        self, content: Callable[[], object], draw: Callable[[], None], draft: Callable[[], bool] | None = None
    ) -> None:
        """Make a part in the present place."""
        self._parts.append(PagePart(content, draw, tag("div", classes="st-part"), draft=draft))

    def _card(self, title: Callable[[], str]) -> TextElement:
        """Return a card whose title may change."""
        region = tag("section", classes="st-card")
        with region:
            heading = tag("h2", "", "st-h2")

        def draw() -> None:
            heading.set_text(title())
            region.props["aria-label"] = title()

        self._parts.append(PagePart(title, draw))
        return region

    def _head(self) -> None:
        intent = self._intent
        with card():
            with tag("div", classes="st-row"):
                tag("h2", intent.name, "st-name", dir="auto")
                health_badge(self._health)
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

    def _own_problems(self) -> list[Problem]:
        start = self._intent.location
        if start is None:
            return []
        starts = sorted(
            one.location.line for one in self._held.registry if one.location and one.location.path == start.path
        )
        end = next((line for line in starts if line > start.line), None)
        return [
            problem
            for problem in self._held.problems
            if problem.location.path == start.path
            and start.line <= problem.location.line
            and (end is None or problem.location.line < end)
        ]

    def _problems(self) -> None:
        if found := self._own_problems():
            with card("Problems"):
                for problem in found[:_MOST_PROBLEMS]:
                    problem_line(problem)

    def _languages(self) -> None:
        with tag("div", classes="st-row", role="group", aria_label="Language"):
            for language, count in self._counts.items():
                here = language == self._spoken
                button = ui.button(f"{language or _NO_LANGUAGE} {count}", on_click=partial(self._speak, language))
                button.props("unelevated dense no-caps" if here else "outline dense no-caps").classes("st-small")
                button.props["aria-pressed"] = str(here).lower()
            if self._unused:
                ui.button("Another language …", on_click=self._other_language).props("flat dense no-caps")

    def _speak(self, language: str) -> None:
        self._language = language
        self.show(self._held)

    def _lines(self, lines: Callable[[], list[Utterance]], *, negative: bool) -> None:
        """Draw a page of lines, and a field for new ones."""
        with tag("div", classes="st-stack"):
            rows = Rows(tag("ul", classes="st-plain st-lines"), partial(self._line, negative=negative))
            pages = ui.pagination(1, 1, direction_links=True)
            with tag("div", classes="st-row st-top"):
                new = ui.textarea("Add lines, one per row").props('outlined dense autogrow rows=1 dir="auto"')
                new.classes("st-grow")
                ui.button("Add", on_click=lambda: self._add_typed(new, negative=negative)).props("unelevated")

        def draw() -> None:
            last = max(1, -(-len(lines()) // LINES_PER_PAGE))
            page = min(int(pages.value or 1), last)
            pages.props["max"] = last
            pages.set_value(page)
            pages.set_visibility(last > 1)
            rows.show(_Line(one, one.location) for one in lines()[(page - 1) * LINES_PER_PAGE : page * LINES_PER_PAGE])

        pages.on_value_change(draw)
        self._parts.append(PagePart(lambda: [(one, one.location) for one in lines()], draw))

    def _line(self, row: _Line, *, negative: bool) -> Element:
        line = row.line
        text = line.template or line.text
        reword = partial(self._reword, text, line.language, negative=negative)
        with tag("li", classes="st-line") as item:
            if self._visit.may("author"):
                editable_line(text, reword)
            else:
                words(text, "st-grow")
            place(self._visit, line.location)
            with ui.button(icon="more_vert").props("flat round dense size=sm") as button, ui.menu().props("auto-close"):
                ui.menu_item("Try it", partial(self._visit.go, "try", message=line.text))
                ui.menu_item("Move …", partial(self._move, text, line.language, negative=negative))
                ui.menu_item("Remove …", partial(self._remove_line, text, line.language, negative=negative))
            button.props["aria-label"] = f"Actions for {text}"
        return item

    async def _other_language(self) -> None:
        language = await _ask(self._visit, self._unused, "Language")
        line = await _ask(self._visit, None, f"First line in {language}") if language else None
        if language and line:
            self._language = language
            await self._add(line, language, negative=False)

    def _responses(self) -> None:
        self._drawn = intent = self._intent
        self._response_fields: dict[str, ui.textarea] = {}
        with card("Responses"):
            for code, texts in (intent.all_responses or {"": ("",)}).items():
                field = ui.textarea(f"Response · {code or _NO_LANGUAGE}", value=texts[0])
                field.props('outlined dense autogrow dir="auto"').classes("st-wide")
                if len(texts) > 1:
                    field.props("readonly").tooltip("It has several variants: edit them in the YAML.")
                else:
                    self._response_fields[code] = field
            if self._response_fields:
                ui.button("Review the responses", on_click=self._save_responses).props("outline")

    def _typed_responses(self) -> dict[str, str]:
        """Return the responses that somebody has changed in the fields."""
        typed = {code: str(field.value or "").strip() for code, field in self._response_fields.items()}
        return {code: text for code, text in typed.items() if text != self._drawn.responses.get(code, "").strip()}

    def _drafted_responses(self) -> bool:
        return any(text != self._intent.responses.get(code, "") for code, text in self._typed_responses().items())

    async def _save_responses(self) -> None:
        """Write what was typed. Other languages, several variants, and what others have written meanwhile stay."""
        wanted: dict[str, str | list[str]] = {
            code: texts[0] if len(texts) == 1 else list(texts) for code, texts in self._intent.all_responses.items()
        }
        for code, text in self._typed_responses().items():
            wanted[code] = text
            if not text:
                del wanted[code]
        value = wanted if wanted.keys() - {""} else wanted.get("")
        if value is None and not self._intent.responses:
            self._visit.tell("There is no response to save.")
            return
        title = "Change the response"
        await self._propose([SetField(self.name, "response", value)], title, f"Set the response of {self.name}")

    def _slots(self) -> None:
        if not self._intent.slots:
            return
        with card("Slots"), tag("dl", classes="st-pairs"):
            for slot in self._intent.slots:
                tag("dt", slot.name, "st-mono")
                words(_described(slot), name="dd")

    def _settings(self) -> None:
        self._settings_drawn = intent = self._intent
        with card("When it answers"), tag("div", classes="st-row st-top"):
            title = ui.input("Title", value="" if intent.titles else intent.title or "").props(
                'outlined dense dir="auto"'
            )
            if intent.titles:
                title.props("readonly").tooltip("It has a title per language: edit them in the YAML.")
            threshold = ui.input("Answers from", value=str(intent.threshold or ""), placeholder="learned")
            threshold.props("outlined dense").tooltip(
                "How sure the bot must be: such as 90%, or a number from 0 to 1 for how alike. The key `threshold`."
            )
            when = ui.input("Only in the context", value=", ".join(intent.when)).props("outlined dense")
            confirm = ui.checkbox("Confirm first", value=intent.confirm)
            for field in (title, threshold, when):
                field.classes("st-grow")

            def typed(base: Intent) -> list[Edit]:
                return _setting_edits(
                    base, str(title.value), str(threshold.value), str(when.value), bool(confirm.value)
                )

            self._typed_settings = typed

            async def save() -> None:
                try:
                    edits = typed(intent)
                except InputError as error:
                    self._visit.tell(explained(error), "negative")
                    return
                await self._propose(edits, "Change the settings", f"Set the options of {intent.name}")

            ui.button("Review", on_click=save).props("outline")

    def _drafted_settings(self) -> bool:
        try:
            return bool(self._typed_settings(self._settings_drawn) and self._typed_settings(self._intent))
        except InputError:
            return True  # something that is no threshold yet

    async def _add_typed(self, field: ui.textarea, *, negative: bool) -> None:
        language = None if negative else self._spoken or None
        if await self._add(str(field.value or ""), language, negative=negative):
            field.set_value("")

    async def _add(self, text: str, language: str | None, *, negative: bool) -> bool:
        lines = [line.strip() for line in text.splitlines() if line.strip()]
        edits = [AddUtterance(self.name, line, language, negative) for line in lines]
        title = f"Add {'a line' if len(lines) == 1 else f'{len(lines)} lines'} to {self.name}"
        return await self._propose(edits, title, title)

    async def _reword(self, text: str, language: str | None, new: str, *, negative: bool) -> bool:
        edit = RewordUtterance(text, new, self._intent.name, language, negative)
        return await self._propose([edit], "Reword a line", f"Reword a line of {self._intent.name}")

    async def _remove_line(self, text: str, language: str | None, *, negative: bool) -> None:
        edit = RemoveUtterance(text, self._intent.name, language, negative)
        await self._propose([edit], "Remove a line", f"Remove a line of {self._intent.name}")

    async def _move(self, text: str, language: str | None, *, negative: bool) -> None:
        others = [one.name for one in self._held.registry if one.name != self.name]
        target = await _ask(self._visit, others, "Move to")
        if target:
            edit = MoveUtterance(text, target, self._intent.name, language, negative)
            await self._propose([edit], f"Move a line to {target}", f"Move a line to {target}")

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

    async def _propose(self, edits: Sequence[Edit], title: str, note: str) -> bool:
        """Let the author save edits; return whether they were written."""
        if not edits or await propose(self._visit, edits, title=title, note=note) is None:
            return False
        await self._done(self.name)
        return True


async def _ask(visit: Visit, options: Sequence[str] | None, label: str, value: str = "") -> str | None:
    """Ask for a name, among options if there are any."""
    field: ui.select | ui.input
    with visit.client, ui.dialog() as dialog, ui.card().classes("st-dialog"):
        if options is None:
            field = ui.input(label, value=value).props("outlined autofocus")
        else:
            field = ui.select(list(options), label=label, with_input=True).props("outlined autofocus")
        field.classes("st-wide")
        answer_buttons(dialog, field)
    return await answer_of(dialog)


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


def _head_of(intent: Intent) -> tuple[object, ...]:
    """Return what the first card shows."""
    return intent.location, intent.title, intent.description


def _settings_of(intent: Intent) -> tuple[object, ...]:
    """Return what the card of the settings shows."""
    return intent.title, intent.titles, intent.threshold, intent.when, intent.confirm


def _described(slot: Slot) -> str:
    parts = [slot.kind, "required" if slot.required else ""]
    parts.append(", ".join(value.value for value in slot.values[:8]))
    parts.append(slot.question(None) or "")
    return " · ".join(part for part in parts if part)
