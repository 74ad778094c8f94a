"""Convert problems to SARIF 2.1.0, which GitHub code scanning and many editors read.

OASIS 2020, "Static Analysis Results Interchange Format (SARIF) Version 2.1.0".
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import PurePath
from typing import Any
from urllib.parse import quote

from intentmatch.core.errors import Problem
from intentmatch.lint.catalogue import CATALOGUE

_SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"
_LEVELS = {"error": "error", "warning": "warning", "info": "note"}


def to_sarif(problems: Sequence[Problem], version: str) -> dict[str, Any]:
    """Return a SARIF log of problems as plain JSON values; `version` is that of intentmatch."""
    positions = {rule: number for number, rule in enumerate(CATALOGUE)}
    rules = [
        {
            "id": rule.id,
            "shortDescription": {"text": rule.says},
            "defaultConfiguration": {"level": _LEVELS[rule.severity]},
        }
        for rule in CATALOGUE.values()
    ]
    driver = {"name": "intentmatch", "semanticVersion": version, "rules": rules}
    results = [_result(problem, positions) for problem in problems]
    return {
        "$schema": _SCHEMA,
        "version": "2.1.0",
        # The reader of the YAML counts columns in characters.
        "runs": [{"tool": {"driver": driver}, "columnKind": "unicodeCodePoints", "results": results}],
    }


def _result(problem: Problem, positions: Mapping[str, int]) -> dict[str, Any]:
    place = problem.location
    region = {"startLine": place.line, "startColumn": place.column}
    return {
        "ruleId": problem.rule,
        "ruleIndex": positions[problem.rule],
        "level": _LEVELS[problem.severity],
        "message": {"text": problem.message + (f"\n{problem.hint}" if problem.hint else "")},
        "locations": [{"physicalLocation": {"artifactLocation": {"uri": _uri(place.path)}, "region": region}}],
    }


def _uri(path: str) -> str:
    """Return a path as a URI reference; a relative path stays relative."""
    pure = PurePath(path)
    return pure.as_uri() if pure.is_absolute() else quote(pure.as_posix().encode("utf-8", "surrogateescape"))
