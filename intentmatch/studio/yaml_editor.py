"""The editor of one file: completion, problems at their lines while typing, a merge with what others have written."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable, Mapping, Sequence
from functools import partial

from nicegui import background_tasks, ui

from intentmatch.authoring.revisions import Files
from intentmatch.core.errors import InputError, Problem
from intentmatch.core.relative_paths import relative
from intentmatch.registry.editing.edits import Edit
from intentmatch.registry.editing.whole_files import ReplaceFile
from intentmatch.registry.reading.grammar import FILE_KEYS, INTENT_KEYS, TEST_KEYS
from intentmatch.registry.reading.slot_grammar import KINDS, SLOT_KEYS
from intentmatch.studio.held import Held
from intentmatch.studio.merging import merge, replacements
from intentmatch.studio.parts import badge, card, in_thread, tag, words
from intentmatch.studio.proposal import propose
from intentmatch.studio.visit import Visit
from intentmatch.studio.wording import plainly

SECONDS_BEFORE_A_CHECK = 0.25
_MOST_SHOWN = 20
# A browser that is away may come back for 30 seconds.
_SECONDS_TO_ANSWER = 40.0
_SECONDS_BETWEEN_TRIES = 0.1
_MOST_TRIES = 400


class ConflictError(InputError):
    """Somebody else has changed the same lines."""


class YamlEditor:
    """The editor on one page."""

    def __init__(self, visit: Visit, held: Held, name: str, saved: Callable[[], Awaitable[None]]) -> None:
        self._visit, self.name, self._saved = visit, name, saved
        self._base = self._planned = _text(held.files, name)
        self._typed = 0
        with card(classes="st-editor"):
            with tag("div", classes="st-row"):
                tag("h2", name, "st-h2 st-mono", dir="auto")
                self._state = tag("span", "", "st-muted st-small", role="status")
                ui.button("Discard", on_click=self._discard).props("flat").classes("st-push")
                ui.button("Review and save", on_click=self._save).props("unelevated")
            self._banner = tag("p", "", "st-problem", role="alert")
            self._banner.set_visibility(False)
            self._editor = ui.codemirror(
                self._base, language="YAML", theme="githubLight", line_wrapping=True, indent="  ",
                on_change=self._changed, keymap={"Mod-s": self._save},
            ).classes("st-code")  # fmt: skip
            self._problems = tag("div", classes="st-stack", aria_live="polite")
        lists = {
            "label": f"YAML of {name}",
            "keys": sorted({*FILE_KEYS, *INTENT_KEYS, *TEST_KEYS, *SLOT_KEYS}),
            "kinds": list(KINDS),
            "intents": [intent.name for intent in held.registry][:2000],
            "languages": sorted({line.language for line in held.registry.utterances if line.language}),
        }
        self._module = json.dumps(f"{visit.root}/assets/editor.js")
        self._replacing = asyncio.Lock()
        ui.run_javascript(f"import({self._module}).then((one) => one.complete({self._editor.id}, {json.dumps(lists)}))")

    @property
    def dirty(self) -> bool:
        """Whether there is something to save."""
        return self._text != self._base

    @property
    def _text(self) -> str:
        return str(self._editor.value or "")

    async def reveal(self, line: int) -> None:
        """Scroll to a line and mark it."""
        if 1 <= line <= self._text.count("\n") + 1:
            self._editor.decorations = [{"kind": "line", "line": line, "class": "st-line-here"}]
            # Before that, the editor is not there to scroll.
            await ui.context.client.connected()
            self._editor.reveal_line(line)

    async def check(self) -> None:
        """Show the problems of the text at their lines."""
        name, text = self.name, self._text
        _, found = await in_thread(self._visit.bot.workspace.examine, {name: text.encode()})
        path = str(self._visit.bot.workspace.place(name))
        # Problems of an older text would stand at wrong lines.
        if not self._editor.is_deleted and text == self._text:
            self._show([problem for problem in found if problem.location.path == path])

    async def refresh(self, held: Held) -> None:
        """Take in what somebody else has written to the file."""
        theirs = held.files.get(self.name)
        if theirs is None:
            self._warn("Somebody else has removed this file. Saving adds it again.")
            return
        # In a task of its own: the browser may be away, and other pages wait for this.
        background_tasks.create(self._take_in(_text(held.files, self.name)), name="take in what others have written")

    async def _take_in(self, text: str) -> None:
        if text == self._base:
            return
        kept = "; your changes are kept" if self.dirty else ""

        def merged(mine: str) -> str:
            found = merge(self._base, mine, text)
            if found.conflicts:
                raise ConflictError("somebody else has changed the same lines")
            return found.text

        try:
            done = await self._replace(merged, base=text)
        except ConflictError:
            self._warn("Somebody else has changed lines that you are changing too. Saving shows both.")
            return
        if done:
            self._visit.tell(f"Somebody else has changed this file{kept}.", "info")
            await self.check()

    async def _replace(self, wanted: Callable[[str], str], *, base: str) -> bool:
        """Replace the text by what is wanted in its place, and remember what it was made from.

        The browser changes its text by lines and keeps the letters that are on their way here; then this text follows
        as with any change of the browser. Until then a save merges with the files. Returns False if the browser does
        not answer. Raises what `wanted` raises.
        """
        # One after the other: each is made for the text that the one before has left.
        async with self._replacing:
            for _ in range(_MOST_TRIES):
                mine = self._text
                changes = [one._asdict() for one in replacements(mine, wanted(mine))]
                if changes:
                    arguments = f"{self._editor.id}, {json.dumps(mine)}, {json.dumps(changes)}"
                    code = f"return (await import({self._module})).takeIn({arguments})"
                    try:
                        done = await self._visit.client.run_javascript(code, timeout=_SECONDS_TO_ANSWER)
                    except TimeoutError:
                        return False
                    if self._editor.is_deleted:
                        return False
                    if not done:  # letters that came before this text are on their way still
                        await asyncio.sleep(_SECONDS_BETWEEN_TRIES)
                        continue
                self._base = base
                self._banner.set_visibility(False)
                self._state.set_text("not saved" if self.dirty else "")
                return True
        return False

    async def _changed(self) -> None:
        self._typed += 1
        typed = self._typed
        self._state.set_text("not saved" if self.dirty else "")
        await asyncio.sleep(SECONDS_BEFORE_A_CHECK)
        # Only after a pause in the typing.
        if typed == self._typed and not self._editor.is_deleted:
            await self.check()

    def _show(self, problems: Sequence[Problem]) -> None:
        lines = self._text.count("\n") + 1
        by_line: dict[int, list[Problem]] = {}
        for problem in problems:
            by_line.setdefault(min(problem.location.line, lines), []).append(problem)
        self._mark(by_line)
        self._problems.clear()
        with self._problems:
            for problem in problems[:_MOST_SHOWN]:
                with tag("div", classes="st-row"):
                    badge(problem.severity, "bad" if problem.severity == "error" else "warn")
                    line = ui.button(
                        f"line {problem.location.line}", on_click=partial(self._reveal, problem.location.line)
                    )
                    line.props("flat dense no-caps").classes("st-small")
                    words(_says(problem))
                    if problem.hint:
                        tag("span", plainly(problem.hint), "st-muted st-small")
            if len(problems) > _MOST_SHOWN:
                tag("p", f"… and {len(problems) - _MOST_SHOWN} more", "st-muted")

    def _mark(self, by_line: Mapping[int, Sequence[Problem]]) -> None:
        marks = [
            {"kind": "line", "line": line, "class": f"st-line-{_worst(found)}"}
            for line, found in sorted(by_line.items())
        ]
        hints = {line: "\n".join(map(_says, found)) for line, found in by_line.items()}
        if self._typed:
            # A changed property would be sent with the text that the server knows, in place of the one in the browser:
            # letters that are on their way would be lost, and the cursor would jump.
            self._editor.run_method("setDecorations", marks)
            self._editor.run_method("setLineTooltips", hints)
        else:  # the editor may not be there yet, and takes them with its text
            self._editor.decorations = marks
            self._editor.props["line-tooltips"] = hints

    def _reveal(self, line: int) -> None:
        self._editor.reveal_line(min(line, self._text.count("\n") + 1))

    async def _discard(self) -> None:
        await self._replace(lambda _: self._base, base=self._base)

    async def _save(self) -> None:
        if not self.dirty:
            self._visit.tell("There is nothing to save.")
            return
        written = await propose(
            self._visit, self._edits, title=f"Save {self.name}", note=f"Edit {self.name}", failed=self._conflict
        )
        if written is not None:
            place = self._visit.bot.workspace.place(self.name).absolute()
            # What was written, which may be a merge with what others had saved.
            texts = [one.new for one in written.changes.files if one.path.absolute() == place and one.new is not None]
            planned, text = self._planned, _in_lines(texts[0] if texts else self._planned)
            await self._replace(lambda mine: merge(planned, mine, text).text, base=text)
            await self._saved()

    def _edits(self, files: Files) -> list[Edit]:
        """Replace the file by the merge of this text with what the file holds now. Raises `ConflictError`."""
        there = self.name in files
        self._planned = self._text
        merged = merge(self._base, self._planned, _text(files, self.name) if there else self._base)
        if merged.conflicts:
            raise ConflictError("somebody else has changed the same lines: both versions are in the editor now")
        # The editor knows line feeds alone; the file keeps the ends that it has.
        windows = there and b"\r\n" in files[self.name]
        text = merged.text.replace("\n", "\r\n") if windows else merged.text
        return [ReplaceFile(self._visit.bot.workspace.place(self.name), text)]

    async def _conflict(self, error: Exception) -> None:
        """Show both sides in the editor: the text cannot be saved until the marks are gone."""
        if isinstance(error, ConflictError):
            theirs = _text(self._visit.bot.workspace.files(), self.name)
            await self._replace(lambda mine: merge(self._base, mine, theirs).text, base=theirs)
            self._warn("Both versions are between the lines <<<<<<< and >>>>>>>. Keep what is right, and save again.")

    def _warn(self, text: str) -> None:
        self._banner.set_text(text)
        self._banner.set_visibility(True)


def _text(files: Files, name: str) -> str:
    return _in_lines(files[name].decode("utf-8", "replace"))


def _in_lines(text: str) -> str:
    """Return a text with line feeds alone, as the editor holds it."""
    return text.replace("\r\n", "\n")


def _worst(problems: Sequence[Problem]) -> str:
    return "error" if any(problem.severity == "error" for problem in problems) else "warning"


def _says(problem: Problem) -> str:
    return plainly(relative(problem.message))
