"""Reading earlier commits through git: parsing of refs, export, and errors."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest

from intentmatch.core.errors import InputError, RegistryError, UnavailableError
from intentmatch.evaluation.compare.gitref import GitRef, export, parse_sides
from intentmatch.evaluation.compare.sides import load_side
from intentmatch.registry import read_registry

YAML = "intents:\n  a: {utterances: [one thing, other words], not: [third]}\ntests:\n  - {text: x, intent: a}\n"


def git(folder: Path, *words: str) -> str:
    return subprocess.run(
        ["git", "-c", "user.name=n", "-c", "user.email=n@example.org", *words], cwd=folder, check=True,
        capture_output=True, text=True,
    ).stdout  # fmt: skip


@pytest.fixture
def clone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A repository with one commit, as the working directory."""
    folder = tmp_path / "clone"
    (folder / "shop" / "more").mkdir(parents=True)
    git(folder, "init", "-q")
    (folder / "shop" / "shop.yaml").write_text(YAML, encoding="utf-8")
    (folder / "shop" / "more" / "b.yml").write_text("intents: {b: {utterances: [what else]}}\n", encoding="utf-8")
    (folder / "shop" / "notes.txt").write_text("no intents", encoding="utf-8")
    git(folder, "add", ".")
    git(folder, "commit", "-qm", "first")
    git(folder, "tag", "v1")
    monkeypatch.chdir(folder)
    return folder


@pytest.mark.parametrize(
    ("words", "sides"),
    [
        (("v1",), (GitRef("v1", "intents"), "intents")),
        (("v1:shop/",), (GitRef("v1", "shop/"), "shop/")),
        (("v1", "shop"), (GitRef("v1", "shop"), "shop")),
        (("shop", "v1"), ("shop", GitRef("v1", "shop"))),
        (("v1", "v2:other"), (GitRef("v1", "other"), GitRef("v2", "other"))),
        (("origin/main", "HEAD"), (GitRef("origin/main", "intents"), GitRef("HEAD", "intents"))),
        (("shop", "gone/"), ("shop", "gone/")),
        (("shop", "gone.yaml"), ("shop", "gone.yaml")),
        (("shop",), ("shop", "intents")),
        (("v1:", "shop"), (GitRef("v1", "."), "shop")),
        (("C:\\shop", "shop"), ("C:\\shop", "shop")),
        (("x" * 5000 + "/", "shop"), ("x" * 5000 + "/", "shop")),
    ],
)
def test_existing_paths_are_paths_and_other_words_are_refs(clone: Path, words, sides) -> None:
    assert parse_sides(words[0], words[1] if len(words) > 1 else None, "intents") == sides


def test_existing_file_named_like_a_ref_is_a_path(clone: Path) -> None:
    (clone / "v1:shop").write_text("")

    assert parse_sides("v1:shop", "shop", "intents")[0] == "v1:shop"


def test_export_writes_only_yaml_byte_for_byte(clone: Path, tmp_path: Path) -> None:
    """Independent of the files on disk and of filters in the repository."""
    (clone / ".gitattributes").write_text("*.yaml export-ignore filter=evil\n")
    git(clone, "config", "filter.evil.smudge", "echo evil")
    (clone / "shop" / "shop.yaml").unlink()
    out = tmp_path / "out"

    begin = export(GitRef("v1", "shop/"), out)

    assert {str(file.relative_to(begin)) for file in begin.rglob("*.y*ml")} == {"shop.yaml", "more/b.yml"}
    assert not list(begin.rglob("*.txt"))
    assert (begin / "shop.yaml").read_text(encoding="utf-8") == YAML


@pytest.mark.parametrize("path", ["shop/shop.yaml", "./shop/../shop/shop.yaml", "{clone}/shop/shop.yaml"])
def test_export_of_a_single_file(clone: Path, tmp_path: Path, path: str) -> None:
    begin = export(GitRef("HEAD", path.format(clone=clone)), tmp_path / "out")

    assert begin.name == "shop.yaml"
    assert begin.read_text(encoding="utf-8") == YAML


