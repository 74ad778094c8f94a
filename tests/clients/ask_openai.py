"""OpenAI's own client, for embeddings."""

from __future__ import annotations

import math
import sys
from importlib.metadata import version

import openai


def main(url: str, key: str) -> None:
    client = openai.OpenAI(base_url=f"{url}/v1", api_key=key, max_retries=0)
    texts = ["where is my order", "track my parcel"]
    packed = client.embeddings.create(model="any", input=texts)
    plain = client.embeddings.create(model="any", input=texts, encoding_format="float")
    assert (packed.model, packed.object, packed.usage.total_tokens) == ("any", "list", 7)
    for one, other in zip(packed.data, plain.data, strict=True):
        assert all(math.isclose(a, b, abs_tol=1e-7) for a, b in zip(one.embedding, other.embedding, strict=True))
    (model,) = client.models.list()
    assert client.models.retrieve(model.id) == model
    (short,) = client.embeddings.create(model="any", input="where is my order", dimensions=64).data
    assert len(short.embedding) == 64
    assert math.isclose(math.hypot(*short.embedding), 1, abs_tol=1e-5)
    try:
        client.embeddings.create(model="any", input=[[1, 2, 3]])
        raise AssertionError("it was not refused")
    except openai.BadRequestError as error:
        assert (error.param, error.type) == ("input", "invalid_request_error")
    try:
        openai.OpenAI(base_url=f"{url}/v1", api_key="wrong").embeddings.create(model="any", input="hello")
        raise AssertionError("it was not refused")
    except openai.AuthenticationError as error:
        assert error.code == "invalid_api_key"
    print(f"openai {version('openai')}: base64 and numbers, models, dimensions, tokens refused, a wrong key")


main(*sys.argv[1:])
