"""What all models share: strictness, and text that can be sent as UTF-8."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import BaseModel, BeforeValidator, ConfigDict, PlainSerializer

from intentmatch.core.relative_paths import relative, with_relative_places


def sendable(text: Any) -> Any:
    """Escape what UTF-8 cannot carry, such as a file name that is not text; other values pass unchanged."""
    return text.encode("utf-8", "backslashreplace").decode() if isinstance(text, str) else text


Text = Annotated[str, BeforeValidator(sendable)]
PathText = Annotated[Text, PlainSerializer(relative)]
"""Text that may name files: authors see them from the folder of their registry."""

Findings = Annotated[list[dict[str, Any]], PlainSerializer(with_relative_places)]
"""JSON values that may have places in files."""
Finding = Annotated[dict[str, Any], PlainSerializer(with_relative_places)]


class ResponseModel(BaseModel):
    """Base of what the server sends."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class RequestModel(BaseModel):
    """Base of what the server reads. Strict: no value is coerced, and an unknown key is an error.

    pydantic itself refuses text with half of a surrogate pair, which could not be sent back.
    """

    model_config = ConfigDict(strict=True, extra="forbid", frozen=True)
