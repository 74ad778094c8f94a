"""OpenAI's embeddings, held against its documentation."""

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


def test_a_text_is_embedded_by_the_encoder_in_use(speaker: TestClient, bot: Matcher) -> None:
    """The documented shape; the model's name comes back as it was sent, and words are counted."""
    answer = embedded(speaker, "where is my order")
    (data,) = answer.pop("data")
    assert answer == {
        "object": "list",
        "model": "text-embedding-3-small",
        "usage": {"prompt_tokens": 4, "total_tokens": 4},
    }
    assert (data["object"], data["index"]) == ("embedding", 0)
    np.testing.assert_allclose(data["embedding"], bot.encoder.encode(["where is my order"])[0], atol=1e-6)


def test_texts_are_embedded_in_their_order(speaker: TestClient, bot: Matcher) -> None:
    """A list gives a list, and a text alone the same as in company."""
    texts = ["hello", "wo ist mein Paket", "hello"]
    answer = embedded(speaker, texts)
    assert [data["index"] for data in answer["data"]] == [0, 1, 2]
    np.testing.assert_allclose([data["embedding"] for data in answer["data"]], bot.encoder.encode(texts), atol=1e-6)
    assert answer["usage"]["total_tokens"] == 6


def test_base64_holds_the_same_numbers(speaker: TestClient) -> None:
    """Little-endian float32, as OpenAI's own client reads it."""
    (plain,) = embedded(speaker, "hello", encoding_format="float")["data"]
    (packed,) = embedded(speaker, "hello", encoding_format="base64")["data"]
    numbers = np.frombuffer(base64.b64decode(packed["embedding"]), dtype="<f4")
    np.testing.assert_array_equal(numbers, np.array(plain["embedding"], dtype=np.float32))


@pytest.mark.parametrize("dimensions", [1, 64, 256])
def test_the_first_numbers_are_a_vector_too(speaker: TestClient, bot: Matcher, dimensions: int) -> None:
    """They are cut and scaled to unit length."""
    (data,) = embedded(speaker, "where is my order", dimensions=dimensions)["data"]
    first = bot.encoder.encode(["where is my order"])[0, :dimensions]
    np.testing.assert_allclose(data["embedding"], first / np.linalg.norm(first), atol=1e-6)


@pytest.mark.parametrize("options", [{}, {"dimensions": 8}])
def test_what_says_nothing_stays_zeros(speaker: TestClient, options: dict) -> None:
    """A text that the encoder knows nothing of has no direction to be scaled."""
    (data,) = embedded(speaker, "\0", **options)["data"]
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
def test_what_is_wrong_is_named(speaker: TestClient, change: dict, parameter: str) -> None:
    """In OpenAI's shape, with the parameter."""
    answer = speaker.post(URL, json={"model": "m", "input": "a", **change})
    error = answer.json()["error"]
    assert answer.status_code == 400
    assert error.keys() == {"message", "type", "param", "code"}
    assert (error["type"], error["param"].split(".")[0]) == ("invalid_request_error", parameter)


def test_tokens_are_refused_with_the_reason(speaker: TestClient) -> None:
    """Those who count on tokens of another model have to be told."""
    message = speaker.post(URL, json={"model": "m", "input": [[1, 2]]}).json()["error"]["message"]
    assert message == "The encoder in use does not accept tokens; send text."


def test_vectors_that_cannot_be_cut_are_not() -> None:
    """An encoder has to say that its first numbers are worth something on their own."""
    speaking = client(Matcher.load(REGISTRY, encoder=WordHashEncoder(), cache="off"))
    answer = speaking.post(URL, json={"model": "m", "input": "a", "dimensions": 8})
    assert (answer.status_code, answer.json()["error"]["param"]) == (400, "dimensions")
    assert "cannot be shortened" in answer.json()["error"]["message"]
    assert len(embedded(speaking, "a", dimensions=64)["data"][0]["embedding"]) == 64


def test_a_key_opens(guarded: TestClient) -> None:
    """As a bearer token; without it the error is the one that OpenAI's client knows."""
    body = {"model": "m", "input": "a"}
    assert guarded.post(URL, json=body, headers={"authorization": f"Bearer {KEY}"}).status_code == 200
    for headers in ({}, {"authorization": "Bearer wrong"}, {"authorization": KEY}):
        answer = guarded.post(URL, json=body, headers=headers)
        assert (answer.status_code, answer.json()["error"]["code"]) == (401, "invalid_api_key")
