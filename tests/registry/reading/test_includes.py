"""`include:` reads other files and folders once, in order, from anywhere."""

from __future__ import annotations

from pathlib import Path

import pytest

from intentmatch.core.errors import RegistryError
from intentmatch.registry import examine, read_comments, read_registry, yaml_files
from intentmatch.registry.confinement import ReadLimits


def write(folder: Path, **texts: str) -> None:
    for name, text in texts.items():
        file = folder / f"{name.replace('__', '/')}.yaml"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")


def intent(name: str) -> str:
    return f"intents: {{{name}: {{utterances: [say {name}]}}}}"


def names(path: Path) -> list[str]:
    return [intent.name for intent in read_registry(path)]


def test_included_files_are_read_right_behind_their_file(tmp_path: Path):
    """Paths are relative to it, also above it; nested includes come right after their own file."""
    write(
        tmp_path,
        bot__main=f"include: [../b.yaml, ../shared, ../a.yaml]\n{intent('main')}",
        a=intent("a"),
        b=f"include: c.yaml\n{intent('b')}",
        c=intent("c"),
        shared__y=intent("y"),
        shared__x=intent("x"),
    )

    assert names(tmp_path / "bot" / "main.yaml") == ["main", "b", "c", "x", "y", "a"]
    assert [file.stem for file in yaml_files(tmp_path / "bot")] == ["main", "b", "c", "x", "y", "a"]
    assert len(read_comments(tmp_path / "bot")) == 6


def test_included_file_is_read_once(tmp_path: Path):
    """Even in circles, under other names, and if it is in the folder anyway."""
    write(tmp_path, a=f"include: [b.yaml, ./b.yaml, ../{tmp_path.name}/b.yaml, ., a.yaml]\n{intent('a')}")
    write(tmp_path, b=f"include: a.yaml\n{intent('b')}")
    (tmp_path / "link.yaml").symlink_to(tmp_path / "b.yaml")

    found, problems = examine(tmp_path)

    assert problems == []
    assert [intent.name for intent in found] == ["a", "b"]
    assert names(tmp_path / "a.yaml") == ["a", "b"]


@pytest.mark.parametrize("confined", [True, False])
def test_invalid_include_is_located_at_its_entry(tmp_path: Path, confined: bool):
    (tmp_path / "empty").mkdir()
    write(tmp_path, a=f'include:\n  - gone.yaml\n  - empty\n  - "a\\0b"\n  - {"x" * 300}\n{intent("a")}')

    _, problems = examine(tmp_path, limits=ReadLimits(1_000_000, tmp_path if confined else None))

    assert [(p.location.line, p.location.column, p.rule) for p in problems] == [
        (2, 5, "not-found"),
        (3, 5, "no-files"),
        (4, 5, "not-found"),
        (5, 5, "unreadable"),
    ]
    assert "gone.yaml" in problems[0].message


def test_problems_of_an_included_file_have_its_path(tmp_path: Path):
    write(tmp_path, bot__a=f"include: ../b.yaml\n{intent('a')}", b="intents: {b: {utterances: hi}}")

    with pytest.raises(RegistryError) as caught:
        read_registry(tmp_path / "bot")

    assert {str(Path(p.location.path).resolve()) for p in caught.value.problems} == {str(tmp_path / "b.yaml")}


def test_included_file_needs_no_intents(tmp_path: Path):
    write(tmp_path, shared="rules: {day: today}\nslots: {city: {values: [Rome]}}")
    write(tmp_path, bot="include: shared.yaml\nintents: {a: {utterances: ['{city} <day>']}}")

    found = read_registry(tmp_path / "bot.yaml")

    assert [utterance.text for utterance in found.utterances] == ["Rome today"]
