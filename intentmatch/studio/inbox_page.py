"""The screen Inbox: messages that were not understood, in groups, for quick decisions by keyboard."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from nicegui import ui
from nicegui.elements.mixins.text_element import TextElement

from intentmatch.core.errors import InputError, IntentMatchError, counted, public_text
from intentmatch.core.relative_paths import relative
from intentmatch.inbox import Action, Cluster, Decision, Inbox, Missed, Review, edits_of, review
from intentmatch.inbox.proposals import times
from intentmatch.registry.editing.settings_edit import ChangeSettings, Setting
from intentmatch.studio.cursor import Cursor
from intentmatch.studio.host import BotUnavailableError
from intentmatch.studio.parts import answer_buttons, answer_of, badge, empty, heading, later, tag, words
from intentmatch.studio.places import intent_link
from intentmatch.studio.preloading import preload
from intentmatch.studio.proposal import propose
from intentmatch.studio.visit import Visit

_AT_ONCE = 10
_SHOWN_MESSAGES = 5
FILE = "misses.sqlite"
"""Where messages are kept if an author turns the inbox on."""


async def show(visit: Visit) -> None:
    """Draw the screen."""
    preload(visit.root, ui.select)
    heading("Inbox", "Messages that were not understood, in groups of the same meaning. Press ? for the keys.")
    page = _InboxPage(visit)
    later(page.load, "Grouping the messages …")


class _InboxPage:
    """The groups of one page, and what the author has decided about them."""

    def __init__(self, visit: Visit) -> None:
        self._visit = visit
        self._decisions: dict[int, Decision] = {}
        self._clusters: Sequence[Cluster] = ()
        self._cards: dict[int, TextElement] = {}
        self._drawn = 0
        self._cursor: Cursor[int] = Cursor(visit, "group", self._show_more)
        self._language: str | None = None
        for keys, says, handler in (
            ("a", "Accept the proposal", self._accept),
            ("n", "Make a new intent of the group", self._new_intent),
            ("m", "Add the group to another intent", self._other_intent),
            ("i", "Ignore the group", self._ignore),
            ("u", "Undo the decision", self._undo),
            ("w", "Write the decisions, after a look at their effect", self._write),
            ("r", "Read the inbox again", self._reload),
        ):
            visit.shortcut(keys, says, handler)

    async def load(self) -> None:
        """Read the inbox and draw it in the present place."""
        self._place = tag("div", classes="st-stack st-gap")
        with self._place:
            await self._draw()

    async def _draw(self) -> None:
        bot = self._visit.bot
        inbox = bot.inbox
        if inbox is None:
            empty("Messages that are not understood are not kept yet.")
            turn_on(self._visit, {"inbox": Setting(FILE)}, "Keep them from now on", self._reload)
            return
        found = await asyncio.to_thread(_review, self._visit, inbox)
        self._clusters, self._drawn = found.clusters, 0
        self._cards.clear()
        self._cursor.clear()
        known = {cluster.number for cluster in found.clusters}
        self._decisions = {number: made for number, made in self._decisions.items() if number in known}
        if found.hashed:
            tag("p", f"{counted(len(found.hashed), 'message')} stored as hashes cannot be shown.", "st-muted")
        if not found.clusters:
            with tag("div", classes="st-card"):
                empty("The inbox is empty: every message was understood, or is dealt with.")
            self._button("Read again", "refresh", self._reload)
            return
        self._summary(found)
        self._list = tag("div", classes="st-stack st-gap", role="list")
        self._more = ui.button("Show more", on_click=self._show_more).props("flat")
        self._dock = tag("div", classes="st-dock st-row", role="group", aria_label="Decisions")
        self._show_more()
        self._draw_dock()

    def _summary(self, found: Review) -> None:
        messages = sum(len(cluster.messages) for cluster in found.clusters)
        with tag("div", classes="st-row"):
            text = f"{counted(messages, 'message')} in {counted(len(found.clusters), 'group')}"
            tag("span", text, "st-strong")
            if found.understood:
                tag("span", f"{counted(found.understood, 'older message')} understood by now", "st-muted")
            with tag("div", classes="st-row st-push"):
                languages = self._visit.bot.matcher.registry.languages
                if len(languages) > 1:
                    self._language = self._language or self._visit.bot.matcher.registry.first_language
                    select = ui.select(list(languages), value=self._language, label="If the language is unknown")
                    select.props("outlined dense options-dense").classes("st-pick")
                    select.on_value_change(lambda event: setattr(self, "_language", event.value))
                if self._visit.may("author"):
                    sure = sum(cluster.proposal.sure for cluster in found.clusters)
                    if sure:
                        self._button(f"Accept the {sure} that are sure", "done_all", self._accept_all)
                self._button("Read again", "refresh", self._reload)

    def _button(self, text: str, icon: str, handler: object) -> ui.button:
        return ui.button(text, icon=icon, on_click=handler).props("outline no-caps")  # type: ignore[arg-type]

    def _show_more(self) -> bool:
        some = self._clusters[self._drawn : self._drawn + _AT_ONCE]
        with self._list:
            for cluster in some:
                card = tag("article", classes="st-card", role="listitem", aria_label=f"“{cluster.name}”")
                self._cards[cluster.number] = card
                self._cursor.add(cluster.number, card)
                self._draw_card(cluster)
        self._drawn += len(some)
        self._more.set_visibility(self._drawn < len(self._clusters))
        return bool(some)

    def _draw_card(self, cluster: Cluster) -> None:
        card = self._cards[cluster.number]
        decision = self._decisions.get(cluster.number)
        card.clear()
        card.classes(remove="add new ignore", add=decision.action if decision else "")
        with card:
            with tag("div", classes="st-row"):
                words(f"“{cluster.name}”", "st-h2", "h2")
                with tag("span", classes="st-row st-push st-small st-muted"):
                    tag("span", f"received {times(cluster.count)}, last {cluster.last:%Y-%m-%d}")
                    for code in cluster.languages:
                        badge(code)
            _messages(cluster.messages[1:])
            with tag("div", classes="st-row"):
                if decision is None:
                    tag("span", "Proposal:" if cluster.proposal.sure else "Is this right?", "st-muted")
                    self._says(cluster.proposal.action, cluster.proposal.intent)
                    tag("span", cluster.proposal.because, "st-muted st-small")
                else:
                    self._says(decision.action, decision.intent)
                    tag("span", "not written yet", "st-muted st-small")
            if self._visit.may("author"):
                with tag("div", classes="st-row"):
                    self._actions(cluster, decided=decision is not None)

    def _actions(self, cluster: Cluster, *, decided: bool) -> None:
        def act(text: str, icon: str, handler: object, main: bool = False) -> None:
            async def run() -> None:
                self._cursor.choose(cluster.number)
                done = handler()  # type: ignore[operator]
                if asyncio.iscoroutine(done):
                    await done

            button = ui.button(text, icon=icon, on_click=run).props(f"no-caps dense {'unelevated' if main else 'flat'}")
            button.props["aria-label"] = f"{text}: “{cluster.name}”"

        if decided:
            act("Undo", "undo", self._undo)
            return
        act("Accept" if cluster.proposal.sure else "Yes", "check", self._accept, main=cluster.proposal.sure)
        act("Another intent", "input", self._other_intent)
        act("New intent", "add", self._new_intent)
        act("Ignore", "close", self._ignore)

    def _says(self, action: Action, intent: str | None) -> None:
        if action == "ignore":
            badge("ignore")
            return
        badge("new intent" if action == "new" else "add to", "primary" if action == "new" else "good")
        if action == "add" and intent is not None:
            intent_link(self._visit, intent)
        else:
            tag("span", intent or "", "st-mono", dir="auto")

    @property
    def _current(self) -> Cluster | None:
        number = self._cursor.current
        return next((cluster for cluster in self._clusters if cluster.number == number), None)

    def _decide(self, cluster: Cluster, action: Action, intent: str | None) -> None:
        """Keep a decision, and go on to the next group."""
        try:
            self._visit.require("author")
        except InputError as error:
            self._visit.tell(public_text(error), "negative")
            return
        self._decisions[cluster.number] = Decision(cluster, action, intent)
        self._draw_card(cluster)
        self._draw_dock()
        what = {"add": f"add to {intent}", "new": f"new intent {intent}", "ignore": "ignore"}[action]
        self._visit.announce(f"{cluster.name}: {what}")
        self._cursor.choose(cluster.number)
        self._cursor.step(1)

    def _accept(self) -> None:
        cluster = self._chosen()
        if cluster is not None:
            self._decide(cluster, cluster.proposal.action, cluster.proposal.intent)

    def _accept_all(self) -> None:
        for cluster in self._clusters:
            if cluster.proposal.sure and cluster.number not in self._decisions:
                action, intent, *_ = cluster.proposal
                self._decisions[cluster.number] = Decision(cluster, action, intent)
                if cluster.number in self._cards:
                    self._draw_card(cluster)
        self._draw_dock()

    def _ignore(self) -> None:
        cluster = self._chosen()
        if cluster is not None:
            self._decide(cluster, "ignore", None)

    def _undo(self) -> None:
        cluster = self._chosen()
        if cluster is not None and self._decisions.pop(cluster.number, None) is not None:
            self._draw_card(cluster)
            self._draw_dock()
            self._visit.announce(f"{cluster.name}: undecided")

    def _chosen(self) -> Cluster | None:
        """Return the current group; the first one becomes current if none is."""
        if self._current is None:
            self._cursor.step(1)
        return self._current

    async def _new_intent(self) -> None:
        cluster = self._chosen()
        if cluster is None:
            return
        proposed = cluster.proposal.intent if cluster.proposal.action == "new" else ""
        name = await ask_for_intent("New intent", "Name", proposed or "", ())
        if name:
            self._decide(cluster, "new", name)

    async def _other_intent(self) -> None:
        cluster = self._chosen()
        if cluster is None:
            return
        names = sorted(intent.name for intent in self._visit.bot.matcher.registry)
        name = await ask_for_intent(f"Add “{cluster.name}” to", "Intent", cluster.proposal.intent or "", names)
        if name:
            self._decide(cluster, "add", name)

    def _draw_dock(self) -> None:
        self._dock.clear()
        made = list(self._decisions.values())
        self._dock.set_visibility(bool(made))
        with self._dock:
            for action, says in (("add", "to add"), ("new", "for new intents"), ("ignore", "to ignore")):
                count = sum(len(decision.cluster.messages) for decision in made if decision.action == action)
                if count:
                    tag("span", f"{counted(count, 'message')} {says}", "st-strong")
            with tag("div", classes="st-row st-push"):
                ui.button("Undo all", on_click=self._undo_all).props("flat no-caps")
                ui.button("Write …", icon="save", on_click=self._write).props("unelevated no-caps")

    def _undo_all(self) -> None:
        decided = [decision.cluster for decision in self._decisions.values()]
        self._decisions.clear()
        for cluster in decided:
            if cluster.number in self._cards:
                self._draw_card(cluster)
        self._draw_dock()

    async def _write(self) -> None:
        """Show what the decisions do, write them as a revision, and take their messages out of the inbox."""
        made, inbox = list(self._decisions.values()), self._visit.bot.inbox
        if not made or inbox is None:
            self._visit.tell("Decide about some groups first.")
            return
        added = [decision for decision in made if decision.action != "ignore"]
        try:
            self._visit.require("author")
            if added:
                edits = [edit for one in added for edit in edits_of([self._spoken(one)], file=self._file(one))]
                groups = ", ".join(dict.fromkeys(str(decision.intent) for decision in added))
                title = f"Add {counted(sum(len(one.cluster.messages) for one in added), 'message')} of the inbox"
                if await propose(self._visit, edits, title=title, note=f"Inbox: {groups}"[:200]) is None:
                    return
            ignored = sum(len(one.cluster.messages) for one in made if one.action == "ignore")
            if ignored:
                note = f"Inbox: ignore {counted(ignored, 'message')}"
                await asyncio.to_thread(_note, self._visit, note)
            for how in ("added", "ignored"):
                some = [one for one in made if (one.action == "ignore") == (how == "ignored")]
                messages = [message for one in some for message in one.cluster.messages]
                if messages:
                    await asyncio.to_thread(inbox.handle, messages, how)
        except IntentMatchError as error:
            self._visit.tell(public_text(error), "negative")
            return
        done = sum(len(one.cluster.messages) for one in made)
        self._visit.tell(f"{counted(done, 'message')} left the inbox", "positive")
        self._decisions.clear()
        await self._reload()

    def _spoken(self, decision: Decision) -> Decision:
        """Return a decision whose messages all have a language, if the registry has several."""
        if self._language is None:
            return decision
        messages = tuple(
            message if message.language else replace(message, language=self._language)
            for message in decision.cluster.messages
        )
        return replace(decision, cluster=replace(decision.cluster, messages=messages))

    def _file(self, decision: Decision) -> Path | None:
        """Return the file for a new intent: that of the nearest intent, or the first one."""
        if decision.action != "new":
            return None
        registry = self._visit.bot.matcher.registry
        near = [name for message in decision.cluster.messages for name in message.intents if name in registry]
        found = next((registry[name].location for name in near if registry[name].location is not None), None)
        if found is not None:
            return Path(found.path)
        names = sorted(self._visit.bot.workspace.files())
        return self._visit.bot.workspace.place(names[0]) if names else None

    async def _reload(self) -> None:
        self._place.clear()
        with self._place:
            try:
                await self._draw()
            except IntentMatchError as error:
                tag("p", relative(public_text(error)), "st-problem", role="alert")


def _review(visit: Visit, inbox: Inbox) -> Review:
    try:
        messages = inbox.messages()
    except InputError:
        if inbox.has_messages:
            raise
        messages = []  # nothing was missed yet
    return review(visit.bot.matcher, messages)


def _note(visit: Visit, what: str) -> None:
    """Note in the audit log what changes no file. A bot without YAML has no audit log."""
    try:
        workspace = visit.bot.workspace
    except BotUnavailableError:
        return
    workspace.note(visit.author, what)


def _messages(some: Sequence[Missed]) -> None:
    if not some:
        return
    with tag("ul", classes="st-lines st-muted"):
        for message in some[:_SHOWN_MESSAGES]:
            with tag("li", classes="st-row"):
                words(message.text or "", "st-grow")
                if message.count > 1:
                    tag("span", f"{message.count} ×", "st-small st-push")
        if len(some) > _SHOWN_MESSAGES:
            tag("li", f"… and {len(some) - _SHOWN_MESSAGES} more", "st-small")


def turn_on(visit: Visit, values: Mapping[str, Setting], title: str, done: Callable[[], Awaitable[None]]) -> None:
    """Draw a switch that sets settings of the inbox in the files, for an author."""
    if not visit.may("author"):
        tag("p", "An author can turn it on.", "st-muted")
        return

    async def switch() -> None:
        try:
            names = await asyncio.to_thread(lambda: sorted(visit.bot.workspace.files()))
            places = visit.bot.matcher.registry.setting_locations
            file = Path(next(iter(places.values())).path) if places else visit.bot.workspace.place(names[0])
        except (IntentMatchError, IndexError) as error:
            visit.tell(public_text(error), "negative")
            return
        note = f"Set {', '.join(values)}"
        if await propose(visit, [ChangeSettings(file, values)], title=title, note=note) is not None:
            await done()

    ui.button(title, icon="toggle_on", on_click=switch).props("unelevated no-caps").classes("st-centred")


async def ask_for_intent(title: str, label: str, value: str, names: Sequence[str]) -> str | None:
    """Ask for the name of an intent: a new one, or one of `names`. Returns None if the author gives none."""
    with ui.dialog() as dialog, ui.card().classes("st-dialog"):
        words(title, "st-h2", "h2")
        if names:
            field: ui.select | ui.input = ui.select(
                list(names), value=value if value in names else None, label=label, with_input=True
            )
            field.props("outlined autofocus options-dense")
        else:
            field = ui.input(label, value=value).props("outlined autofocus maxlength=200")
            field.on("keydown.enter", lambda: dialog.submit(field.value))
        field.classes("st-wide")
        answer_buttons(dialog, field, "Choose")
    return await answer_of(dialog)
