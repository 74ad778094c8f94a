"""The third pane of Try: a conversation with the bot, which asks back and remembers its questions."""

from __future__ import annotations

import secrets

from nicegui import ui

from intentmatch.core.errors import IntentMatchError
from intentmatch.dialogue import Dialogue, Turn
from intentmatch.studio.parts import card, tag, words
from intentmatch.studio.places import intent_link
from intentmatch.studio.proposal import explained
from intentmatch.studio.visit import Visit

_MOST_BUBBLES = 200


class Conversation:
    """The pane on one page, with a `Dialogue` of its own."""

    def __init__(self, visit: Visit) -> None:
        self._visit = visit
        self._begin()
        with card("Conversation", classes="st-chat"):
            self._log = tag(
                "div", classes="st-log", role="log", aria_live="polite", aria_label="Messages", tabindex="0"
            )
            with tag("div", classes="st-row"):
                self._message = ui.input("Your message").props('outlined dense dir="auto" maxlength=2000')
                self._message.classes("st-grow").on("keydown.enter", self._send)
                ui.button("Send", on_click=self._send).props("unelevated")
                ui.button("Start again", on_click=self._restart).props("flat")

    def _begin(self) -> None:
        self._dialogue = Dialogue(self._visit.bot.matcher)
        self._name = secrets.token_hex(8)

    def _restart(self) -> None:
        self._begin()
        self._log.clear()

    async def _send(self) -> None:
        text = str(self._message.value or "").strip()
        if text:
            self._message.set_value("")
            await self._take(text)

    async def _take(self, text: str, chosen: str | None = None) -> None:
        self._bubble(text, "you")
        try:
            # A button answers by its id; its title is shown only.
            turn = await self._dialogue.atake("" if chosen else text, self._name, chosen=chosen)
        except IntentMatchError as error:
            self._bubble(explained(error), "bot")
            return
        with self._log:
            self._answer(turn)
        self._trim()

    def _answer(self, turn: Turn) -> None:
        with tag("div", classes="st-bubble bot"):
            words(turn.reply or ("(no response)" if turn.intent else "(not understood)"), name="p")
            if turn.choices:
                with tag("div", classes="st-row"):
                    for choice in turn.choices:
                        ui.button(choice.title, on_click=lambda one=choice: self._take(one.title, one.id)).props(
                            "outline dense no-caps"
                        )
            with tag("div", classes="st-row st-small st-muted"):
                if turn.intent or turn.pending:
                    intent_link(self._visit, str(turn.intent or turn.pending))
                if turn.asks_for:
                    tag("span", f"asks for {turn.asks_for}")
                for entity in turn.entities:
                    words(f"{entity.slot} = {entity.shown}")

    def _bubble(self, text: str, who: str) -> None:
        with self._log, tag("div", classes=f"st-bubble {who}"):
            words(text, name="p")

    def _trim(self) -> None:
        """Keep the newest bubbles, so that a long conversation does not grow without end."""
        bubbles = list(self._log.default_slot.children)
        for bubble in bubbles[:-_MOST_BUBBLES]:
            bubble.delete()
        ui.run_javascript(f"const log = getHtmlElement({self._log.id}); log.scrollTop = log.scrollHeight;")
