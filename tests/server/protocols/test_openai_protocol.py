"""OpenAI's embeddings API, checked against its documentation."""

from __future__ import annotations

import base64
from typing import Any

import numpy as np
import pytest
from fakes import WordHashEncoder
from speaking import KEY, REGISTRY, client
from starlette.testclient import TestClient

from intentmatch import Matcher

URL = "/v1/embeddings"


def embedded(client: TestClient, given: Any, **options: Any) -> dict:
    """The whole response."""
    answer = client.post(URL, json={"model": "text-embedding-3-small", "input": given, **options})
    assert answer.status_code == 200
    return answer.json()


def test_response_has_the_documented_shape(protocol_client: TestClient, bot: Matcher) -> None:
    """The model name is echoed, and words are counted as tokens."""
    answer = embedded(protocol_client, "where is my order")
    (data,) = answer.pop("data")
    assert answer == {
        "object": "list",
        "model": "text-embedding-3-small",
        "usage": {"prompt_tokens": 4, "total_tokens": 4},
    }
    assert (data["object"], data["index"]) == ("embedding", 0)
    np.testing.assert_allclose(data["embedding"], bot.encoder.encode(["where is my order"])[0], atol=1e-6)


def test_texts_keep_their_order(protocol_client: TestClient, bot: Matcher) -> None:
    """Alone or in a list, a text has the same vector."""
    texts = ["hello", "wo ist mein Paket", "hello"]
    answer = embedded(protocol_client, texts)
    assert [data["index"] for data in answer["data"]] == [0, 1, 2]
    np.testing.assert_allclose([data["embedding"] for data in answer["data"]], bot.encoder.encode(texts), atol=1e-6)
    assert answer["usage"]["total_tokens"] == 6


def test_base64_is_little_endian_float32(protocol_client: TestClient) -> None:
    (plain,) = embedded(protocol_client, "hello", encoding_format="float")["data"]
    (packed,) = embedded(protocol_client, "hello", encoding_format="base64")["data"]
    numbers = np.frombuffer(base64.b64decode(packed["embedding"]), dtype="<f4")
    np.testing.assert_array_equal(numbers, np.array(plain["embedding"], dtype=np.float32))


@pytest.mark.parametrize("dimensions", [1, 64, 256])
def test_dimensions_shorten_and_normalize(protocol_client: TestClient, bot: Matcher, dimensions: int) -> None:
    (data,) = embedded(protocol_client, "where is my order", dimensions=dimensions)["data"]
    first = bot.encoder.encode(["where is my order"])[0, :dimensions]
    np.testing.assert_allclose(data["embedding"], first / np.linalg.norm(first), atol=1e-6)


@pytest.mark.parametrize("options", [{}, {"dimensions": 8}])
def test_unknown_text_stays_zeros(protocol_client: TestClient, options: dict) -> None:
    (data,) = embedded(protocol_client, "\0", **options)["data"]
    assert set(data["embedding"]) == {0.0}


@pytest.mark.parametrize(
    ("change", "parameter"),
    [
        ({"input": None}, "input"),
        ({"input": []}, "input"),
        ({"input": ""}, "input"),
        ({"input": ["a", ""]}, "input"),
        ({"input": [1, 2, 3]}, "input"),
        ({"input": [[1, 2], [3]]}, "input"),
        ({"input": [1.5]}, "input"),
        ({"input": [None]}, "input"),
        ({"input": {"text": "a"}}, "input"),
        ({"input": ["a"] * 257}, "input"),
        ({"model": 5}, "model"),
        ({"dimensions": 0}, "dimensions"),
        ({"dimensions": -1}, "dimensions"),
        ({"dimensions": 257}, "dimensions"),
        ({"dimensions": 10**30}, "dimensions"),
        ({"dimensions": "8"}, "dimensions"),
        ({"encoding_format": "int8"}, "encoding_format"),
    ],
)
def test_mistakes_name_the_parameter(protocol_client: TestClient, change: dict, parameter: str) -> None:
    answer = protocol_client.post(URL, json={"model": "m", "input": "a", **change})
    error = answer.json()["error"]
    assert answer.status_code == 400
    assert error.keys() == {"message", "type", "param", "code"}
    assert (error["type"], error["param"].split(".")[0]) == ("invalid_request_error", parameter)


def test_tokens_are_refused(protocol_client: TestClient) -> None:
    message = protocol_client.post(URL, json={"model": "m", "input": [[1, 2]]}).json()["error"]["message"]
    assert message == "The encoder in use does not accept tokens; send text."


def test_dimensions_are_refused_if_the_encoder_is_not_nested() -> None:
    caller = client(Matcher.load(REGISTRY, encoder=WordHashEncoder(), cache="off"))
    answer = caller.post(URL, json={"model": "m", "input": "a", "dimensions": 8})
    assert (answer.status_code, answer.json()["error"]["param"]) == (400, "dimensions")
    assert "cannot be shortened" in answer.json()["error"]["message"]
    assert len(embedded(caller, "a", dimensions=64)["data"][0]["embedding"]) == 64


def test_bearer_key_is_accepted(guarded: TestClient) -> None:
    body = {"model": "m", "input": "a"}
    assert guarded.post(URL, json=body, headers={"authorization": f"Bearer {KEY}"}).status_code == 200
    for headers in ({}, {"authorization": "Bearer wrong"}, {"authorization": KEY}):
        answer = guarded.post(URL, json=body, headers=headers)
        assert (answer.status_code, answer.json()["error"]["code"]) == (401, "invalid_api_key")


def test_encoder_in_use_is_the_only_model(protocol_client: TestClient, bot: Matcher) -> None:
    """Clients list models to fill a menu, or look up the one that they are configured with."""
    model = {"id": bot.encoder.name, "object": "model", "created": 0, "owned_by": "intentmatch"}
    listed = protocol_client.get("/v1/models").json()
    assert (listed["object"], listed["data"]) == ("list", [model])
    assert protocol_client.get(f"/v1/models/{bot.encoder.name}").json() == model
    unknown = protocol_client.get("/v1/models/org/another")
    assert unknown.status_code == 404
    assert unknown.json()["error"]["message"].startswith("The model 'org/another' does not exist")


@pytest.mark.parametrize("path", ["/v1/models", "/v1/models/any"])
def test_models_need_the_key(guarded: TestClient, path: str) -> None:
    assert guarded.get(path).json()["error"]["code"] == "invalid_api_key"
    assert guarded.get(path, headers={"authorization": f"Bearer {KEY}"}).status_code in (200, 404)
