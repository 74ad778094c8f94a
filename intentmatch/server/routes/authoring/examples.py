"""Examples of requests and responses for the OpenAPI document, from a file of real ones."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any

FILE = Path(__file__).with_name("examples.json")


@cache
def examples() -> dict[str, Any]:
    """Return the examples by the name of the call: `requests` by what they do, and a `response`."""
    return dict(json.loads(FILE.read_text(encoding="utf-8")))


def add_examples(document: dict[str, Any]) -> None:
    """Write the examples into an OpenAPI document, at the calls that it has."""
    for operations in document["paths"].values():
        for operation in operations.values():
            found = examples().get(operation.get("operationId", ""))
            if found is None or operation.get("tags") != ["authoring"]:
                continue
            for content in operation.get("requestBody", {}).get("content", {}).values():
                content["examples"] = {title: {"value": value} for title, value in found["requests"].items()}
            for status, response in operation["responses"].items():
                if status.startswith("2"):
                    for content in response.get("content", {}).values():
                        content["example"] = found["response"]
