"""OpenAI's embeddings API, served by the encoder in use, for tools that accept any such server.

The model name is echoed and otherwise ignored; the encoder in use is the only model that is listed. Words count as
tokens, because encoders do not report theirs.
"""

from __future__ import annotations

import base64
import re
from collections.abc import Sequence
from typing import Any, Literal

import numpy as np
from fastapi import APIRouter, Request
from pydantic import BaseModel, ConfigDict
from starlette.responses import JSONResponse, Response

from intentmatch.core.types import Encoder, Vectors
from intentmatch.server.auth.authorisation import authorised, bearer
from intentmatch.server.middleware.problems import ProblemError
from intentmatch.server.protocols.host import Protocol, ProtocolHost, read, refused
from intentmatch.server.protocols.model_list import encoder_model, model_list
from intentmatch.server.routes.schemas.problem_details import ErrorItem, ProblemDetails


class _Embeddings(BaseModel):
    model_config = ConfigDict(frozen=True, strict=True)

    input: str | list[Any]
    model: str
    encoding_format: Literal["float", "base64"] | None = None
    dimensions: int | None = None


def protocol(host: ProtocolHost) -> Protocol:
    """Make the routes of OpenAI."""
    router = APIRouter(include_in_schema=False)

    @router.get("/v1/models")
    async def models(request: Request) -> Response:
        _authorise(request)
        return JSONResponse(
            {
                **await model_list(host, request),
                "object": "list",
                "data": [encoder_model((await host.bot(request)).matcher.encoder)],
            }
        )

    @router.get("/v1/models/{name:path}")
    async def model(request: Request, name: str) -> Response:
        _authorise(request)
        encoder = (await host.bot(request)).matcher.encoder
        if name != encoder.name:
            raise refused(404, f"The model {name!r} does not exist; the encoder in use is {encoder.name!r}.")
        return JSONResponse(encoder_model(encoder))

    @router.post("/v1/embeddings")
    async def embeddings(request: Request) -> Response:
        _authorise(request)
        body = await read(request, _Embeddings)
        texts = _texts(body.input, host)
        bot = await host.bot(request)
        encoder = bot.matcher.encoder
        dimensions = _dimensions(body.dimensions, encoder)
        vectors = await bot.in_parts(texts, lambda part: list(_vectors(encoder, part, dimensions)))
        tokens = sum(len(text.split()) for text in texts)
        data = [
            {"object": "embedding", "index": index, "embedding": _encoded(vector, body.encoding_format)}
            for index, vector in enumerate(vectors)
        ]
        usage = {"prompt_tokens": tokens, "total_tokens": tokens}
        return JSONResponse({"object": "list", "data": data, "model": body.model, "usage": usage})

    # The other paths below /v1 have errors of a shape of their own.
    return Protocol(router, re.compile(r"/v1/(?!(systemone|decisions)(/|$)).*"), error_response)


def _authorise(request: Request) -> None:
    if not authorised(request, bearer(request)):
        raise refused(401, "Incorrect API key provided.")


def _texts(given: str | list[Any], host: ProtocolHost) -> list[str]:
    texts = [given] if isinstance(given, str) else given
    if not 0 < len(texts) <= host.max_batch:
        raise _wrong("input", f"There are {len(texts)} texts; a request may hold 1 to {host.max_batch}.")
    # Some clients, such as LangChain's, send token ids of OpenAI's models unless told otherwise.
    if any(isinstance(text, (int, list)) for text in texts):
        raise _wrong("input", "The encoder in use does not accept tokens; send text.")
    for text in texts:
        if not isinstance(text, str) or not text:
            raise _wrong("input", "Each input must be a text that is not empty.")
        host.check_length(text)
    return texts


def _dimensions(requested: int | None, encoder: Encoder) -> int:
    if requested is None or requested == encoder.dim:
        return encoder.dim
    # Only encoders that were trained for it keep their meaning in the first dimensions.
    if not getattr(encoder, "nested", False):
        raise _wrong(
            "dimensions", f"The vectors of {encoder.name} cannot be shortened; they have {encoder.dim} dimensions."
        )
    if not 0 < requested <= encoder.dim:
        raise _wrong("dimensions", f"The vectors of {encoder.name} can have 1 to {encoder.dim} dimensions.")
    return requested


def _vectors(encoder: Encoder, texts: Sequence[str], dimensions: int) -> Vectors:
    vectors = encoder.encode(texts)[:, :dimensions]
    # A vector that was cut is no unit vector any more.
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    # A text without any known token stays a row of zeros.
    return np.asarray(vectors / np.where(lengths > 0, lengths, 1), dtype=np.float32)


def _encoded(vector: Vectors, form: str | None) -> str | list[float]:
    if form == "base64":
        # The SDK asks for base64 by default and reads it as little-endian float32.
        return base64.b64encode(vector.astype("<f4").tobytes()).decode("ascii")
    numbers: list[float] = vector.tolist()
    return numbers


def _wrong(parameter: str, message: str) -> ProblemError:
    return ProblemError(ProblemDetails.for_status(400, message, [ErrorItem(location=parameter, message=message)]))


def error_response(details: ProblemDetails) -> Response:
    """Return an error in OpenAI's shape."""
    # OpenAI answers every invalid request with 400.
    status = 400 if details.status == 422 else details.status
    kind = {429: "rate_limit_error"}.get(status, "invalid_request_error" if status < 500 else "server_error")
    error = {
        "message": details.detail,
        "type": kind,
        "param": details.errors[0].location if details.errors and status == 400 else None,
        "code": "invalid_api_key" if status == 401 else None,
    }
    return JSONResponse({"error": error}, status)
