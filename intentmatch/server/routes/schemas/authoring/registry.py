"""The YAML as it is now: files, intents and lines."""

from __future__ import annotations

from typing import Any

from pydantic import Field

from intentmatch.core.errors import Location
from intentmatch.core.types import Intent, Registry, Utterance
from intentmatch.server.routes.schemas.base import PathText, ResponseModel, Text
from intentmatch.server.routes.schemas.problem_details import ErrorItem


class PlaceInfo(ResponseModel):
    """Where something stands in the YAML."""

    path: PathText
    line: int | None
    column: int | None

    @classmethod
    def from_location(cls, location: Location | None) -> PlaceInfo | None:
        """Describe a location."""
        return None if location is None else cls(path=location.path, line=location.line, column=location.column)


class LineInfo(ResponseModel):
    """An utterance or a negative, as the author wrote it."""

    text: Text
    language: Text | None
    place: PlaceInfo | None

    @classmethod
    def from_lines(cls, lines: tuple[Utterance, ...]) -> list[LineInfo]:
        """Describe the lines of an intent."""
        return [
            cls(text=line.template or line.text, language=line.language, place=PlaceInfo.from_location(line.location))
            for line in lines
        ]


class SlotInfo(ResponseModel):
    """A slot of an intent."""

    name: Text
    kind: Text
    required: bool


class AuthoredIntent(ResponseModel):
    """An intent with everything that the YAML says about it."""

    name: Text
    title: Text | None
    description: Text | None
    threshold: float | Text | None
    when: list[Text]
    confirm: bool
    responses: dict[str, list[Text]] = Field(description="Texts by language; an empty key stands for no language.")
    slots: list[SlotInfo]
    metadata: dict[str, Any]
    place: PlaceInfo | None
    utterances: list[LineInfo]
    negatives: list[LineInfo]

    @classmethod
    def from_intent(cls, intent: Intent) -> AuthoredIntent:
        """Describe an intent whose templates are not expanded."""
        return cls(
            name=intent.name,
            title=intent.title,
            description=intent.description,
            threshold=intent.threshold,
            when=list(intent.when),
            confirm=intent.confirm,
            responses={code or "": list(texts) for code, texts in intent.all_responses.items()},
            slots=[SlotInfo(name=slot.name, kind=str(slot.kind), required=slot.required) for slot in intent.slots],
            metadata=dict(intent.metadata),
            place=PlaceInfo.from_location(intent.location),
            utterances=LineInfo.from_lines(intent.utterances),
            negatives=LineInfo.from_lines(intent.negatives),
        )


class FileInfo(ResponseModel):
    """A file of the registry."""

    file: Text = Field(description="Path from the folder of the registry.")
    text: Text


class RegistryResponse(ResponseModel):
    """The files as they are now, which may differ from the registry in use."""

    revision: str = Field(description="Digest of all files, for the header If-Match.")
    files: list[FileInfo]
    intents: list[AuthoredIntent]
    problems: list[ErrorItem]

    @classmethod
    def from_registry(
        cls, revision: str, files: dict[str, str], registry: Registry, problems: list[ErrorItem]
    ) -> RegistryResponse:
        """Describe the files and what was read from them."""
        return cls(
            revision=revision,
            files=[FileInfo(file=name, text=text) for name, text in files.items()],
            intents=[AuthoredIntent.from_intent(intent) for intent in registry],
            problems=problems,
        )
