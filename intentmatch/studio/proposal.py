"""The dialog that every edit goes through: the difference first, its problems and its effect, then save or leave it."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace

from nicegui import ui

from intentmatch.authoring.effect import Comparison, Effect
from intentmatch.authoring.operations.operation import Done, Operation, Plan
from intentmatch.authoring.operations.served import carry_out, comparison
from intentmatch.authoring.time_limit import StoppedError, stopping
from intentmatch.authoring.workspace import Making, StaleRevisionError
from intentmatch.core.errors import (
    IntentMatchError,
    Problem,
    RegistryError,
    public_text,
)
from intentmatch.core.relative_paths import relative
from intentmatch.evaluation.compare.changes import AnswerChange
from intentmatch.evaluation.compare.diff import EFFECTS
from intentmatch.inbox import Missed
from intentmatch.registry.editing.edits import Edit
from intentmatch.registry.editing.plan import Changes
from intentmatch.runtime.steps import Step
from intentmatch.studio.changes_view import changes_view
from intentmatch.studio.parts import badge, tag, words
from intentmatch.studio.places import with_short_names
from intentmatch.studio.sentences import sentences
from intentmatch.studio.visit import Visit
from intentmatch.studio.wording import outcome_in_words, plainly, reason_in_words

EFFECT_SECONDS = 20.0
"""Time that the effect of an edit may take; what is not compared by then is said to be sampled."""
FIRST_SECONDS = 2.0
"""Time after which the first part of the effect is shown."""
MORE_SECONDS = 60.0
"""Time that each press of *Compare more* adds."""
UNSEEN_SECONDS = 0.3
"""Time after which the dialog is shown, whether its difference is there or not: a dialog must not flash up and go."""
_EFFECT = "Working out which answers change. You can save before."
_MORE = "Comparing more."
_MOST_SHOWN = 30
_MOST_PROBLEMS = 20
_SECONDS_BETWEEN_LOOKS = 0.5


async def propose(
    visit: Visit,
    edits: Sequence[Edit] | Making,
    *,
    title: str,
    note: str,
    failed: Callable[[Exception], Awaitable[None]] | None = None,
    answers: Sequence[Missed] = (),
    undoes: bool = False,
) -> Done | None:
    """Show what edits would do, and write them if the visitor says so. Returns None if nothing was written.

    Edits of single lines fit whatever the rest of the files says; what replaces a whole file must be `Making`. If the
    files change meanwhile, the dialog says so, shows the difference anew, and waits for the visitor again. `answers`
    and `undoes` are those of an `Operation`.
    Errors, such as an edit that is impossible, are told to the visitor and to `failed`, and None is returned.
    """
    try:
        visit.require("author")
    except IntentMatchError as error:
        visit.tell(explained(error), "negative")
        return None
    operation = Operation(edits, visit.author, note, answers, undoes)
    return await _Proposal(visit, operation, title=title, failed=failed).decided()


async def write(visit: Visit, operation: Operation, *, expected: str) -> Done:
    """Carry out an operation for a visitor, and tell its warnings. Raises as `Workspace.write`, and `InputError`.

    `expected` is the digest of the files that the edits were made for.
    """
    visit.require("author")
    done = await carry_out(visit.bot, operation, expected=expected)
    for warning in done.warnings:
        visit.tell(warning, "warning")
    return done


def explained(error: Exception) -> str:
    """Return an error as a sentence for the page, with the first problems of invalid files."""
    if isinstance(error, RegistryError):
        shown = [f"{problem.location.short}: {plainly(problem.message)}" for problem in error.problems[:3]]
        return f"The files would be invalid. {' · '.join(shown)}"
    text = plainly(public_text(error))
    return text[:1].upper() + text[1:]


class _Proposal:
    """One open dialog."""

    def __init__(
        self,
        visit: Visit,
        operation: Operation,
        *,
        title: str,
        failed: Callable[[Exception], Awaitable[None]] | None,
    ) -> None:
        self._visit, self._operation, self._failed = visit, operation, failed
        self._plan: Plan
        self._closed = threading.Event()
        self._step: Step | None = None
        # In the page and not in the element of the caller, which may be drawn anew while the dialog is open.
        with visit.client, ui.dialog().props("persistent") as self._dialog, ui.card().classes("st-dialog st-proposal"):
            tag("h2", title, "st-h2")
            self._conflict = tag("p", "", "st-problem", role="alert")
            self._conflict.set_visibility(False)
            with tag("div", classes="st-stack st-scrolled"):
                self._difference = tag("div", classes="st-stack")
                self._problems = tag("div", classes="st-stack")
                self._effect = tag("div", classes="st-stack")
                self._note = ui.input("Note for the history", value=operation.note)
                self._note.props("outlined dense maxlength=200").classes("st-wide")
            with tag("div", classes="st-row st-end"):
                # Beside the buttons, however long the difference is: it must be seen before anything is saved.
                self._summary = tag("div", classes="st-stack st-grow", aria_live="polite")
                with tag("div", classes="st-row st-push"):
                    ui.button("Cancel", on_click=lambda: self._dialog.submit(None)).props("flat")
                    self._save = ui.button("Save", on_click=self._write).props("unelevated autofocus")

    async def decided(self) -> Done | None:
        """Show the dialog until the visitor decides. It is not shown if it soon turns out that the edit cannot be."""
        planning = asyncio.ensure_future(self._find_plan())
        await asyncio.wait([planning], timeout=UNSEEN_SECONDS)
        written = None
        if not planning.done() or planning.result():
            filling = asyncio.ensure_future(self._fill(planning))
            try:
                written = await self._dialog
            finally:
                # Ends the thread that plans or compares.
                self._closed.set()
                filling.cancel()
        # The visitor may have left the page, which takes its dialogs along.
        if not self._dialog.is_deleted:
            self._dialog.delete()
        return written if isinstance(written, Done) else None

    async def _find_plan(self) -> bool:
        """Work out the difference; return whether there is one. If there is none, say why."""
        with self._difference:
            self._working("Working out what changes.")
        self._save.disable()
        try:
            self._plan = await asyncio.to_thread(self._planned)
        except StoppedError:
            return False
        except IntentMatchError as error:
            self._visit.tell(explained(error), "negative")
            if self._failed is not None:
                await self._failed(error)
            return False
        if not self._changes.files:
            self._visit.tell("The files say this already: there is nothing to change.")
        return bool(self._changes.files)

    def _planned(self) -> Plan:
        with stopping(self._closed.is_set, self._follow):
            return self._operation.planned(self._visit.bot.workspace)

    async def _fill(self, planning: asyncio.Future[bool]) -> None:
        """Show the difference and then the effect, once they are there."""
        if await planning:
            self._show()
            await self._show_effect()
        else:
            self._dialog.submit(None)

    @property
    def _changes(self) -> Changes:
        return self._plan.changes

    def _show(self) -> None:
        self._difference.clear()
        with self._difference:
            changes = self._changes
            before = None if changes.errors else changes.before
            diffs = {one.path.name: _with_short_names(self._visit, one.diff) for one in changes.files}
            changes_view(sentences(before, changes.registry, diffs), diffs)
        self._problems.clear()
        with self._problems:
            for problem in self._changes.brought[:_MOST_PROBLEMS]:
                problem_line(problem)
        self._save.set_enabled(not self._changes.errors)

    async def _show_effect(self) -> None:
        self._effect.clear()
        self._summary.clear()
        if self._changes.errors:
            return
        with self._summary:
            self._working(_EFFECT)
        bot, changes = self._visit.bot, self._changes
        try:
            compared = await asyncio.to_thread(comparison, bot, changes)
        except IntentMatchError as error:
            self._show_effect_error(error)
            return
        first = min(FIRST_SECONDS, EFFECT_SECONDS)
        for seconds in (first, EFFECT_SECONDS - first):
            if not await self._compare(compared, seconds, last=seconds != first or first == EFFECT_SECONDS):
                return

    async def _compare(self, compared: Comparison, seconds: float, *, last: bool = True) -> bool:
        """Show what the comparison finds in so many more seconds. Return whether there is more to compare."""
        changes = self._changes

        def work() -> Effect:
            with stopping(self._closed.is_set, self._follow):
                return compared.go_on(seconds)

        try:
            found = await asyncio.to_thread(work)
        except StoppedError:
            return False
        except IntentMatchError as error:
            self._show_effect_error(error)
            return False
        # Meanwhile the page may be gone, or another plan have taken the place of this one.
        if self._effect.is_deleted or changes is not self._changes:
            return False
        unfinished = found.sampled and not compared.finished
        self._effect.clear()
        self._summary.clear()
        with self._effect:
            _changes_view(self._visit, found)
        with self._summary:
            if last or not unfinished or found.diff is not None:
                self._summary_view(found)
            if unfinished and last:
                more = ui.button("Compare more", on_click=lambda: self._compare_more(compared)).props("flat dense")
                more.tooltip(f"Goes on for up to {MORE_SECONDS:.0f} seconds")
            elif unfinished:
                self._working(_MORE if found.diff is not None else _EFFECT)
        return unfinished

    def _summary_view(self, effect: Effect) -> None:
        """Draw how many answers an edit changes."""
        if effect.diff is None:
            tag("p", "The effect could not be worked out in time.", "st-muted")
            return
        diff = effect.diff
        done, total = (sum(part) for part in zip(*effect.compared.values(), strict=True))
        if not done:
            tag("p", f"None of {total:,} messages could be compared in time.", "st-muted")
            return
        with tag("div", classes="st-row"):
            badge(f"{diff.count('better')} fixed", "good" if diff.count("better") else "plain")
            badge(f"{diff.count('worse')} broken", "bad" if diff.count("worse") else "plain")
            badge(f"{diff.count('other')} answered differently")
            if effect.sampled:
                tag("span", f"{done:,} of {total:,} messages compared", "st-muted st-small")
            if diff.changes:
                show = f"() => getHtmlElement({self._effect.id}).scrollIntoView({{block: 'nearest'}})"
                ui.button("Show them").props("flat dense no-caps").on("click", js_handler=show)

    async def _compare_more(self, compared: Comparison) -> None:
        with self._summary:
            self._working(_EFFECT)
        await self._compare(compared, MORE_SECONDS)

    def _working(self, says: str) -> None:
        """Say what is worked out, and how far that is, until the place is cleared."""
        self._step = None
        with tag("div", classes="st-row st-muted"):
            ui.spinner(size="18px").props('aria-hidden="true"')
            tag("span", says)
            # Not for screen readers, which would speak it twice a second.
            shown = tag("span", "", "st-small", aria_hidden="true")
            ui.timer(_SECONDS_BETWEEN_LOOKS, lambda: shown.set_text(_progress(self._step)))

    def _follow(self, step: Step) -> None:
        self._step = step

    def _show_effect_error(self, error: Exception) -> None:
        self._summary.clear()
        with self._summary:
            tag("p", explained(error), "st-problem")

    async def _write(self) -> None:
        # A second press would take the change of the first for somebody else's.
        self._save.disable()
        try:
            operation = replace(self._operation, author=self._visit.author, note=str(self._note.value or ""))
            done = await write(self._visit, operation, expected=self._plan.digest)
        except StaleRevisionError:
            await self._show_again()
        except IntentMatchError as error:
            self._say(explained(error))
            self._save.enable()
        else:
            self._dialog.submit(done)
            if done.active:
                self._visit.tell("Saved", "positive")

    async def _show_again(self) -> None:
        """The files have changed: plan the edits for the present files, and let the visitor look again."""
        try:
            self._plan = await asyncio.to_thread(self._planned)
        except StoppedError:
            return
        except IntentMatchError as error:
            self._say(f"Somebody else has changed the files, and this edit does not fit any more: {explained(error)}")
            self._save.disable()
            if self._failed is not None:
                await self._failed(error)
            return
        self._say("Somebody else has changed the files. This is your edit of the files as they are now.")
        self._show()
        await self._show_effect()

    def _say(self, text: str) -> None:
        self._conflict.set_text(text)
        self._conflict.set_visibility(True)


def _progress(step: Step | None) -> str:
    return f"{step.done:,} of {step.total:,}" if step is not None and step.total else ""


def problem_line(problem: Problem) -> None:
    """Draw one problem with its place and its hint."""
    kind = {"error": "bad", "warning": "warn", "info": "plain"}[problem.severity]
    with tag("div", classes="st-row"):
        badge(problem.severity, kind)  # type: ignore[arg-type]
        words(f"{problem.location.short.rpartition('/')[2]}: {plainly(relative(problem.message))}")
        if problem.hint:
            tag("span", plainly(problem.hint), "st-muted st-small")


def _changes_view(visit: Visit, effect: Effect) -> None:
    """Draw which answers an edit changes, and why."""
    changes = [] if effect.diff is None else effect.diff.changes
    shown = sorted(changes, key=lambda change: ("worse", "better", "other").index(change.effect))
    with tag("div", classes="st-effects"):
        for change in shown[:_MOST_SHOWN]:
            _change(visit, change)
    if len(shown) > _MOST_SHOWN:
        tag("p", f"… and {len(shown) - _MOST_SHOWN} more", "st-muted st-small")


def _change(visit: Visit, change: AnswerChange) -> None:
    kind = {"better": "good", "worse": "bad", "other": "plain"}[change.effect]
    with tag("div", classes="st-effect"):
        with tag("div", classes="st-row"):
            badge(EFFECTS[change.effect], kind)  # type: ignore[arg-type]
            words(change.new.case.text)
            tag("span", f"{outcome_in_words(change.old)} → {outcome_in_words(change.new)}", "st-mono")
        if change.reasons:
            tag("span", reason_in_words(with_short_names(visit, "; ".join(change.reasons))), "st-muted st-small")


def _with_short_names(visit: Visit, diff: str) -> str:
    """Return a unified diff whose files are named as the screen History names them."""
    lines = diff.splitlines(keepends=True)
    return "".join(with_short_names(visit, line) if line.startswith(("--- ", "+++ ")) else line for line in lines)
