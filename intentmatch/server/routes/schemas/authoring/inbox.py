"""Groups of messages that were not understood, and what becomes of them."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import Field

from intentmatch.server.routes.schemas.authoring.edits import NEW_FILE, NOTE, SECONDS, Note
from intentmatch.server.routes.schemas.authoring.revisions import WrittenResponse
from intentmatch.server.routes.schemas.base import RequestModel, ResponseModel
from intentmatch.server.routes.schemas.requests import LanguageCode, Name


class InboxRequest(RequestModel):
    """What to do with a cluster of the inbox."""

    action: Literal["add", "new", "ignore"] = Field(description="Add the messages to an intent, or to a new one.")
    intent: Name | None = Field(default=None, description="The intent, or the name of the new one.")
    language: LanguageCode | None = Field(default=None, description="Replaces the language of every message.")
    file: str | None = NEW_FILE
    note: Note = NOTE


class InboxPreviewRequest(InboxRequest):
    """What to do with a cluster of the inbox, to look at."""

    effect: bool = Field(default=True, description="Whether to work out which answers change.")
    seconds: Annotated[float, Field(strict=False)] = SECONDS


class InboxResponse(ResponseModel):
    """The messages that were not understood, in groups of the same meaning."""

    revision: str
    clusters: list[dict[str, Any]] = Field(description="Groups with their `messages`, `count` and `proposal`.")
    understood: int = Field(description="Number of messages that the registry now understands.")
    hashed: int = Field(description="Number of messages kept as hashes, which cannot be read.")


class HandledResponse(ResponseModel):
    """What became of a cluster."""

    handled: int = Field(description="Number of messages removed from the inbox.")
    written: WrittenResponse | None = Field(description="Null if the messages were ignored.")
