"""SARIF 2.1.0, as GitHub code scanning reads it."""

from __future__ import annotations

import json

from intentmatch.core.errors import Location, Problem
from intentmatch.lint import CATALOGUE, to_sarif

PROBLEMS = [
    Problem(Location("my intents/für.yaml", 4, 7), "error", "no-utterances", "nothing there", "add some"),
    Problem(Location("/tmp/a.yaml", 5), "warning", "few-utterances", "too few"),
    Problem(Location("a\udcff.yaml"), "info", "near-duplicate", "again", "remove it"),
]


def test_log_has_one_run_that_describes_every_rule():
    log = to_sarif(PROBLEMS, "1.2.3")
    (run,) = log["runs"]
    driver = run["tool"]["driver"]

    assert (log["version"], log["$schema"]) == ("2.1.0", "https://json.schemastore.org/sarif-2.1.0.json")
    assert (driver["name"], driver["semanticVersion"]) == ("intentmatch", "1.2.3")
    assert [rule["id"] for rule in driver["rules"]] == list(CATALOGUE)
    assert all(rule["shortDescription"]["text"] for rule in driver["rules"])
    assert {rule["defaultConfiguration"]["level"] for rule in driver["rules"]} == {"error", "warning", "note"}
    assert not any("helpUri" in rule for rule in driver["rules"])


def test_each_problem_is_a_result_with_message_hint_and_place():
    results = to_sarif(PROBLEMS, "1.2.3")["runs"][0]["results"]

    assert results[0] == {
        "ruleId": "no-utterances",
        "ruleIndex": list(CATALOGUE).index("no-utterances"),
        "level": "error",
        "message": {"text": "nothing there\nadd some"},
        "locations": [
            {
                "physicalLocation": {
                    "artifactLocation": {"uri": "my%20intents/f%C3%BCr.yaml"},
                    "region": {"startLine": 4, "startColumn": 7},
                }
            }
        ],
    }
    assert [result["level"] for result in results] == ["error", "warning", "note"]
    assert results[1]["message"]["text"] == "too few"


def test_relative_paths_stay_relative_uris():
    """Code scanning resolves them against the repository."""
    results = to_sarif(PROBLEMS, "1")["runs"][0]["results"]
    uris = [r["locations"][0]["physicalLocation"]["artifactLocation"]["uri"] for r in results]

    assert uris[1] == "file:///tmp/a.yaml"
    assert not uris[0].startswith(("/", "file:"))
    assert all(uri.isascii() for uri in uris)


def test_log_without_problems_is_plain_json():
    assert json.loads(json.dumps(to_sarif([], "1")))["runs"][0]["results"] == []
