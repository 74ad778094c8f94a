"""A part of a page that shows an insight: its progress while it is worked out, then the result.

What was shown before stays below the progress, and says that it is not of the present files.
"""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import Generic, TypeVar

from nicegui import background_tasks, ui
from nicegui.elements.mixins.text_element import TextElement

from intentmatch.authoring.insights import Failed, Ready, Working
from intentmatch.core.errors import IntentMatchError
from intentmatch.studio.parts import tag
from intentmatch.studio.wording import error_in_words, plainly

_T = TypeVar("_T")

Draw = Callable[[_T], Awaitable[None] | None]

_SECONDS_BETWEEN_LOOKS = 0.25
# What takes less is not worth a bar.
_SECONDS_BEFORE_PROGRESS = 0.6
_SECONDS_BEFORE_THE_PAGE = 1.0
_OUTDATED = "This was before the last change."


class InsightPart(Generic[_T]):
    """Asks for an insight until it is there, and draws it. `refresh` asks again, such as after an edit.

    A page that awaits `begun` is sent with what is there already: the browser then draws it with the rest.
    """

    def __init__(
        self, ask: Callable[[], Ready[_T] | Working | Failed], draw: Draw[_T], *, waiting: str = "Working it out …"
    ) -> None:
        """Make the part in the present place of the page; `draw` runs inside of it."""
        self._ask, self._draw, self._waiting = ask, draw, waiting
        self._client = ui.context.client
        self._turn = 0
        self._looked = asyncio.Event()
        self._shown: object = None
        self._place = tag("div", classes="st-stack st-gap")
        with self._place:
            self._progress = tag("div", classes="st-stack")
            self._content = tag("div", classes="st-stack st-gap")
        self.stale = False
        """Whether what is shown is about the files before a change."""
        self.refresh()

    def refresh(self) -> None:
        """Ask again. What is shown stays until there is something else to show."""
        # A newer look ends the one before it.
        self._turn += 1
        background_tasks.create(self._follow(self._turn), name="an insight of a page")

    async def begun(self) -> None:
        """Wait until the insight or its progress is drawn, for a second at most."""
        with suppress(asyncio.TimeoutError):
            await asyncio.wait_for(self._looked.wait(), _SECONDS_BEFORE_THE_PAGE)

    async def _follow(self, turn: int) -> None:
        try:
            await self._look_again(turn)
        finally:
            self._looked.set()

    async def _look_again(self, turn: int) -> None:
        bar: ui.linear_progress | None = None
        says = None
        while turn == self._turn and not self._place.is_deleted:
            with self._place:
                try:
                    state = await asyncio.to_thread(self._ask)
                except IntentMatchError as error:
                    state = Failed(error_in_words(error))
                # Again, since the page may have changed while a thread worked.
                if turn != self._turn or self._place.is_deleted:
                    return
                if not isinstance(state, Working):
                    self._progress.clear()
                    self.stale = False
                    self._mark(busy=False)
                    if self._shown != (value := state.value if isinstance(state, Ready) else state.reason):
                        self._shown = value
                        self._content.clear()
                        with self._content:
                            await self._show(state)
                    return
                self.stale = self._shown is not None
                # With a result on the page a bar that flashes up would only distract.
                if bar is None and (self._shown is None or state.seconds > _SECONDS_BEFORE_PROGRESS):
                    self._mark(busy=True)
                    self._progress.clear()
                    with self._progress:
                        says = tag("p", self._waiting, "st-muted", role="status")
                        bar = ui.linear_progress(show_value=False).props("indeterminate rounded")
                        bar.props["aria-label"] = self._waiting
                if bar is not None and says is not None:
                    _progress(bar, says, state, f"{_OUTDATED} {self._waiting}" if self.stale else self._waiting)
            self._looked.set()
            # Nobody sees the progress of a page that is not there yet.
            await self._client.connected()
            await asyncio.sleep(_SECONDS_BETWEEN_LOOKS)

    def _mark(self, *, busy: bool) -> None:
        self._place.props["aria-busy"] = str(busy).lower()
        self._content.classes(**{"add" if self.stale else "remove": "st-stale"})

    async def _show(self, state: Ready[_T] | Failed) -> None:
        if isinstance(state, Failed):
            tag("p", f"{state.reason[:1].upper()}{state.reason[1:]}", "st-problem", role="alert")
            ui.button("Try again", on_click=self.refresh).props("flat")
            return
        drawn = self._draw(state.value)
        if inspect.isawaitable(drawn):
            await drawn


def _progress(bar: ui.linear_progress, says: TextElement, state: Working, waiting: str) -> None:
    step = state.step
    name = plainly(f"{waiting} {step.name}{f' · {step.detail}' if step.detail else ''}")
    # A screen reader reads each text that is set, also an equal one.
    if says.text != name:
        says.set_text(name)
    if step.total:
        bar.props(remove="indeterminate")
        bar.set_value(step.done / step.total)
    else:
        bar.props("indeterminate")
