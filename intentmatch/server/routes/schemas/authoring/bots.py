"""Bots that are created, removed and restored."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Any

from pydantic import Field, model_validator

from intentmatch.authoring.bots import CreatedBot, RemovedBot
from intentmatch.core.bot_names import VALID_NAME
from intentmatch.registry.starters import STARTERS, starter
from intentmatch.server.routes.schemas.authoring.edits import NOTE, Note
from intentmatch.server.routes.schemas.authoring.revisions import RevisionInfo
from intentmatch.server.routes.schemas.base import PathText, RequestModel, ResponseModel
from intentmatch.server.routes.schemas.problem_details import ErrorItem

_MOST_FILES = 1000
_STARTERS = ", ".join(f"`{name}`" for name in STARTERS)
_YAML = "version: 1\nlanguage: en\nintents:\n  greet:\n    utterances: [hello, good morning]\n"

BotName = Annotated[str, Field(pattern=f"^{VALID_NAME.pattern}$", description="Name of the bot.", examples=["bakery"])]


class NewFile(RequestModel):
    """A file of a new bot."""

    file: str = Field(max_length=1000, description="Path from the folder of the bot.", examples=["bakery.yaml"])
    text: str = Field(description="The YAML.", examples=[_YAML])


class CreateBotRequest(RequestModel):
    """A new bot, from files or from a starting set."""

    name: BotName
    files: list[NewFile] = Field(
        default=[], max_length=_MOST_FILES, examples=[[{"file": "bakery.yaml", "text": _YAML}]]
    )
    starter: str | None = Field(
        default=None, description=f"Starting set in place of files: one of {_STARTERS}.", examples=[None]
    )
    note: Note = NOTE

    @model_validator(mode="after")
    def _from_one_source(self) -> CreateBotRequest:
        if bool(self.files) == (self.starter is not None):
            raise ValueError("name either `files` or a `starter`")
        # One of them would silently win.
        names = [file.file for file in self.files]
        if len(set(names)) < len(names):
            raise ValueError("two files have the same name")
        return self

    def texts(self) -> dict[str, str]:
        """Return the text of each file by its name. Raises `UnknownNameError` for an unknown starting set."""
        if self.starter is not None:
            return {f"{self.name}.yaml": starter(self.starter)}
        return {file.file: file.text for file in self.files}


class CreatedBotResponse(ResponseModel):
    """A bot that was created or restored."""

    name: str
    revision: str | None = Field(description="Digest of its files, for the header If-Match; null for an artefact.")
    recorded: RevisionInfo | None = Field(description="Its newest revision; null if none is kept.")
    problems: list[ErrorItem] = Field(description="Warnings about its files.")
    warnings: list[PathText] = Field(description="What went wrong after the files were written.")

    @classmethod
    def from_bot(cls, bot: CreatedBot) -> CreatedBotResponse:
        """Describe a bot."""
        return cls(
            name=bot.name,
            revision=bot.digest,
            recorded=None if bot.revision is None else RevisionInfo.from_revision(bot.revision),
            problems=[ErrorItem.from_problem(problem) for problem in bot.problems],
            warnings=list(bot.warnings),
        )


class RemovedBotInfo(ResponseModel):
    """A removed bot, which can be restored."""

    id: str = Field(examples=["bakery@20260102T030405Z-1a2b"])
    name: str
    time: datetime

    @classmethod
    def from_bot(cls, bot: RemovedBot) -> Any:
        """Describe a bot."""
        return cls(id=bot.id, name=bot.name, time=bot.time)


class RemovedBotResponse(RemovedBotInfo):
    """A bot that was just removed."""

    warnings: list[PathText] = Field(description="What went wrong after the bot was removed.")


class RemovedBotsResponse(ResponseModel):
    """The removed bots, the newest first."""

    bots: list[RemovedBotInfo]
