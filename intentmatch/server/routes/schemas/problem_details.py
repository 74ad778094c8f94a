"""The one shape of every error: problem details by RFC 9457."""

from __future__ import annotations

from collections.abc import Sequence
from http import HTTPStatus

from pydantic import Field

from intentmatch.core.errors import Problem, Severity
from intentmatch.server.routes.schemas.base import PathText, ResponseModel, Text


class ErrorItem(ResponseModel):
    """One mistake to correct."""

    location: PathText = Field(
        description="A path into the request (`body.texts.3`), or `file:line:column` in the YAML."
    )
    message: PathText
    hint: PathText | None = Field(default=None, description="How to correct it.")
    rule: Text | None = Field(default=None, description="Id of the broken rule.")
    severity: Severity = "error"
    path: PathText | None = Field(default=None, description="The YAML file.")
    line: int | None = Field(default=None, description="Line in that file, from 1.")
    column: int | None = Field(default=None, description="Column in that line, from 1.")

    @classmethod
    def from_problem(cls, problem: Problem) -> ErrorItem:
        """Make the item of a problem in the YAML, or in the request if its place is `body...`."""
        place = problem.location
        # Rules that check files check the parts of a request too, and call its place `body...`.
        in_request = place.path.startswith("body.")
        return cls(
            location=place.path if in_request else str(place),
            message=problem.message,
            hint=problem.hint or None,
            rule=problem.rule,
            severity=problem.severity,
            path=None if in_request else place.path,
            line=None if in_request else place.line,
            column=None if in_request else place.column,
        )


class ProblemDetails(ResponseModel):
    """The body of every error: RFC 9457, `application/problem+json`."""

    type: str = Field(
        default="about:blank",
        description="`about:blank`: the status says what kind of problem it is. `urn:intentmatch:warming`: the server "
        "cannot answer yet. `urn:intentmatch:broken`: the server cannot answer any more. "
        "`urn:intentmatch:busy`: too many requests at once.",
    )
    title: str = Field(description="The status in words.", examples=["Unprocessable Entity"])
    status: int = Field(description="The status code of the response.", examples=[422])
    detail: PathText = Field(description="What is wrong and how to correct it, for people.")
    errors: list[ErrorItem] = Field(description="Every mistake to correct; empty if `detail` says it all.")

    @classmethod
    def for_status(
        cls, status: int, detail: str, errors: Sequence[ErrorItem] = (), kind: str = "about:blank"
    ) -> ProblemDetails:
        """Make a problem with the title of its status."""
        return cls(type=kind, title=HTTPStatus(status).phrase, status=status, detail=detail, errors=list(errors))
