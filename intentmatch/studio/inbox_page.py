"""The screen Inbox: messages that were not understood, in groups, for quick decisions by keyboard."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial

from nicegui import ui
from nicegui.elements.mixins.text_element import TextElement

from intentmatch.core.errors import InputError, IntentMatchError, counted, public_text
from intentmatch.inbox import Action, Cluster, ClusterDecision, Inbox, Kind, Review, review
from intentmatch.inbox.proposals import MOST_OFFERED
from intentmatch.registry.editing.settings_edit import Setting
from intentmatch.studio.cursor import Cursor
from intentmatch.studio.inbox_card import SECTIONS, Handlers, draw_group, offered, says
from intentmatch.studio.inbox_decisions import ask_for_intent, write
from intentmatch.studio.parts import empty, heading, in_thread, later, tag
from intentmatch.studio.preloading import preload
from intentmatch.studio.switches import FILE, turn_on
from intentmatch.studio.visit import Visit
from intentmatch.studio.wording import error_in_words

_AT_ONCE = 10
_PURPOSES: Mapping[Action, str] = {
    "add": "to add",
    "new": "for new intents",
    "not": "not to match",
    "test": "as tests",
    "ignore": "to ignore, which deletes them",
}


async def show(visit: Visit) -> None:
    """Draw the screen."""
    preload(visit.root, ui.select)
    heading("Inbox", "Messages that were not understood, in groups of the same meaning.", keys=True)
    page = _InboxPage(visit)
    later(page.load, "Grouping the messages …")


class _InboxPage:
    """The groups of one page, and what the author has decided about them."""

    def __init__(self, visit: Visit) -> None:
        self._visit = visit
        self._decisions: dict[int, ClusterDecision] = {}
        self._clusters: Sequence[Cluster] = ()
        self._cards: dict[int, TextElement] = {}
        self._drawn = 0
        self._cursor: Cursor[int] = Cursor(visit, "group", self._show_more)
        self._language: str | None = None
        self._lists: dict[Kind, TextElement] = {}
        for place in range(MOST_OFFERED):
            visit.shortcut(str(place + 1), f"Add to intent {place + 1} of those offered", partial(self._offer, place))
        for keys, explained, handler in (
            ("a", "Accept the proposal", self._accept),
            ("n", "Make a new intent of the group", self._new_intent),
            ("m", "Add the group to another intent", self._other_intent),
            ("t", "Expect no intent for the group, as tests", partial(self._decide_current, "test")),
            ("i", "Ignore the group", partial(self._decide_current, "ignore")),
            ("u", "Undo the decision", self._undo),
            ("w", "Write the decisions, after a look at their effect", self._write),
            ("r", "Read the inbox again", self._reload),
        ):
            visit.shortcut(keys, explained, handler)

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
        found = await in_thread(_review, self._visit, inbox)
        self._clusters, self._drawn = found.clusters, 0
        self._cards.clear()
        self._cursor.clear()
        # Decisions survive a new look, as long as their group is there.
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
        self._lists.clear()
        self._groups = tag("div", classes="st-stack st-gap")
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
                    sure = sum(cluster.proposal.accepted is not None for cluster in found.clusters)
                    if sure:
                        self._button(f"Accept the {sure} that are sure", "done_all", self._accept_all)
                self._button("Read again", "refresh", self._reload)

    def _button(self, text: str, icon: str, handler: object) -> ui.button:
        return ui.button(text, icon=icon, on_click=handler).props("outline no-caps")  # type: ignore[arg-type]

    def _show_more(self) -> bool:
        some = self._clusters[self._drawn : self._drawn + _AT_ONCE]
        for cluster in some:
            with self._list_of(cluster.kind):
                card = tag("article", classes="st-card", role="listitem", aria_label=f"“{cluster.name}”")
                self._cards[cluster.number] = card
                self._cursor.add(cluster.number, card)
                self._draw_card(cluster)
        self._drawn += len(some)
        self._more.set_visibility(self._drawn < len(self._clusters))
        return bool(some)

    def _list_of(self, kind: Kind) -> TextElement:
        """Return the list of the groups whose messages do the same, with a heading."""
        if kind not in self._lists:
            with self._groups:
                tag("h2", SECTIONS[kind], "st-h2")
                self._lists[kind] = tag("div", classes="st-stack st-gap", role="list", aria_label=SECTIONS[kind])
        return self._lists[kind]

    def _draw_card(self, cluster: Cluster) -> None:
        card = self._cards[cluster.number]
        decision = self._decisions.get(cluster.number)
        card.clear()
        card.classes(remove="add new not test ignore", add=decision.action if decision else "")
        handlers = Handlers(
            choose=partial(self._cursor.choose, cluster.number),
            decide=partial(self._decide, cluster),
            other_intent=self._other_intent,
            new_intent=self._new_intent,
            undo=self._undo,
        )
        with card:
            draw_group(self._visit, cluster, decision, handlers)

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
        self._decisions[cluster.number] = ClusterDecision(cluster, action, intent)
        self._draw_card(cluster)
        self._draw_dock()
        self._visit.announce(f"{cluster.name}: {says(action, intent)}")
        # A decision by mouse may be about another group than the current one.
        self._cursor.choose(cluster.number)
        self._cursor.step(1)

    def _accept(self) -> None:
        cluster = self._chosen()
        if cluster is None:
            return
        if cluster.proposal.accepted is None:
            self._visit.tell("This is a question: choose what it means.")
            return
        self._decide(cluster, *cluster.proposal.accepted)

    def _accept_all(self) -> None:
        for cluster in self._clusters:
            if cluster.proposal.accepted is not None and cluster.number not in self._decisions:
                self._decisions[cluster.number] = ClusterDecision(cluster, *cluster.proposal.accepted)
                # A group further down is not drawn yet.
                if cluster.number in self._cards:
                    self._draw_card(cluster)
        self._draw_dock()

    def _offer(self, place: int) -> None:
        """Add the current group to one of the intents that its question offers."""
        cluster = self._chosen()
        if cluster is not None and place < len(offered(cluster)):
            self._decide(cluster, "add", offered(cluster)[place])

    def _decide_current(self, action: Action) -> None:
        cluster = self._chosen()
        if cluster is not None:
            self._decide(cluster, action, None)

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
            for action, purpose in _PURPOSES.items():
                count = sum(len(decision.cluster.messages) for decision in made if decision.action == action)
                if count:
                    tag("span", f"{counted(count, 'message')} {purpose}", "st-strong")
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
        """Write the decisions; those that fail stay."""
        done = await write(self._visit, list(self._decisions.values()), self._language)
        if done:
            self._decisions = {number: one for number, one in self._decisions.items() if one not in done}
            await self._reload()

    async def _reload(self) -> None:
        self._place.clear()
        with self._place:
            try:
                await self._draw()
            except IntentMatchError as error:
                tag("p", error_in_words(error), "st-problem", role="alert")


def _review(visit: Visit, inbox: Inbox) -> Review:
    try:
        messages = inbox.messages()
    except InputError:
        # An inbox that is there and cannot be read is an error, and no empty one.
        if inbox.has_messages:
            raise
        messages = []  # nothing was missed yet
    return review(visit.bot.matcher, messages)
