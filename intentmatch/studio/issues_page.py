"""The screen Issues: findings of `lint` as cards, the most valuable first, each with what mends it."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from nicegui import ui
from nicegui.elements.mixins.text_element import TextElement
from nicegui.events import ValueChangeEventArguments

from intentmatch.authoring.insights import issues_of
from intentmatch.core.errors import InputError, counted
from intentmatch.evaluation.insight.issues import Issue, Shown, mends
from intentmatch.registry.editing.removal import RemoveItems
from intentmatch.studio.cursor import Cursor
from intentmatch.studio.following import follow
from intentmatch.studio.insight_part import InsightPart
from intentmatch.studio.pair_remedies import compare_link, merge_button
from intentmatch.studio.parts import badge, empty, heading, tag, words
from intentmatch.studio.places import intent_link, place, with_short_names
from intentmatch.studio.proposal import propose
from intentmatch.studio.remedies import line_to_reword, remedies
from intentmatch.studio.visit import Visit
from intentmatch.studio.wording import BadgeKind, plainly

_AT_ONCE = 20
_KINDS = {"all": "All", "mend": "With a remedy", "error": "Errors", "warning": "Warnings", "info": "Notes"}
_BADGES: dict[str, BadgeKind] = {"error": "bad", "warning": "warn", "info": "plain"}


async def show(visit: Visit) -> None:
    """Draw the screen."""
    heading("Issues", "What could be better in the files, the most valuable first.")
    page = _Issues(visit)
    page.part = InsightPart(
        lambda: issues_of(visit.bot.matcher, visit.bot.workspace), page.draw, waiting="Looking at every example:"
    )
    await page.part.begun()
    follow(visit, page.part.refresh)


class _Issues:
    """The cards of one page."""

    def __init__(self, visit: Visit) -> None:
        self._visit = visit
        self._all: Sequence[Issue] = ()
        self._listed: list[Issue] = []
        self._kind = "all"
        self._drawn = 0
        self.part: InsightPart[list[Issue]] | None = None
        """The part of the page that the cards are in."""
        self._cursor: Cursor[Issue] = Cursor(visit, "issue", self._show_more)
        visit.shortcut("m", "Use the remedy", self._mend_current)
        visit.shortcut("o", "Open its line in the editor", self._open_current)

    def draw(self, found: Sequence[Issue]) -> None:
        """Draw all issues."""
        self._all = found
        if not found:
            with tag("div", classes="st-card"):
                empty("Nothing to do: no problems were found.")
            return
        with tag("div", classes="st-row"):
            kinds = {kind: f"{name} ({len(self._of(kind))})" for kind, name in _KINDS.items() if self._of(kind)}
            # After a remedy, no issue of the chosen kind may be left.
            self._kind = self._kind if self._kind in kinds else "all"
            toggle = ui.toggle(kinds, value=self._kind, on_change=self._choose)
            toggle.props("unelevated no-caps toggle-color=primary").props["aria-label"] = "Which issues"
        self._list = tag("div", classes="st-stack st-gap", role="list")
        self._more = ui.button("Show more", on_click=self._show_more).props("flat")
        self._fill()

    def _of(self, kind: str) -> list[Issue]:
        if kind == "mend":
            return [issue for issue in self._all if issue.mend is not None]
        return [issue for issue in self._all if kind in ("all", issue.problem.severity)]

    def _choose(self, event: ValueChangeEventArguments[str]) -> None:
        self._kind = event.value
        self._fill()
        self._visit.announce(f"{len(self._listed)} issues")

    def _fill(self) -> None:
        self._listed, self._drawn = self._of(self._kind), 0
        self._list.clear()
        self._cursor.clear()
        self._show_more()

    def _show_more(self) -> bool:
        some = self._listed[self._drawn : self._drawn + _AT_ONCE]
        with self._list:
            for issue in some:
                self._cursor.add(issue, self._card(issue))
        self._drawn += len(some)
        self._more.set_visibility(self._drawn < len(self._listed))
        return bool(some)

    def _card(self, issue: Issue) -> TextElement:
        problem, visit = issue.problem, self._visit
        why = plainly(issue.why)
        card = tag("article", classes="st-card", role="listitem", aria_label=why)
        with card:
            with tag("div", classes="st-row"):
                badge(problem.severity, _BADGES[problem.severity])
                tag("h2", f"{why[:1].upper()}{why[1:]}", "st-h2")
                with tag("span", classes="st-push"):
                    _value(issue)
            if issue.lines:
                with tag("div", classes="st-columns"):
                    for line in issue.lines:
                        _line(visit, line)
            # Two lines, of all intents in question, show what it is about without more words.
            if len(issue.lines) < 2 or len(issue.intents) > len({line.intent for line in issue.lines}):
                words(plainly(with_short_names(visit, problem.message)), "st-muted", "p")
            if not issue.lines:
                place(visit, problem.location)
            if problem.hint:
                words(plainly(f"{problem.hint[:1].upper()}{problem.hint[1:]}."), "st-muted st-small", "p")
            if issue.problem.rule == "misplaced-utterance" and issue.lines and visit.may("author"):
                own, *others = issue.lines
                to = others[0].intent if issue.mend is not None and others else None
                remedies(visit, own.line, own.intent, to)
            elif issue.problem.rule == "overlapping-intents" and len(issue.intents) == 2 and visit.may("author"):
                with tag("div", classes="st-row"):
                    compare_link(visit, *issue.intents)
                    merge_button(visit, *issue.intents)
            elif issue.mend is not None and visit.may("author"):
                button = ui.button(issue.mend.title, icon="auto_fix_high", on_click=partial(self._mend, issue))
                button.props("outline no-caps dense").classes("st-action")
                if issue.lines:
                    button.props["aria-label"] = f"{issue.mend.title}: “{issue.lines[0].line.text}”"
        return card

    async def _mend(self, issue: Issue) -> None:
        try:
            edits = mends(self._all, [issue.id])
        except InputError as error:
            self._visit.tell(str(error), "negative")
            return
        if self.part is not None and self.part.stale and any(isinstance(edit, RemoveItems) for edit in edits):
            # Its places are those of the files before the change.
            self._visit.tell("The files have changed: wait until the findings are about them.")
            return
        title = issue.mend.title if issue.mend is not None else ""
        written = await propose(self._visit, edits, title=title, note=f"Fix: {issue.problem.rule}")
        if written is not None and self.part is not None:
            self.part.refresh()

    async def _mend_current(self) -> None:
        issue = self._cursor.current
        if issue is None or issue.mend is None:
            says = "Choose an issue first: j and k move." if issue is None else "No key does this: look at its buttons."
            self._visit.tell(says)
            return
        await self._mend(issue)

    def _open_current(self) -> None:
        issue = self._cursor.current
        if issue is not None:
            self._visit.go("edit", file=issue.file, line=str(issue.problem.location.line))


def _line(visit: Visit, shown: Shown) -> None:
    with tag("div", classes="st-quote st-stack st-tight"):
        line_to_reword(visit, shown.line, shown.intent)
        with tag("div", classes="st-row st-small"):
            intent_link(visit, shown.intent)
            place(visit, shown.line.location)


def _value(issue: Issue) -> None:
    """Say what is to be won."""
    if issue.mend is not None and issue.mend.gain is not None:
        gain = issue.mend.gain
        text = f"{gain:+d} {'example' if abs(gain) == 1 else 'examples'} understood" if gain else "no other answer"
        badge(text, "good" if gain > 0 else "bad" if gain < 0 else "plain")
    elif issue.misread:
        badge(f"{counted(issue.misread, 'example')} misread", "warn")