def test_paths_are_relative_to_the_current_folder(clone: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(clone / "shop")

    assert export(GitRef("HEAD", "more"), tmp_path / "more").joinpath("b.yml").exists()
    assert export(GitRef("HEAD", ".."), tmp_path / "all").joinpath("shop", "shop.yaml").exists()


@pytest.mark.parametrize(
    ("ref", "path", "message"),
    [
        ("mian", "shop", "no commit 'mian'"),
        ("--help", "shop", "no commit '--help'"),
        ("HEAD^{tree}", "shop", "no commit"),
        ("v1", "gone", "no 'gone' in commit"),
        ("v1", "shop/notes", "no 'shop/notes' in commit"),
        ("v1", "/", "is not in a git repository"),
    ],
)
def test_unknown_commit_or_path_is_an_input_error(
    clone: Path, tmp_path: Path, ref: str, path: str, message: str
) -> None:
    with pytest.raises(InputError, match=f"^{re.escape(ref)}:") as raised:
        export(GitRef(ref, path), tmp_path / "out")

    assert message in str(raised.value)


def test_folder_without_yaml_is_refused(clone: Path, tmp_path: Path) -> None:
    (clone / "docs").mkdir()
    (clone / "docs" / "a.md").write_text("text")
    git(clone, "add", ".")
    git(clone, "commit", "-qm", "docs")

    with pytest.raises(InputError, match=r"no \.yaml or \.yml file in 'docs'"):
        export(GitRef("HEAD", "docs"), tmp_path / "out")


def test_links_are_not_followed(clone: Path, tmp_path: Path) -> None:
    (clone / "shop" / "evil.yaml").symlink_to("/etc/hostname")
    git(clone, "add", ".")
    git(clone, "commit", "-qm", "link")

    with pytest.raises(InputError, match=r"shop/evil\.yaml is a link in that commit"):
        export(GitRef("HEAD", "shop"), tmp_path / "out")


def test_missing_git_is_reported_as_unavailable(clone: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))

    with pytest.raises(UnavailableError, match="needs git; install it"):
        export(GitRef("v1", "shop"), tmp_path / "out")


def test_locations_name_the_commit(clone: Path) -> None:
    registry = load_side(GitRef("v1", "./shop/"), {"cache": "off"}).registry

    places = [line.location.short for line in (*registry.utterances, *registry.negatives, *registry.tests)]
    assert places == ["v1:shop/more/b.yml:1", *["v1:shop/shop.yaml:2"] * 3, "v1:shop/shop.yaml:4"]
    assert registry["a"].location.short == "v1:shop/shop.yaml:2"


def test_includes_are_read_from_the_commit(clone: Path) -> None:
    files = {
        "shop/shop.yaml": "include: [../common, ../more.yaml]\nintents: {a: {utterances: ['{city} <day>']}}",
        "common/x.yaml": "include: ../common\nslots: {city: {values: [Rome]}}\nrules: {day: today}",
        "more.yaml": "include: gone.yaml\nintents: {c: {utterances: [another]}}",
        "other/y.yaml": "[",
        "gone.yaml": "intents: {d: {utterances: [something]}}",
    }
    for name, text in files.items():
        (clone / name).parent.mkdir(exist_ok=True)
        (clone / name).write_text(text, encoding="utf-8")
    git(clone, "add", ".")
    git(clone, "commit", "-qm", "includes")
    on_disk = read_registry("shop")
    for name in files:
        (clone / name).unlink()

    registry = load_side(GitRef("HEAD", "shop"), {"cache": "off"}).registry

    assert [intent.name for intent in registry] == ["b", "a", "c", "d"]
    assert registry.fingerprint == on_disk.fingerprint
    assert registry["a"].slots[0].location.short == "HEAD:shop/../common/x.yaml:2"
    assert registry.slots[0].location == registry["a"].slots[0].location
    assert registry.rules[0].location.short == "HEAD:shop/../common/x.yaml:3"


def test_problems_name_the_commit(clone: Path) -> None:
    (clone / "shop" / "shop.yaml").write_text("intents: {a: {uterances: [x]}}")
    git(clone, "commit", "-qam", "broken")

    with pytest.raises(RegistryError) as raised:
        load_side(GitRef("HEAD", "shop"), {"cache": "off"})

    assert "HEAD:shop/shop.yaml:1:" in str(raised.value)
    assert "intentmatch-" not in str(raised.value)


def test_invalid_artefact_is_reported_under_the_name_of_the_commit(clone: Path) -> None:
    (clone / "shop.intentmatch").write_bytes(b"nonsense")
    git(clone, "add", ".")
    git(clone, "commit", "-qm", "artefact")

    with pytest.raises(Exception, match=r"^HEAD:shop\.intentmatch is not an artefact"):
        load_side(GitRef("HEAD", "shop.intentmatch"), {})
