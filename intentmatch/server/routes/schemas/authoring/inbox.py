"""Groups of messages that were not understood, and what becomes of them."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, model_validator

from intentmatch.server.routes.schemas.authoring.edits import NEW_FILE, NOTE, SECONDS, Note
from intentmatch.server.routes.schemas.authoring.revisions import WrittenResponse
from intentmatch.server.routes.schemas.base import Findings, PathText, RequestModel, ResponseModel
from intentmatch.server.routes.schemas.requests import LanguageCode, Name


class InboxRequest(RequestModel):
    """What to do with a cluster of the inbox."""

    action: Literal["add", "new", "not", "test", "ignore"] = Field(
        description="Add them to an intent, to a new one, to `not` of an intent or to the tests, or ignore them."
    )
    intent: Name | None = Field(default=None, description="The intent, or the name of the new one; not for tests.")
    language: LanguageCode | None = Field(default=None, description="Replaces the language of every message.")
    file: str | None = NEW_FILE
    messages: list[int] | None = Field(
        default=None,
        max_length=10_000,
        description="The `id` of each message that was looked at. Others stay in the inbox, such as those that came "
        "since; the default is all messages of the cluster.",
    )
    note: Note = NOTE


class InboxPreviewRequest(InboxRequest):
    """What to do with a cluster of the inbox, to look at."""

    effect: bool = Field(default=True, description="Whether to work out which answers change.")
    seconds: Annotated[float, Field(strict=False)] = SECONDS


class InboxResponse(ResponseModel):
    """The messages that were not understood, in groups of the same meaning."""

    revision: str
    clusters: Findings = Field(description="Groups with their `messages`, `count` and `proposal`.")
    understood: int = Field(description="Number of messages that the registry now understands.")
    hashed: int = Field(description="Number of messages kept as hashes, which cannot be read.")


class HandledResponse(ResponseModel):
    """What became of a cluster."""

    handled: int = Field(description="Number of messages removed from the inbox.")
    written: WrittenResponse | None = Field(description="Null if the messages were ignored.")


class EraseRequest(RequestModel):
    """Which messages to erase: exactly one of the three."""

    text: str | None = Field(default=None, max_length=10_000, description="The message, as it was sent.")
    contains: str | None = Field(default=None, max_length=1000, description="Words that the messages contain.")
    conversation: str | None = Field(default=None, max_length=1000, description="What is open in this conversation.")

    @model_validator(mode="after")
    def _one(self) -> EraseRequest:
        if sum(given is not None for given in (self.text, self.contains, self.conversation)) != 1:
            raise ValueError("name the messages by one of `text`, `contains` and `conversation`")
        return self


class EraseResponse(ResponseModel):
    """How much was erased in each place."""

    inbox: int = Field(description="Messages.")
    sample: int = Field(description="Answers of the sample of all answers.")
    candidate: int = Field(description="Samples of a candidate.")
    conversations: int = Field(description="Open questions and sessions.")
    audit: int = Field(description="Entries of the audit log that had the words; the entries stay.")
    left: list[PathText] = Field(description="Places that have the words still, such as YAML files.")
