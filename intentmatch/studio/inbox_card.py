"""A group of the inbox as a card: its messages, what is proposed or asked, and what may become of it."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from nicegui import ui

from intentmatch.inbox import Action, Cluster, ClusterDecision, Kind, Missed
from intentmatch.inbox.proposals import times
from intentmatch.studio.parts import badge, tag, words
from intentmatch.studio.places import intent_link
from intentmatch.studio.visit import Visit
from intentmatch.studio.wording import BadgeKind, reason_in_words

_SHOWN_MESSAGES = 5
SECTIONS: Mapping[Kind, str] = {
    "asks": "They ask for something",
    "refuses": "They refuse what an intent does",
    "settled": "There is nothing to do",
    "depends": "They say too little alone",
    "courtesy": "Greetings, thanks and chat",
    "noise": "No words",
}
"""Headings of the groups by what their messages do."""
_ACTIONS: Mapping[Action, tuple[str, BadgeKind]] = {
    "add": ("add to", "good"),
    "new": ("new intent", "primary"),
    "not": ("must not match", "warn"),
    "test": ("expect no intent", "plain"),
    "ignore": ("ignore", "plain"),
}
_QUESTIONS: Mapping[Action | Literal["ask"], str] = {
    "ask": "What does it mean?",
    "add": "Does it belong to {intent}?",
    "new": "Is this a new intent?",
    "not": "Does it refuse {intent}?",
    "test": "Is there nothing to do?",
    "ignore": "Can it be ignored?",
}


@dataclass(frozen=True)
class Handlers:
    """What the buttons of the cards do to the current group."""

    choose: Callable[[], None]
    """Make the group of the card current."""
    decide: Callable[[Action, str | None], object]
    other_intent: Callable[[], Awaitable[None]]
    new_intent: Callable[[], Awaitable[None]]
    undo: Callable[[], object]


def offered(cluster: Cluster) -> Sequence[str]:
    """Return the intents that a question offers: those that may be meant, none for what asks for nothing."""
    if cluster.proposal.sure or cluster.kind != "asks":
        return ()
    likely = cluster.proposal.intent if cluster.proposal.action == "add" else None
    return tuple(dict.fromkeys([*([likely] if likely else []), *cluster.proposal.nearest]))


def says(action: Action, intent: str | None) -> str:
    """Return a decision in words."""
    return f"{_ACTIONS[action][0]} {intent or ''}".strip()


def draw_group(visit: Visit, cluster: Cluster, decision: ClusterDecision | None, handlers: Handlers) -> None:
    """Draw a group in the present place: with the decision on it, or else with its proposal or question."""
    proposal = cluster.proposal
    with tag("div", classes="st-row"):
        words(f"“{cluster.name}”", "st-h2", "h3")
        with tag("span", classes="st-row st-push st-small st-muted"):
            tag("span", f"received {times(cluster.count)}, last {cluster.last:%Y-%m-%d}")
            for code in cluster.languages:
                badge(code)
    _messages(cluster.messages[1:])
    with tag("div", classes="st-row"):
        if decision is not None:
            _says(visit, decision.action, decision.intent)
            tag("span", "not written yet", "st-muted st-small")
        elif proposal.accepted is not None:
            tag("span", "Proposal:", "st-muted")
            _says(visit, *proposal.accepted)
            tag("span", reason_in_words(proposal.because), "st-muted st-small")
        else:
            tag("span", _QUESTIONS[proposal.action].format(intent=proposal.intent), "st-strong")
            if proposal.action != "ask":  # otherwise the buttons below say which intents are nearest
                tag("span", reason_in_words(proposal.because), "st-muted st-small")
    if visit.may("author"):
        with tag("div", classes="st-row"):
            _buttons(cluster, handlers, decided=decision is not None)


def _buttons(cluster: Cluster, handlers: Handlers, *, decided: bool) -> None:
    def act(text: str, icon: str, handler: Callable[[], object], style: str = "flat", label: str = "") -> None:
        async def run() -> None:
            # The keys act on the current group: a click makes it that first.
            handlers.choose()
            done = handler()
            if asyncio.iscoroutine(done):
                await done

        button = ui.button(text, icon=icon, on_click=run).props(f"no-caps dense {style}").classes("st-action")
        button.props["aria-label"] = f"{label or text}: “{cluster.name}”"

    def decides(action: Action, intent: str | None = None) -> Callable[[], object]:
        return lambda: handlers.decide(action, intent)

    proposal = cluster.proposal
    if decided:
        act("Undo", "undo", handlers.undo)
        return
    if proposal.accepted is not None:
        act("Accept", "check", decides(*proposal.accepted), "unelevated")
    elif proposal.action == "not":
        act(f"Must not match {proposal.intent}", "block", decides("not", proposal.intent), "outline")
    for intent in offered(cluster):
        act(intent, "add", decides("add", intent), "outline", f"Add to {intent}")
    act("Another intent", "input", handlers.other_intent)
    act("New intent", "add", handlers.new_intent)
    act("Expect no intent", "rule", decides("test"))
    act("Ignore", "close", decides("ignore"))


def _says(visit: Visit, action: Action, intent: str | None) -> None:
    badge(*_ACTIONS[action])
    if intent is None:
        return
    if action == "new":
        tag("span", intent, "st-mono", dir="auto")
    else:
        intent_link(visit, intent)


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
