"""What the calls for authors share: the header If-Match, errors, previews, and writing with a reload."""

from __future__ import annotations

import errno
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Annotated, Any

from fastapi import Header, Query
from fastapi import Path as InPath

from intentmatch.authoring.bots import LastBotError
from intentmatch.authoring.operations.operation import Done, Operation
from intentmatch.authoring.operations.served import carry_out, comparison
from intentmatch.authoring.revisions import digest_of
from intentmatch.authoring.workspace import StaleRevisionError, Workspace
from intentmatch.core.errors import (
    ChangedMeanwhileError,
    DamagedContentError,
    DatabaseError,
    InputError,
    IntentMatchError,
    Problem,
    RegistryError,
    UnknownNameError,
)
from intentmatch.registry.editing.edits import Edit
from intentmatch.server.auth.security_schemes import AUTHOR
from intentmatch.server.bots.bot import Bot
from intentmatch.server.middleware.problems import ProblemError, from_invalid_files, responses
from intentmatch.server.routes.schemas.authoring.edits import EffectInfo, PreviewResponse
from intentmatch.server.routes.schemas.authoring.revisions import ConflictDetails
from intentmatch.server.routes.schemas.problem_details import ErrorItem, ProblemDetails

IfMatch = Annotated[
    str | None,
    Header(
        alias="If-Match",
        description="The `revision` that the edit was made for, or `*` for any.",
        examples=["0123456789abcdef"],
    ),
]

Most = Annotated[int, Query(ge=1, le=1000, description="The most entries to return.")]

Identity = Annotated[str, InPath(alias="id", max_length=64, description="Id of the revision.", examples=["1"])]

READS: dict[str, Any] = {
    "tags": ["authoring"],
    "openapi_extra": dict(AUTHOR),
    "responses": responses(401, 403, 409, 422, 429, 503),
}
"""Arguments of a route that reads."""

ASKS: dict[str, Any] = {**READS, "responses": responses(400, 401, 403, 408, 409, 413, 415, 422, 429, 503)}
"""Arguments of a route that reads, and takes a body."""

_CONFLICT = {409: {"model": ConflictDetails, "description": "Somebody else was quicker, or there is no YAML to edit."}}
WRITES: dict[str, Any] = {
    **READS,
    "responses": {**responses(400, 401, 403, 408, 413, 415, 422, 428, 429, 503), **_CONFLICT},
}
"""Arguments of a route that writes."""


def also_404(arguments: dict[str, Any]) -> dict[str, Any]:
    """Return the arguments of a route whose path names something."""
    return {**arguments, "responses": {**arguments["responses"], **responses(404)}}


_IN_THE_PATH = ("revision", "bot", "removed bot")
"""What the path of a call names, so that an unknown one is not found."""

_FAULTS_OF_A_NAME = (errno.ENAMETOOLONG, errno.EINVAL, errno.ELOOP)
"""Errors of the file system that are the caller's, who named the file."""


@contextmanager
def explained() -> Iterator[None]:
    """Turn errors of authoring into `ProblemError`: 404, 409 with both sides, 422 with each problem, or 503."""
    try:
        yield
    except StaleRevisionError as error:
        detail = "The files have changed since the revision of If-Match. Nothing was written."
        if error.reason:
            detail = f"{detail} Your edits do not fit any more: {error.reason}"
        sides = {"revision": error.digest, "theirs": error.theirs, "yours": error.yours}
        conflict = ConflictDetails.for_status(409, detail).model_copy(update=sides)
        raise ProblemError(conflict) from error
    except LastBotError as error:
        raise ProblemError(ConflictDetails.for_status(409, f"{error}.")) from error
    except ChangedMeanwhileError as error:
        raise ProblemError(ConflictDetails.for_status(409, f"{error}.".replace("..", "."))) from error
    except DamagedContentError as error:
        raise ProblemError(from_invalid_files(error.problems)) from error
    except RegistryError as error:
        raise ProblemError(invalid(error.problems)) from error
    except UnknownNameError as error:
        status = 404 if error.kind in _IN_THE_PATH else 422
        raise ProblemError(ProblemDetails.for_status(status, str(error), [_item(error)])) from error
    except InputError as error:
        cause = error.__cause__
        # A full or read-only disk is no fault of the caller, and may have room later.
        status = 503 if isinstance(cause, OSError) and cause.errno not in _FAULTS_OF_A_NAME else 422
        raise ProblemError(ProblemDetails.for_status(status, str(error), [_item(error)])) from error


def invalid(problems: Sequence[Problem]) -> ProblemDetails:
    """Return the problem of edits that bring errors."""
    count = sum(problem.severity == "error" for problem in problems)
    detail = f"The files would have {count} {'error' if count == 1 else 'errors'}. Nothing was written."
    return ProblemDetails.for_status(422, detail, [ErrorItem.from_problem(problem) for problem in problems])


def expected_revision(if_match: str | None) -> str:
    """Return the digest of the header If-Match. Raises `ProblemError` (428) without one."""
    # With or without the quotes of an entity tag; proxies that compress mark it as weak.
    digest = (if_match or "").strip().removeprefix("W/").strip('"')
    if not digest:
        # 428 asks for a condition (RFC 6585): without one, two authors would overwrite each other's edits.
        detail = "Send the header If-Match with the `revision` that you made the edit for; GET /registry tells it."
        raise ProblemError(ProblemDetails.for_status(428, detail))
    return digest


def preview(bot: Bot, edits: Sequence[Edit], *, effect: bool, seconds: float) -> PreviewResponse:
    """Work out edits, and which answers they change. For a thread."""
    found, more = None, []
    with explained():
        changes = bot.editing.workspace.plan(edits)
        if effect and not changes.errors:
            try:
                found = comparison(_Edited(bot), changes).go_on(seconds)
            except (InputError, DatabaseError):
                raise
            except IntentMatchError as error:  # such as of a remote encoder that does not answer
                message = f"the effect cannot be worked out: {error}"
                more = [ErrorItem(location="settings", message=message, rule="effect", severity="warning")]
    return PreviewResponse(
        revision=digest_of(bot.editing.workspace.named(changes.read)),
        diff=changes.diff,
        problems=[*(ErrorItem.from_problem(problem) for problem in changes.brought), *more],
        writable=not changes.errors,
        effect=None if found is None else EffectInfo.model_validate(found.to_dict()),
    )


async def write(bot: Bot, operation: Operation, expected: str) -> Done:
    """Carry out an operation. Raises `ProblemError`."""
    with explained():
        return await carry_out(_Edited(bot), operation, expected=expected)


class _Edited:
    """A bot of the server, as operations want it."""

    def __init__(self, bot: Bot) -> None:
        self._bot = bot
        self.matcher, self.inbox = bot.matcher, bot.inbox

    @property
    def workspace(self) -> Workspace:
        return self._bot.editing.workspace

    async def reload(self) -> None:
        try:
            await self._bot.files.reload()
        except ProblemError as error:
            # Operations know nothing of HTTP: for them, a failed reload is a warning beside files that are written.
            raise InputError(error.details.detail or error.details.title) from error

    def evaluate_soon(self, revision: str) -> None:
        self._bot.editing.evaluator.ask(revision)


def _item(error: InputError) -> ErrorItem:
    return ErrorItem(location="body", message=str(error))
