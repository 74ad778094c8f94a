"""What all models share: strictness, and text that can be sent as UTF-8."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import BaseModel, BeforeValidator, ConfigDict


def sendable(text: Any) -> Any:
    """Escape what UTF-8 cannot carry, such as a file name that is not text; other values pass unchanged."""
    return text.encode("utf-8", "backslashreplace").decode() if isinstance(text, str) else text


Text = Annotated[str, BeforeValidator(sendable)]


class ResponseModel(BaseModel):
    """Base of what the server sends."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class RequestModel(BaseModel):
    """Base of what the server reads. Strict: no value is coerced, and an unknown key is an error.

    pydantic itself refuses text with half of a surrogate pair, which could not be sent back.
    """

    model_config = ConfigDict(strict=True, extra="forbid", frozen=True)
