"""`intentmatch lint`."""

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
    """The name of a folder in the working directory."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "shop").mkdir()
    (tmp_path / "shop" / "shop.yaml").write_text(YAML, encoding="utf-8")
    return "shop"


def run(*words: str) -> Result:
    return CliRunner().invoke(cli, ["lint", *words], catch_exceptions=False)


def test_prints_problems_language_table_and_summary(shop: str) -> None:
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


def test_prints_no_language_table_for_one_language(shop: str) -> None:
    Path(shop, "shop.yaml").write_text("intents: {a: {utterances: {en: [one thing, other words, third]}}}")

    assert run(shop).stdout == "no problems\n"
    Path(shop, "shop.yaml").write_text("intents: {a: {utterances: {en: [one]}}} # lint: ignore few-utterances")
    assert run(shop).stdout == "no problems (1 ignored)\n"


def test_prints_overlapping_intents_in_table_and_json(shop: str) -> None:
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
def test_fail_on_chooses_the_exit_code_in_every_format(shop: str, fail_on: str | None, code: int) -> None:
    words = ["--fail-on", fail_on] if fail_on else []
    for form in ("human", "github", "json", "sarif"):
        assert run(shop, "--format", form, *words).exit_code == code


def test_errors_of_validate_are_findings(shop: str) -> None:
    """They have the exit code for findings, and `--fail-on never` applies to them."""
    Path(shop, "more.yaml").write_text("intents: {a: {utterances: ['?']}}", encoding="utf-8")

    assert run(shop).exit_code == 1
    assert run(shop, "--fail-on", "never").exit_code == 0
    assert "[empty-utterance]" in run(shop).stdout


def test_json_is_one_line_with_problems_coverage_and_overlaps(shop: str) -> None:
    answer = json.loads(run(shop, "--format", "json", "--fail-on", "warning").stdout)

    assert answer["ok"] is False
    assert (answer["intents"], answer["utterances"], answer["languages"]) == (2, 6, ["de", "en"])
    assert answer["coverage"] == {"status": {"de": 2, "en": 3}, "cancel": {"de": 0, "en": 1}}
    assert (answer["overlaps"], answer["ignored"]) == ([], 0)
    (problem,) = answer["problems"]
    assert (problem["path"], problem["line"], problem["column"]) == ("shop/shop.yaml", 6, 3)
    assert (problem["rule"], problem["severity"]) == ("few-utterances", "warning")


def test_github_format_prints_only_annotations(shop: str) -> None:
    """The severity info is GitHub's notice."""
    done = run(shop, "--format", "github", "--set", "lint=few-utterances=info")

    assert done.stdout.startswith("::notice file=shop/shop.yaml,line=6,col=3,title=few-utterances::")
    assert len(done.stdout.splitlines()) == 1


def test_sarif_is_one_line_with_relative_paths(shop: str) -> None:
    log = json.loads(run(shop, "--format", "sarif").stdout)
    (result,) = log["runs"][0]["results"]

    assert result["ruleId"] == "few-utterances"
    assert result["locations"][0]["physicalLocation"]["artifactLocation"] == {"uri": "shop/shop.yaml"}


def test_rules_are_listed_without_reading_intents() -> None:
    done = run("--rules", "nowhere")

    assert done.exit_code == 0
    assert [line.split()[0] for line in done.stdout.splitlines()[1:]] == list(CATALOGUE)


def test_invalid_settings_exit_with_their_own_code(shop: str) -> None:
    assert run(shop, "--set", "lint=few-utterances=loud").exit_code == 2
    assert run(shop, "--set", "encoder=nonsense").exit_code == 2


def test_main_and_command_list_include_lint() -> None:
    assert callable(main)
    assert "lint" in cli.list_commands(click.Context(cli))


DOUBLE = YAML.replace("track my parcel,", "track my parcel, Track my parcel!,")


@pytest.fixture
def double(shop: str) -> str:
    Path(shop, "shop.yaml").write_text(DOUBLE, encoding="utf-8")
    return shop


def test_fix_shows_the_change_writes_it_and_reports_the_rest(double: str) -> None:
    done = run(double, "--fix", "--yes")

    assert done.exit_code == 0
    assert "\n+      en: [where is my order, track my parcel, has it been shipped yet]\n" in done.stdout
    assert "shop/shop.yaml is written.\n\nshop/shop.yaml:6:3: warning [few-utterances]" in done.stdout
    assert "duplicate-utterance" not in done.stdout
    assert Path(double, "shop.yaml").read_text(encoding="utf-8") == YAML


def test_fix_as_dry_run_writes_nothing_and_reports_all(double: str) -> None:
    done = run(double, "--fix", "--dry-run")

    assert "\n-      en: [where is my order, track my parcel, Track my parcel!," in done.stdout
    assert "warning [duplicate-utterance]" in done.stdout
    assert Path(double, "shop.yaml").read_text(encoding="utf-8") == DOUBLE


def test_fix_without_a_terminal_needs_yes(double: str, monkeypatch, capsys) -> None:
    monkeypatch.setattr("sys.argv", ["intentmatch", "lint", double, "--fix"])

    with pytest.raises(SystemExit) as raised:
        main()

    assert raised.value.code == 2
    assert "add --yes" in capsys.readouterr().err
    assert Path(double, "shop.yaml").read_text(encoding="utf-8") == DOUBLE


def test_fix_of_nothing_says_so(shop: str) -> None:
    done = run(shop, "--fix", "--yes")

    assert done.stdout.startswith("Nothing to fix without a decision of yours.\n")
    assert "few-utterances" in done.stdout


def test_fix_respects_a_suppression(double: str) -> None:
    text = "# lint: ignore-file duplicate-utterance\n" + DOUBLE
    Path(double, "shop.yaml").write_text(text, encoding="utf-8")

    assert "Nothing to fix" in run(double, "--fix", "--yes").stdout
    assert Path(double, "shop.yaml").read_text(encoding="utf-8") == text


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--yes"], "need --fix"),
        (["--dry-run"], "need --fix"),
        (["--fix", "--format", "sarif"], "choose full or concise"),
    ],
)
def test_options_of_fix_belong_together(shop: str, words, message) -> None:
    done = run(shop, *words)

    assert (done.exit_code, message in done.stderr) == (2, True)
