"""`intentmatch validate`."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from command_line import SHOP, run


def test_valid_registry_is_counted(shop: str) -> None:
    done = run("validate", shop)

    assert (done.exit_code, "2 intents, 8 utterances, languages: de en" in done.stdout) == (0, True)
    assert "no problems" in done.stdout


def test_warnings_exit_with_0(shop: str) -> None:
    Path(shop, "shop.yaml").write_text(SHOP + "  again: {utterances: [hello, Hello!]}\n", encoding="utf-8")

    done = run("validate", shop)

    assert (done.exit_code, "warning [duplicate-utterance]" in done.stdout) == (0, True)


def test_errors_exit_with_2(shop: str) -> None:
    Path(shop, "shop.yaml").write_text(SHOP + "  again: {utterances: [cancel my order]}\n", encoding="utf-8")

    done = run("validate", shop)

    assert (done.exit_code, "shop.yaml:11:24: error [conflicting-utterance]" in done.stdout) == (2, True)
    assert "1 error, 0 warnings" in done.stdout


@pytest.mark.parametrize("command", ["validate", "lint"])
def test_date_slot_without_its_extra_is_an_error_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, command: str
) -> None:
    """Two intents share the slot. `lint` has other findings, and other exit codes."""
    file = tmp_path / "dated.yaml"
    file.write_text(
        "slots:\n  day: {type: date}\n  unused: {type: datetime}\nintents:\n"
        "  book: {utterances: ['a table for {day}']}\n  move: {utterances: ['move it to {day}']}\n",
        encoding="utf-8",
    )
    assert "missing-extra" not in run(command, str(file)).stdout

    monkeypatch.setattr("intentmatch.core.plugins.installed", lambda module: module != "dateparser")
    done = run(command, str(file))

    assert done.exit_code in (1, 2)
    found = done.stdout[done.stdout.index(f"{file}:2:3: error [missing-extra] the slot 'day' of type date needs") :]
    assert found.splitlines()[1] == '  hint: run: pip install "intentmatch[dates]"'
    assert done.stdout.count("missing-extra") == 1


def test_github_annotations_escape_special_characters(shop: str) -> None:
    Path(shop, "shop.yaml").write_text('intents:\n  a: {utterances: ["100%\\nreal", "100% real"]}\n', encoding="utf-8")

    assert run("validate", shop, "--format", "github").stdout == (
        f"::warning file={shop}/shop.yaml,line=2,col=34,title=duplicate-utterance::"
        f"“100%25 real” is already at {shop}/shop.yaml:2%0Ahint: remove one of the two\n"
    )


def test_json_has_every_field_of_a_problem(shop: str) -> None:
    Path(shop, "shop.yaml").write_text('intents:\n  a: {utterances: ["100%\\nreal", "100% real"]}\n', encoding="utf-8")

    found = json.loads(run("validate", shop, "--format", "json").stdout)

    assert (found["ok"], found["intents"], found["utterances"]) == (True, 1, 2)
    assert found["problems"][0] == {
        "path": f"{shop}/shop.yaml", "line": 2, "column": 34, "severity": "warning", "rule": "duplicate-utterance",
        "message": f"“100% real” is already at {shop}/shop.yaml:2", "hint": "remove one of the two",
    }  # fmt: skip
