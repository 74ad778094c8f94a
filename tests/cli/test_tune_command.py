"""`intentmatch tune`: the tables, the block, and what is written only when asked."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from intentmatch.cli.commands import cli
from intentmatch.registry import read_registry

YAML = """\
version: 1   # of the grammar

# The shop.
intents:
  status:
    utterances: [where is my order, 'track my parcel', has it been shipped yet]   # three
  cancel:
    utterances: [cancel my order, I do not want it any more, call off my purchase]
"""


@pytest.fixture
def shop(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "shop").mkdir()
    file = tmp_path / "shop" / "shop.yaml"
    file.write_text(YAML, encoding="utf-8")
    return file


def run(*words: str) -> Result:
    return CliRunner().invoke(cli, ["tune", *words], catch_exceptions=False)


def test_it_prints_and_leaves_everything_as_it_is(shop: Path) -> None:
    """Both tables, and YAML that can be pasted."""
    done = run("shop")

    assert (done.exit_code, done.stderr) == (0, "")
    for words in ("Tried, the best first", "What each target gives", "{false_accept: 0.05}", "one standard error"):
        assert words in done.stdout
    block = done.stdout.partition("\nsettings:\n")[2]
    assert block.startswith("  encoder: static  # tune: the only one tried\n")
    assert "  target: {precision: 0.95, give_up: 0.005}  # yours" in block
    assert shop.read_text(encoding="utf-8") == YAML


def test_it_writes_when_asked_and_nothing_the_second_time(shop: Path) -> None:
    """A diff first; comments, order and quotes stay; a target is never written."""
    done = run("shop", "--write")

    assert done.exit_code == 0
    assert "+++ shop/shop.yaml\n" in done.stdout
    assert done.stdout.endswith("shop/shop.yaml is written.\n")
    written = shop.read_text(encoding="utf-8")
    added = [line for line in written.splitlines() if line not in YAML.splitlines()]
    assert [line for line in written.splitlines() if line not in added] == YAML.splitlines()
    assert [line.split(":")[0].strip() for line in added] == ["settings", "encoder", "scorer", "aggregation"]
    assert set(read_registry("shop").settings) == {"encoder", "scorer", "aggregation"}

    assert run("shop", "--write").stdout.endswith("shop/shop.yaml says so already.\n")


def test_settings_go_where_settings_are(shop: Path) -> None:
    """Not into a second file."""
    settings = shop.with_name("settings.yaml")
    settings.write_text("settings:\n  aggregation: 'max'  # I know why\n", encoding="utf-8")

    assert run("shop", "--write").exit_code == 0

    assert shop.read_text(encoding="utf-8") == YAML
    text = settings.read_text(encoding="utf-8")
    assert "# I know why" in text
    assert "  encoder: static" in text


def test_of_several_files_one_is_to_be_named(shop: Path) -> None:
    """Before anything is tried."""
    other = shop.with_name("other.yaml")
    other.write_text("intents: {hello: {utterances: [hi, good day]}}\n", encoding="utf-8")

    vague = run("shop", "--write")
    assert vague.exit_code == 2
    assert "could go into shop/other.yaml or shop/shop.yaml: name one with --file" in vague.stderr

    assert run("shop", "--write", "--file", str(shop)).exit_code == 0
    assert "settings:" in shop.read_text(encoding="utf-8")
    assert "shop/shop.yaml has one of these settings already" in run("shop", "--write", "--file", str(other)).stderr


def test_another_encoder_can_be_tried(shop: Path) -> None:
    """Two names for one model: nothing to choose between them but time."""
    from intentmatch.encoders.tokenizer.embedded import EMBEDDED

    done = run("shop", "--encoder", f"static:{EMBEDDED}")

    assert done.exit_code == 0
    assert done.stdout.count(f"static:{EMBEDDED}") >= 4


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        (("--encoder", "nonsense"), 2, "unknown encoder 'nonsense'"),
        (("--encoder", "static:/no/such/folder"), 5, "is not a static model"),
        (("--file", "shop/shop.yaml"), 2, "--file goes with --write"),
        (("--write", "--file", "elsewhere.yaml"), 2, "elsewhere.yaml is not among the files of shop"),
        (("--set", "scorer=loud"), 2, "setting 'scorer' cannot be 'loud'"),
    ],
)
def test_mistakes_are_explained(shop: Path, words: tuple[str, ...], code: int, said: str) -> None:
    """With the code of their error."""
    Path("elsewhere.yaml").write_text(YAML)

    done = run("shop", *words)

    assert done.exit_code == code
    assert said in done.stderr
    assert shop.read_text(encoding="utf-8") == YAML


def test_an_artefact_is_no_yaml(shop: Path) -> None:
    """It says what to tune instead."""
    CliRunner().invoke(cli, ["build", "shop", "-o", "shop.intentmatch"], catch_exceptions=False)

    done = run("shop.intentmatch")

    assert done.exit_code == 2
    assert "tune the folder that it was built from" in done.stderr


def test_what_wins_over_the_file_is_said(shop: Path) -> None:
    """Writing a setting that the command line sets too changes nothing there."""
    done = run("shop", "--write", "--set", "aggregation=mean2")

    assert "aggregation comes from the argument here, which wins over the file" in done.stderr
