"""Responses about the server: its intents, its bots and their state."""

from __future__ import annotations

from datetime import datetime
from typing import Any, Literal

from pydantic import Field

from intentmatch.core.types import Intent, Registry
from intentmatch.server.routes.schemas.base import ResponseModel, Text
from intentmatch.server.routes.schemas.problem_details import ProblemDetails


class IntentInfo(ResponseModel):
    """An intent of the registry, without its utterances."""

    name: Text
    title: Text | None
    description: Text | None
    languages: list[Text] = Field(description="Languages of its utterances, sorted.")
    utterances: int = Field(description="Number of its utterances.")
    threshold: float | Text | None = Field(
        description='The author\'s own threshold: a number is on the score, a text like "90%" on the confidence.'
    )
    metadata: dict[str, Any] = Field(description="The author's own data, unchanged.")

    @classmethod
    def from_intent(cls, intent: Intent) -> IntentInfo:
        """Describe an intent."""
        return cls(
            name=intent.name,
            title=intent.title,
            description=intent.description,
            languages=sorted({u.language for u in intent.utterances if u.language}),
            utterances=len(intent.utterances),
            threshold=intent.threshold,
            metadata=dict(intent.metadata),
        )


class IntentsResponse(ResponseModel):
    """All intents in use."""

    fingerprint: str = Field(description="Fingerprint of the registry; changes whenever an answer may.")
    intents: list[IntentInfo]

    @classmethod
    def from_registry(cls, registry: Registry) -> IntentsResponse:
        """Describe all intents of a registry."""
        return cls(fingerprint=registry.fingerprint, intents=[IntentInfo.from_intent(intent) for intent in registry])


class ReloadResponse(ResponseModel):
    """The registry in use after a reload."""

    fingerprint: str = Field(description="Fingerprint of the new registry.")
    intents: int = Field(description="Number of its intents.")
    utterances: int = Field(description="Number of its utterances, all intents together.")

    @classmethod
    def from_registry(cls, registry: Registry) -> ReloadResponse:
        """Describe a registry."""
        return cls(fingerprint=registry.fingerprint, intents=len(registry), utterances=registry.utterance_count)


class Health(ResponseModel):
    """The process is alive."""

    status: Literal["alive"] = "alive"


class Version(ResponseModel):
    """The running version."""

    version: str = Field(description="Version of intentmatch.")


class Ready(ResponseModel):
    """The server answers messages."""

    status: Literal["ready", "stale"] = Field(
        description="`stale`: newer files are invalid or not loaded, or the database of the files is away."
    )
    fingerprint: str = Field(description="Fingerprint of the registry in use.")
    intents: int = Field(description="Number of its intents.")
    stale: bool = Field(description="Whether there may be newer files that are not in use.")
    stale_since: datetime | None = Field(description="Since when; null if the newest files are in use.")
    reload_error: ProblemDetails | None = Field(
        description="Why the last reload failed; null if it did not, and for callers without a required key."
    )


BotState = Literal["idle", "warming", "ready", "stale", "broken"]


class BotInfo(ResponseModel):
    """One of several bots."""

    name: str
    state: BotState = Field(
        description="`idle`: not loaded until it is called; `broken`: it cannot be loaded, or cannot answer."
    )


class BotsResponse(ResponseModel):
    """The bots that the caller may call."""

    bots: list[BotInfo]


class BotsReady(ResponseModel):
    """The server takes calls for its bots. A single bot may still be unable to answer."""

    status: Literal["ready"] = "ready"
    bots: int = Field(description="Number of bots.")
    loaded: int = Field(description="Bots that are loaded.")
    idle: int = Field(description="Bots that are not loaded until they are called.")
    stale: int = Field(description="Bots whose files on disk have changed and are invalid.")
    broken: int = Field(description="Bots that cannot be loaded, or cannot answer.")
