"""`intentmatch tune`."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from intentmatch.authoring.workspace import Workspace
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


def test_prints_tables_and_yaml_and_writes_nothing(shop: Path) -> None:
    done = run("shop")

    assert (done.exit_code, done.stderr) == (0, "")
    for words in ("Candidates, best first", "Effect of each target", "{false_accept: 0.05}", "one standard error"):
        assert words in done.stdout
    block = done.stdout.partition("\nsettings:\n")[2]
    assert block.startswith("  encoder: static  # tune: the only value tried\n")
    assert "  target: {precision: 0.95, give_up: 0.005}  # yours" in block
    assert shop.read_text(encoding="utf-8") == YAML


def test_write_changes_only_settings_and_nothing_the_second_time(shop: Path) -> None:
    """The diff is shown; comments, order and quotes stay; the target is never written."""
    done = run("shop", "--write")

    assert done.exit_code == 0
    assert "+++ shop/shop.yaml\n" in done.stdout
    assert done.stdout.endswith("shop/shop.yaml is written.\n")
    written = shop.read_text(encoding="utf-8")
    added = [line for line in written.splitlines() if line not in YAML.splitlines()]
    assert [line for line in written.splitlines() if line not in added] == YAML.splitlines()
    assert [line.split(":")[0].strip() for line in added] == ["settings", "encoder", "scorer", "aggregation"]
    assert set(read_registry("shop").settings) == {"encoder", "scorer", "aggregation"}

    assert run("shop", "--write").stdout.endswith("shop/shop.yaml has these settings already.\n")


def test_write_is_a_revision_once_a_history_has_begun(shop: Path) -> None:
    assert run("shop", "--write").exit_code == 0
    workspace = Workspace("shop")
    assert workspace.revisions() == []
    shop.write_text(YAML, encoding="utf-8")
    workspace.begin_history()

    assert run("shop", "--write").exit_code == 0
    newest, first = workspace.revisions()
    assert newest.note == "Write the settings that tune chose"
    assert newest.author is not None
    (changed,) = workspace.revision(newest.id)[1]
    assert "+  scorer: " in changed.diff
    assert workspace.audit()[0].revision == newest.id
    edits = workspace.restoring(first.id)
    workspace.write(edits, author="anna", note="", expected=workspace.digest())
    assert shop.read_text(encoding="utf-8") == YAML


def test_settings_are_written_to_the_file_that_has_settings(shop: Path) -> None:
    settings = shop.with_name("settings.yaml")
    settings.write_text("settings:\n  aggregation: 'max'  # I know why\n", encoding="utf-8")

    assert run("shop", "--write").exit_code == 0

    assert shop.read_text(encoding="utf-8") == YAML
    text = settings.read_text(encoding="utf-8")
    assert "# I know why" in text
    assert "  encoder: static" in text


def test_settings_of_several_files_go_to_the_first_one_without_any(shop: Path) -> None:
    other = shop.with_name("other.yaml")
    other.write_text("intents: {hello: {utterances: [hi, good day]}}\n", encoding="utf-8")

    done = run("shop", "--write")

    assert (done.exit_code, done.stdout.splitlines()[-1]) == (0, "shop/other.yaml is written.")
    assert set(read_registry("shop").settings) == {"encoder", "scorer", "aggregation"}
    assert shop.read_text(encoding="utf-8") == YAML
    assert run("shop", "--write").stdout.endswith("shop/other.yaml has these settings already.\n")


def test_each_setting_stays_in_its_file(shop: Path) -> None:
    """The settings that no file has go to the first file with one of the three."""
    first, second = shop.with_name("a.yaml"), shop.with_name("b.yaml")
    first.write_text("settings: {target: {precision: 0.9}}\n", encoding="utf-8")
    second.write_text("settings:\n  scorer: head  # mine\n", encoding="utf-8")
    shop.write_text(f"settings:\n  aggregation: mean2\n{YAML}", encoding="utf-8")

    done = run("shop", "--write")

    assert done.exit_code == 0
    places = {name: Path(place.path).name for name, place in read_registry("shop").setting_locations.items()}
    assert places == {"target": "a.yaml", "encoder": "b.yaml", "scorer": "b.yaml", "aggregation": "shop.yaml"}
    assert first.read_text(encoding="utf-8") == "settings: {target: {precision: 0.9}}\n"
    assert "# mine" in second.read_text(encoding="utf-8")
    again = run("shop", "--write").stdout.splitlines()[-1]
    assert again == "shop/b.yaml and shop/shop.yaml have these settings already."


def test_new_settings_go_to_the_file_with_other_settings(shop: Path) -> None:
    shop.with_name("a.yaml").write_text("intents: {hello: {utterances: [hi, good day]}}\n", encoding="utf-8")
    shop.write_text(f"settings: {{target: {{precision: 0.9}}}}\n{YAML}", encoding="utf-8")

    assert run("shop", "--write").stdout.splitlines()[-1] == "shop/shop.yaml is written."


def test_named_file_gets_the_settings_unless_another_has_one(shop: Path) -> None:
    other = shop.with_name("other.yaml")
    other.write_text("intents: {hello: {utterances: [hi, good day]}}\n", encoding="utf-8")

    assert run("shop", "--write", "--file", str(shop)).exit_code == 0
    assert "settings:" in shop.read_text(encoding="utf-8")
    assert "shop/shop.yaml has one of these settings already" in run("shop", "--write", "--file", str(other)).stderr


def test_encoder_option_adds_a_candidate(shop: Path) -> None:
    """Here a second name of the same model."""
    from intentmatch.pieces.embedded import EMBEDDED

    done = run("shop", "--encoder", f"static:{EMBEDDED}")

    assert done.exit_code == 0
    assert done.stdout.count(f"static:{EMBEDDED}") >= 4


@pytest.mark.parametrize(
    ("words", "code", "message"),
    [
        (("--encoder", "nonsense"), 2, "unknown encoder 'nonsense'"),
        (("--encoder", "static:/no/such/folder"), 5, "is not a static model"),
        (("--file", "shop/shop.yaml"), 2, "--file needs --write"),
        (("--write", "--file", "elsewhere.yaml"), 2, "elsewhere.yaml is not among the files of shop"),
        (("--set", "scorer=loud"), 2, "setting 'scorer' cannot be 'loud'"),
    ],
)
def test_invalid_input_is_explained_with_its_exit_code(
    shop: Path, words: tuple[str, ...], code: int, message: str
) -> None:
    Path("elsewhere.yaml").write_text(YAML)

    done = run("shop", *words)

    assert done.exit_code == code
    assert message in done.stderr
    assert shop.read_text(encoding="utf-8") == YAML


def test_artefact_is_refused_with_a_hint(shop: Path) -> None:
    CliRunner().invoke(cli, ["build", "shop", "-o", "shop.intentmatch"], catch_exceptions=False)

    done = run("shop.intentmatch")

    assert done.exit_code == 2
    assert "tune the folder that the artefact was built from" in done.stderr


def test_write_notes_settings_that_override_the_file(shop: Path) -> None:
    done = run("shop", "--write", "--set", "aggregation=mean2")

    assert "aggregation is set by the argument, which overrides the file" in done.stderr
