"""Calls for authors: read and change the YAML, with previews and revisions. Off unless `authoring` is on."""

from __future__ import annotations

from fastapi import APIRouter

from intentmatch.server.routes.authoring import candidate, edits, evaluation, inbox, insight, review, revisions, trying
from intentmatch.server.routes.authoring.bots import add_pool_calls

__all__ = ["add_calls", "add_pool_calls"]


def add_calls(router: APIRouter) -> None:
    """Add the calls of one bot, which a dependency of the router keeps as `request.state.bot`."""
    edits.add_calls(router)
    revisions.add_calls(router)
    trying.add_calls(router)
    inbox.add_calls(router)
    review.add_calls(router)
    evaluation.add_calls(router)
    insight.add_calls(router)
    candidate.add_calls(router)
