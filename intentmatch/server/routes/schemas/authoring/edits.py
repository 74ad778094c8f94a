"""Edits of the YAML, and previews of their effect."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import Field

from intentmatch.registry.editing import edits
from intentmatch.registry.editing.edits import Edit
from intentmatch.registry.editing.fields import SetField
from intentmatch.registry.editing.whole_files import RemoveFile, ReplaceFile
from intentmatch.server.routes.schemas.base import Findings, PathText, RequestModel, ResponseModel
from intentmatch.server.routes.schemas.problem_details import ErrorItem
from intentmatch.server.routes.schemas.requests import LanguageCode, Name

Place = Callable[[str], Path]
"""Turns the name of a file into its path."""

_MOST_EDITS = 1000

_FILE: Any = Field(max_length=1000, description="Path from the folder of the registry.", examples=["shop.yaml"])

NEW_FILE: Any = Field(
    default=None, max_length=1000, description="The file to add it to, which may be new; needed if there are several."
)

_LINE: Any = Field(max_length=10_000, description="The line as it stands, or as its sentence reads.")

LANGUAGE: Any = Field(default=None, description="BCP-47 code; needed if the lines have several languages.")

_NEGATIVE: Any = Field(default=False, description="Whether the line belongs to `not:`.")

_TEMPLATE: Any = Field(default=False, description="Whether brackets in the text are template marks.")


class _Edit(RequestModel):
    def planned(self, place: Place) -> Edit:
        """Return the edit of the files."""
        raise NotImplementedError


class Add(_Edit):
    """Adds an utterance, or a negative, to an intent."""

    edit: Literal["add"]
    intent: Name
    text: str = Field(max_length=10_000, examples=["any news of my order"])
    language: LanguageCode | None = LANGUAGE
    negative: bool = _NEGATIVE
    template: bool = _TEMPLATE

    def planned(self, place: Place) -> Edit:
        """Return the edit of the files."""
        return edits.AddUtterance(self.intent, self.text, self.language, self.negative, self.template)


class AddIntent(_Edit):
    """Adds an intent with its first utterance, a description, or both."""

    edit: Literal["add_intent"]
    intent: Name
    text: str | None = Field(default=None, max_length=10_000)
    description: str | None = Field(default=None, max_length=10_000, description="What users want, in a sentence.")
    language: LanguageCode | None = LANGUAGE
    file: str | None = NEW_FILE
    template: bool = _TEMPLATE

    def planned(self, place: Place) -> Edit:
        """Return the edit of the files."""
        file = None if self.file is None else place(self.file)
        return edits.AddIntent(self.intent, self.text, self.language, file, self.template, self.description)


class AddTest(_Edit):
    """Adds a message with its expected intent to `tests:`."""

    edit: Literal["add_test"]
    text: str = Field(max_length=10_000)
    intent: Name | None = Field(description="The expected intent; null if the message is out of scope.")
    language: LanguageCode | None = LANGUAGE
    file: str | None = NEW_FILE

    def planned(self, place: Place) -> Edit:
        """Return the edit of the files."""
        return edits.AddTest(self.text, self.intent, self.language, None if self.file is None else place(self.file))


class Move(_Edit):
    """Moves a line to another intent, with its language and the comment beside it."""

    edit: Literal["move"]
    text: str = _LINE
    to: Name
    source: Name | None = Field(default=None, description="The intent that has the line; needed if several do.")
    language: LanguageCode | None = LANGUAGE
    negative: bool = _NEGATIVE

    def planned(self, place: Place) -> Edit:
        """Return the edit of the files."""
        return edits.MoveUtterance(self.text, self.to, self.source, self.language, self.negative)


class Reword(_Edit):
    """Replaces the text of a line, which keeps its place and the comment beside it."""

    edit: Literal["reword"]
    text: str = _LINE
    new: str = _LINE
    intent: Name | None = Field(default=None, description="The intent that has the line; needed if several do.")
    language: LanguageCode | None = LANGUAGE
    negative: bool = _NEGATIVE

    def planned(self, place: Place) -> Edit:
        """Return the edit of the files."""
        return edits.RewordUtterance(self.text, self.new, self.intent, self.language, self.negative)


class Remove(_Edit):
    """Removes an utterance or a negative."""

    edit: Literal["remove"]
    text: str = _LINE
    intent: Name | None = Field(default=None, description="The intent that has the line; needed if several do.")
    language: LanguageCode | None = LANGUAGE
    negative: bool = _NEGATIVE

    def planned(self, place: Place) -> Edit:
        """Return the edit of the files."""
        return edits.RemoveUtterance(self.text, self.intent, self.language, self.negative)


class RemoveIntent(_Edit):
    """Removes an intent that no test expects."""

    edit: Literal["remove_intent"]
    intent: Name

    def planned(self, place: Place) -> Edit:
        """Return the edit of the files."""
        return edits.RemoveIntent(self.intent)


class Rename(_Edit):
    """Renames an intent wherever the YAML names it."""

    edit: Literal["rename"]
    intent: Name
    to: Name

    def planned(self, place: Place) -> Edit:
        """Return the edit of the files."""
        return edits.RenameIntent(self.intent, self.to)


class Set(_Edit):
    """Sets a key of an intent, or removes it if the value is null."""

    edit: Literal["set"]
    intent: Name
    field: Literal["title", "description", "response", "threshold", "when", "slots", "confirm", "metadata"]
    value: Any = Field(description="The value as the YAML has it; null removes the key.")

    def planned(self, place: Place) -> Edit:
        """Return the edit of the files."""
        return SetField(self.intent, self.field, self.value)


class ReplaceText(_Edit):
    """Replaces the whole text of a file, or adds a file."""

    edit: Literal["replace_file"]
    file: str = _FILE
    text: str

    def planned(self, place: Place) -> Edit:
        """Return the edit of the files."""
        return ReplaceFile(place(self.file), self.text)


class RemoveWhole(_Edit):
    """Removes a file."""

    edit: Literal["remove_file"]
    file: str = _FILE

    def planned(self, place: Place) -> Edit:
        """Return the edit of the files."""
        return RemoveFile(place(self.file))


AnyEdit = Annotated[
    Add | AddIntent | AddTest | Move | Reword | Remove | RemoveIntent | Rename | Set | ReplaceText | RemoveWhole,
    Field(discriminator="edit"),
]

Note = Annotated[str, Field(max_length=1000)]

NOTE: Any = Field(default="", description="Why; the text of the revision.", examples=["Customers ask for news"])

SECONDS: Any = Field(default=10.0, gt=0, le=60, description="Time for the effect; then some of it is left out.")


class EditsRequest(RequestModel):
    """Edits, applied one after the other, and written all or none."""

    edits: list[AnyEdit] = Field(
        min_length=1,
        max_length=_MOST_EDITS,
        examples=[[{"edit": "add", "intent": "order_status", "text": "any news of my order", "language": "en"}]],
    )
    note: Note = NOTE

    def planned(self, place: Place) -> list[Edit]:
        """Return the edits of the files."""
        return [edit.planned(place) for edit in self.edits]


class PreviewRequest(EditsRequest):
    """Edits to look at, and not to write."""

    effect: bool = Field(default=True, description="Whether to work out which answers change.")
    seconds: Annotated[float, Field(strict=False)] = SECONDS


class ChangeCount(ResponseModel):
    """How many messages of a source were compared."""

    messages: int
    of: int


class EffectInfo(ResponseModel):
    """Which answers an edit changes."""

    sampled: bool = Field(description="Whether some messages were left out, for lack of time or as too many.")
    compared: dict[str, ChangeCount] = Field(description="By source: `held_out`, `tests`, `messages`.")
    summary: str | None = Field(description="In one sentence; null if not even the registry could be built in time.")
    fixed: int = Field(description="Answers that become right.")
    broken: int = Field(description="Answers that become wrong.")
    changes: Findings = Field(
        description="Every changed answer: `text`, `expected`, `source`, `effect` (`better`, `worse`, `other`), the "
        "answers `old` and `new`, and `reasons`."
    )


class PreviewResponse(ResponseModel):
    """What edits would do."""

    revision: str = Field(description="Digest of the files that the preview is for.")
    diff: PathText = Field(description="Unified diff of all files.")
    problems: list[ErrorItem] = Field(description="Problems that the edits bring; errors prevent writing.")
    writable: bool = Field(description="Whether the edits bring no error.")
    effect: EffectInfo | None = Field(
        description="Null if it was not asked for, if the edits bring errors, or if a warning `effect` says why."
    )
