"""The screen Try: one message, a list of messages, and a conversation."""

from __future__ import annotations

from nicegui import ui

from intentmatch.studio.conversation import Conversation
from intentmatch.studio.following import follow
from intentmatch.studio.many_messages import ManyMessages
from intentmatch.studio.one_message import OneMessage
from intentmatch.studio.parts import heading
from intentmatch.studio.visit import Visit


async def show(visit: Visit) -> None:
    """Draw the screen."""
    heading("Try", "Type a message and see what the bot makes of it, and why.")
    with ui.tabs().props("align=left dense no-caps inline-label").classes("st-tabs") as tabs:
        one, many, talk = ui.tab("One message"), ui.tab("Many messages"), ui.tab("Conversation")
    message = ui.context.client.request.query_params.get("message", "")[:10_000]
    # With `keep-alive`, what was typed in a pane is there when the visitor comes back to it.
    with ui.tab_panels(tabs, value=one).props("keep-alive").classes("st-panels"):
        with ui.tab_panel(one):
            pane = OneMessage(visit, message)
        with ui.tab_panel(many):
            ManyMessages(visit)
        with ui.tab_panel(talk):
            Conversation(visit)
    if message:
        await pane.match()
    follow(visit, pane.refresh, registry=True)
