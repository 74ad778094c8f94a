"""Mistakes in files of routes, for each format with routes or with intents that are written alike."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import yaml

from intentmatch import formats

FORMATS = yaml.safe_load(Path(__file__).with_name("route_mistakes.yaml").read_text(encoding="utf-8"))


@pytest.mark.parametrize(
    ("name", "item", "message"), [(name, *case) for name, given in FORMATS.items() for case in given["mistakes"]]
)
def test_mistake_is_reported_with_its_location(tmp_path: Path, name: str, item: dict[str, Any], message: str) -> None:
    """And does not affect what is right."""
    content, items = FORMATS[name]["file"], FORMATS[name]["list"]
    file = tmp_path / "router.json"
    file.write_text(json.dumps({**content, items: [*content[items], item]}, indent=1), encoding="utf-8")
    found = formats.read(file)
    lines = found.registry[content[items][0]["name"]].utterances

    assert found.format == name
    assert [line.text for line in lines] == FORMATS[name]["lines"]
    assert [problem.message for problem in found.problems] == [message]
    location = found.problems[0].location
    assert location.path.endswith("router.json")
    assert location.line > lines[-1].location.line
    assert location.column > 1
