"""Requests and responses of the calls for authors."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import Field

from intentmatch.core.errors import Location
from intentmatch.core.types import Intent, Registry, Utterance
from intentmatch.registry.editing import edits
from intentmatch.registry.editing.edits import Edit
from intentmatch.registry.editing.fields import SetField
from intentmatch.registry.editing.whole_files import RemoveFile, ReplaceFile
from intentmatch.server.routes.schemas.base import RequestModel, ResponseModel, Text
from intentmatch.server.routes.schemas.matches import MatchResponse
from intentmatch.server.routes.schemas.problem_details import ErrorItem, ProblemDetails
from intentmatch.server.routes.schemas.requests import LanguageCode, MatchFields, Name

Place = Callable[[str], Path]
"""Turns the name of a file into its path."""

_MOST_EDITS = 1000
_FILE: Any = Field(max_length=1000, description="Path from the folder of the registry.", examples=["shop.yaml"])
_NEW_FILE: Any = Field(
    default=None, max_length=1000, description="The file to add it to, which may be new; needed if there are several."
)
_LINE: Any = Field(max_length=10_000, description="The line as it stands, or as its sentence reads.")
_LANGUAGE: Any = Field(default=None, description="BCP-47 code; needed if the lines have several languages.")
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
    language: LanguageCode | None = _LANGUAGE
    negative: bool = _NEGATIVE
    template: bool = _TEMPLATE

    def planned(self, place: Place) -> Edit:
        """Return the edit of the files."""
        return edits.AddUtterance(self.intent, self.text, self.language, self.negative, self.template)


class AddIntent(_Edit):
    """Adds an intent with its first utterance."""

    edit: Literal["add_intent"]
    intent: Name
    text: str = Field(max_length=10_000)
    language: LanguageCode | None = _LANGUAGE
    file: str | None = _NEW_FILE
    template: bool = _TEMPLATE

    def planned(self, place: Place) -> Edit:
        """Return the edit of the files."""
        file = None if self.file is None else place(self.file)
        return edits.AddIntent(self.intent, self.text, self.language, file, self.template)


class AddTest(_Edit):
    """Adds a message with its expected intent to `tests:`."""

    edit: Literal["add_test"]
    text: str = Field(max_length=10_000)
    intent: Name | None = Field(description="The expected intent; null if the message is out of scope.")
    language: LanguageCode | None = _LANGUAGE
    file: str | None = _NEW_FILE

    def planned(self, place: Place) -> Edit:
        """Return the edit of the files."""
        return edits.AddTest(self.text, self.intent, self.language, None if self.file is None else place(self.file))


class Move(_Edit):
    """Moves a line to another intent, with its language and the comment beside it."""

    edit: Literal["move"]
    text: str = _LINE
    to: Name
    source: Name | None = Field(default=None, description="The intent that has the line; needed if several do.")
    language: LanguageCode | None = _LANGUAGE
    negative: bool = _NEGATIVE

    def planned(self, place: Place) -> Edit:
        """Return the edit of the files."""
        return edits.MoveUtterance(self.text, self.to, self.source, self.language, self.negative)


class Remove(_Edit):
    """Removes an utterance or a negative."""

    edit: Literal["remove"]
    text: str = _LINE
    intent: Name | None = Field(default=None, description="The intent that has the line; needed if several do.")
    language: LanguageCode | None = _LANGUAGE
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
    Add | AddIntent | AddTest | Move | Remove | RemoveIntent | Rename | Set | ReplaceText | RemoveWhole,
    Field(discriminator="edit"),
]

Note = Annotated[str, Field(max_length=1000)]
_NOTE: Any = Field(default="", description="Why; the text of the revision.", examples=["Customers ask for news"])
_SECONDS: Any = Field(default=10.0, gt=0, le=60, description="Time for the effect; then some of it is left out.")


class EditsRequest(RequestModel):
    """Edits, applied one after the other, and written all or none."""

    edits: list[AnyEdit] = Field(
        min_length=1,
        max_length=_MOST_EDITS,
        examples=[[{"edit": "add", "intent": "order_status", "text": "any news of my order", "language": "en"}]],
    )
    note: Note = _NOTE

    def planned(self, place: Place) -> list[Edit]:
        """Return the edits of the files."""
        return [edit.planned(place) for edit in self.edits]


class PreviewRequest(EditsRequest):
    """Edits to look at, and not to write."""

    effect: bool = Field(default=True, description="Whether to work out which answers change.")
    seconds: Annotated[float, Field(strict=False)] = _SECONDS


class RestoreRequest(RequestModel):
    """How a restored revision is noted."""

    note: Note = _NOTE


class TryRequest(MatchFields):
    """A message to try."""

    text: str = Field(max_length=10_000, description="The message.", examples=["wo bleibt mein Paket?"])


class InboxRequest(RequestModel):
    """What to do with a cluster of the inbox."""

    action: Literal["add", "new", "ignore"] = Field(description="Add the messages to an intent, or to a new one.")
    intent: Name | None = Field(default=None, description="The intent, or the name of the new one.")
    language: LanguageCode | None = Field(default=None, description="Replaces the language of every message.")
    file: str | None = _NEW_FILE
    note: Note = _NOTE


class InboxPreviewRequest(InboxRequest):
    """What to do with a cluster of the inbox, to look at."""

    effect: bool = Field(default=True, description="Whether to work out which answers change.")
    seconds: Annotated[float, Field(strict=False)] = _SECONDS


class EvaluateRequest(RequestModel):
    """How to evaluate."""

    folds: int = Field(default=5, ge=2, le=20, description="Parts of the cross-validation.")
    seed: int = Field(default=0, ge=0, le=2**31, description="Seed of the parts.")
    robustness: bool = Field(default=True, description="Whether to try variations of the messages too.")


class PlaceInfo(ResponseModel):
    """Where something stands in the YAML."""

    path: Text
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
    changes: list[dict[str, Any]] = Field(
        description="Every changed answer: `text`, `expected`, `source`, `effect` (`better`, `worse`, `other`), the "
        "answers `old` and `new`, and `reasons`."
    )


class PreviewResponse(ResponseModel):
    """What edits would do."""

    revision: str = Field(description="Digest of the files that the preview is for.")
    diff: Text = Field(description="Unified diff of all files.")
    problems: list[ErrorItem] = Field(description="Problems that the edits bring; errors prevent writing.")
    writable: bool = Field(description="Whether the edits bring no error.")
    effect: EffectInfo | None = Field(description="Null if it was not asked for, or if the edits bring errors.")


class RevisionInfo(ResponseModel):
    """A state of the files that can be restored."""

    id: str
    author: Text | None = Field(description="Name of the key; null if another program changed the files.")
    time: datetime
    note: Text


class WrittenResponse(ResponseModel):
    """What was written."""

    revision: str = Field(description="Digest of the files now.")
    recorded: RevisionInfo | None = Field(description="The new revision; null if nothing changed.")
    diff: Text
    problems: list[ErrorItem] = Field(description="Warnings that the edits bring.")
    warnings: list[Text] = Field(description="What went wrong after the files were written.")
    active: bool = Field(description="Whether the server already answers with the new files.")


class RevisionsResponse(ResponseModel):
    """The newest revisions, the newest first."""

    revision: str = Field(description="Digest of the files now.")
    revisions: list[RevisionInfo]


class RevisionDiff(ResponseModel):
    """What a revision changed in a file."""

    file: Text
    diff: Text


class RevisionResponse(RevisionInfo):
    """A revision with what it changed."""

    files: list[RevisionDiff]


class AuditInfo(ResponseModel):
    """A write."""

    time: Text
    author: Text
    what: Text
    digest: Text = Field(description="Digest of the files afterwards.")
    revision: Text | None = Field(description="Id of the revision.")


class AuditResponse(ResponseModel):
    """The newest writes, the newest first."""

    entries: list[AuditInfo]


class ConflictDetails(ProblemDetails):
    """Somebody else was quicker. Nothing was written."""

    revision: str | None = Field(default=None, description="Digest of the files now, for another try.")
    theirs: Text | None = Field(
        default=None, description="Diff from your revision to the files now; null if your revision is not kept."
    )
    yours: Text | None = Field(
        default=None, description="Diff of your edits applied to the files now; null if they do not fit any more."
    )


class OverlapInfo(ResponseModel):
    """Two intents with utterances that lie nearer to the other."""

    intents: list[Text]
    errors: int
    utterances: int


class LintResponse(ResponseModel):
    """Findings about the files as they are now."""

    revision: str
    problems: list[ErrorItem]
    ignored: int = Field(description="Number of findings that a comment or a setting suppresses.")
    overlaps: list[OverlapInfo]
    coverage: dict[str, dict[str, int]] = Field(description="Number of utterances by intent and language.")
    fix: Text = Field(description="Diff that mends what needs no decision; empty if nothing does.")


class WordInfo(ResponseModel):
    """A word of the message that met a word of the nearest utterance."""

    word: Text
    met: Text
    similarity: float
    weight: float


class TryResponse(ResponseModel):
    """A match with everything that is known about it."""

    result: MatchResponse
    explanation: Text
    words: list[WordInfo]


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
