"""The OpenAPI document: complete, sound, and true."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from several_bots import write
from starlette.testclient import TestClient

from intentmatch import Matcher
from intentmatch.server import BotFolder, create_app
from intentmatch.server.routes.schemas.base import sendable
from intentmatch.server.routes.schemas.matches import MatchResponse

BODY = {"400", "401", "408", "413", "415", "422", "429", "503"}
ROUTES = {
    ("post", "/match"): {"200", *BODY},
    ("post", "/match/batch"): {"200", *BODY},
    ("post", "/fill"): {"200", *BODY},
    ("post", "/chat"): {"200", *BODY},
    ("post", "/feedback"): {"202", *BODY},
    ("get", "/intents"): {"200", "401", "429", "503"},
    ("post", "/reload"): {"200", "401", "403", "409", "413", "429", "503"},
    ("get", "/healthz"): {"200"},
    ("get", "/readyz"): {"200", "503"},
    ("get", "/version"): {"200", "401", "429"},
    ("get", "/metrics"): {"200", "401", "429"},
}


@pytest.fixture(scope="module")
def openapi(client: TestClient) -> dict[str, Any]:
    """The document as it is served."""
    return client.get("/openapi.json").json()


def test_every_route_is_described(openapi: dict[str, Any]) -> None:
    operations = {(verb, path): op for path, verbs in openapi["paths"].items() for verb, op in verbs.items()}
    assert {key: set(op["responses"]) for key, op in operations.items()} == ROUTES
    assert len({op["operationId"] for op in operations.values()}) == len(operations)
    for operation in operations.values():
        assert operation["summary"]
        assert operation["description"]


def test_errors_are_problem_details(openapi: dict[str, Any]) -> None:
    for path, verbs in openapi["paths"].items():
        for operation in verbs.values():
            for status, response in operation["responses"].items():
                if status in ("200", "202"):
                    assert list(response["content"]) == ["text/plain" if path == "/metrics" else "application/json"]
                else:
                    shape = {"schema": {"$ref": "#/components/schemas/ProblemDetails"}}
                    assert response["content"] == {"application/problem+json": shape}
                    assert response["description"]
    assert "HTTPValidationError" not in openapi["components"]["schemas"]


def test_refusal_of_the_character_0_is_described_where_a_path_has_a_name(tmp_path: Path) -> None:
    folder = write(tmp_path / "bots", "shop", "bank")
    options: Any = {"author_keys": ["*:anna=hers"], "admin_keys": ["*:root"], "authoring": True}
    app = create_app(BotFolder(folder, settings={"cache": "off"}), **options)
    operations = [(path, op) for path, verbs in app.openapi()["paths"].items() for op in verbs.values() if "{" in path]
    with TestClient(app) as client:
        answer = client.get("/bots/shop/intents/a%00b", headers={"X-API-Key": "hers"})

    assert answer.status_code == 400
    assert len(operations) > 10
    for path, operation in operations:
        response = operation["responses"]["400"]
        assert response["description"].lower().endswith(answer.json()["detail"].lower()), path
        schema = {"$ref": "#/components/schemas/ProblemDetails"}
        assert response["content"] == {"application/problem+json": {"schema": schema}}, path


def test_every_reference_resolves(openapi: dict[str, Any]) -> None:
    assert openapi["openapi"].startswith("3.1")
    assert openapi["info"]["title"] == "intentmatch"
    references = set(found(openapi, "$ref"))
    assert references
    assert {ref.removeprefix("#/components/schemas/") for ref in references} <= openapi["components"]["schemas"].keys()


def test_limits_are_documented(matcher: Matcher) -> None:
    """A second call gives the same document."""
    app = create_app(matcher, max_text=7, max_batch=3)
    models = app.openapi()["components"]["schemas"]
    assert models["FillRequest"]["properties"]["text"]["maxLength"] == 7
    assert models["MatchRequest"]["properties"]["text"]["anyOf"][0]["maxLength"] == 7
    texts = models["BatchRequest"]["properties"]["texts"]["anyOf"][0]
    assert (texts["minItems"], texts["maxItems"], texts["items"]["maxLength"]) == (1, 3, 7)
    assert models["MatchRequest"]["additionalProperties"] is False
    assert app.openapi() == app.openapi()


def test_response_model_equals_the_result(matcher: Matcher) -> None:
    """Key by key, so that neither can change alone."""
    for text in ("hello", "the price of tea", ""):
        result = matcher.match(text).to_dict()
        assert MatchResponse.from_result(matcher.match(text)).model_dump().keys() == result.keys()
        assert MatchResponse.model_validate(result).model_dump() == result


def test_only_unsendable_text_is_escaped() -> None:
    for text in ("", "ü", "\0", "👋", "a\\b"):
        assert sendable(text) == text
    assert sendable("a\udcffb") == "a\\udcffb"
    assert sendable(None) is None


def found(value: Any, key: str) -> Iterator[Any]:
    """Every value of a key, at any depth."""
    if isinstance(value, dict):
        if key in value:
            yield value[key]
        for inner in value.values():
            yield from found(inner, key)
    elif isinstance(value, list):
        for inner in value:
            yield from found(inner, key)
