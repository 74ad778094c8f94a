"""`intentmatch lint`, run in-process."""

from __future__ import annotations

import json
from pathlib import Path

import click
import pytest
from click.testing import CliRunner, Result

from intentmatch.cli import main
from intentmatch.cli.commands import cli
from intentmatch.lint import CATALOGUE

YAML = """\
intents:
  status:
    utterances:
      en: [where is my order, track my parcel, has it been shipped yet]
      de: [wo ist meine Bestellung, wann kommt mein Paket]
  cancel:
    utterances: {en: [cancel my order]}
"""


@pytest.fixture
def shop(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """The name of a folder below the working directory."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "shop").mkdir()
    (tmp_path / "shop" / "shop.yaml").write_text(YAML, encoding="utf-8")
    return "shop"


def run(*words: str) -> Result:
    return CliRunner().invoke(cli, ["lint", *words], catch_exceptions=False)


def test_shows_problems_the_matrix_and_a_summary(shop: str) -> None:
    """Each problem with place and hint; intents by languages with a dash for nothing; then the counts."""
    done = run(shop)

    assert done.exit_code == 0
    assert done.stdout.splitlines() == [
        "shop/shop.yaml:6:3: warning [few-utterances] 'cancel' has 1 utterance; the median of this registry's intents "
        "is 3",
        "  hint: add other ways to say it, with other words",
        "",
        "  utterances  de  en",
        "  status      2   3",
        "  cancel      -   1",
        "",
        "0 errors, 1 warning, 0 notes",
    ]
    assert done.stderr == ""


def test_shows_no_matrix_of_one_language(shop: str) -> None:
    """And says so when all is well."""
    Path(shop, "shop.yaml").write_text("intents: {a: {utterances: {en: [one thing, other words, third]}}}")

    assert run(shop).stdout == "no problems\n"
    Path(shop, "shop.yaml").write_text("intents: {a: {utterances: {en: [one]}}} # lint: ignore few-utterances")
    assert run(shop).stdout == "no problems (1 ignored)\n"


def test_shows_the_intents_that_overlap(shop: str) -> None:
    """The pair that costs most comes first, in the table as in the JSON."""
    mixed = ["where is my order", "where is my parcel", "where is the order", "where is the parcel now"]
    more = ["where is my big order", "where is my big parcel", "where is the other order", "where is that parcel now"]
    Path(shop, "shop.yaml").write_text(f"intents: {{a: {{utterances: {mixed}}}, b: {{utterances: {more}}}}}")

    human, machine = run(shop), json.loads(run(shop, "--format", "json").stdout)

    assert "  a            b    " in human.stdout
    (pair,) = machine["overlaps"]
    assert pair["intents"] == ["a", "b"]
    assert (pair["errors"] >= 3, pair["utterances"]) == (True, 8)
    assert all(line["location"] == "shop/shop.yaml:1" for line in pair["worst"])


@pytest.mark.parametrize(("fail_on", "code"), [(None, 0), ("error", 0), ("warning", 1), ("info", 1), ("never", 0)])
def test_fails_from_a_chosen_severity_on(shop: str, fail_on: str | None, code: int) -> None:
    """In every format alike."""
    words = ["--fail-on", fail_on] if fail_on else []
    for form in ("human", "github", "json", "sarif"):
        assert run(shop, "--format", form, *words).exit_code == code


def test_fails_on_what_validate_finds(shop: str) -> None:
    """An error of the YAML is an error here, with the exit code for findings; `never` is never."""
    Path(shop, "more.yaml").write_text("intents: {a: {utterances: ['?']}}", encoding="utf-8")

    assert run(shop).exit_code == 1
    assert run(shop, "--fail-on", "never").exit_code == 0
    assert "[empty-utterance]" in run(shop).stdout


def test_speaks_json(shop: str) -> None:
    """One line: problems as in `validate`, the matrix, the overlaps."""
    answer = json.loads(run(shop, "--format", "json", "--fail-on", "warning").stdout)

    assert answer["ok"] is False
    assert (answer["intents"], answer["utterances"], answer["languages"]) == (2, 6, ["de", "en"])
    assert answer["coverage"] == {"status": {"de": 2, "en": 3}, "cancel": {"de": 0, "en": 1}}
    assert (answer["overlaps"], answer["ignored"]) == ([], 0)
    (problem,) = answer["problems"]
    assert (problem["path"], problem["line"], problem["column"]) == ("shop/shop.yaml", 6, 3)
    assert (problem["rule"], problem["severity"]) == ("few-utterances", "warning")


def test_annotates_a_pull_request(shop: str) -> None:
    """What is info here is a notice there, and nothing but annotations is printed."""
    done = run(shop, "--format", "github", "--set", "lint=few-utterances=info")

    assert done.stdout.startswith("::notice file=shop/shop.yaml,line=6,col=3,title=few-utterances::")
    assert len(done.stdout.splitlines()) == 1


def test_writes_sarif_with_relative_places(shop: str) -> None:
    """Whole and on one line."""
    log = json.loads(run(shop, "--format", "sarif").stdout)
    (result,) = log["runs"][0]["results"]

    assert result["ruleId"] == "few-utterances"
    assert result["locations"][0]["physicalLocation"]["artifactLocation"] == {"uri": "shop/shop.yaml"}


def test_lists_its_rules() -> None:
    """Each with severity and a line, without looking at any intents."""
    done = run("--rules", "nowhere")

    assert done.exit_code == 0
    assert [line.split()[0] for line in done.stdout.splitlines()[1:]] == list(CATALOGUE)


def test_settings_that_cannot_be_keep_it_from_running(shop: str) -> None:
    """With the exit code of their own error, not that of findings."""
    assert run(shop, "--set", "lint=few-utterances=loud").exit_code == 2
    assert run(shop, "--set", "encoder=nonsense").exit_code == 2


def test_the_command_line_has_it() -> None:
    """Whichever door one comes in by."""
    assert callable(main)
    assert "lint" in cli.list_commands(click.Context(cli))
