"""Digests of a registry's files, and consistent reads while files are written."""

from __future__ import annotations

import os
import time
from pathlib import Path

import pytest

from intentmatch.core.errors import InputError, Location, Problem, RegistryError
from intentmatch.registry import read_registry
from intentmatch.registry.reading.snapshot import EMPTY, content, steadily


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "a.yaml").write_text("intents: {a: {utterances: [one]}}\n", encoding="utf-8")
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub" / "b.yml").write_text("intents: {b: {utterances: [two]}}\n", encoding="utf-8")
    return tmp_path


def test_content_ignores_files_that_are_not_read(folder: Path) -> None:
    before = content(folder)
    assert set(before) == {str(folder / "a.yaml"), str(folder / "sub" / "b.yml")}

    for name in (".a.yaml.swp", "a.yaml~", "#a.yaml#", ".hidden.yaml", "notes.txt"):
        (folder / name).write_text("intents: {}", encoding="utf-8")
    (folder / ".#a.yaml").symlink_to("me@host.1234")
    (folder / ".git").mkdir()
    (folder / ".git" / "c.yaml").write_text("intents: {}", encoding="utf-8")
    os.utime(folder / "a.yaml", (1, 1))

    assert content(folder) == before


def test_content_changes_with_bytes_names_and_files(folder: Path) -> None:
    seen = [content(folder)]
    (folder / "a.yaml").write_text("intents: {a: {utterances: [ one]}}\n", encoding="utf-8")
    seen.append(content(folder))
    (folder / "sub" / "b.yml").rename(folder / "sub" / "c.yml")
    seen.append(content(folder))
    (folder / "sub" / "c.yml").write_bytes(b"")
    seen.append(content(folder))
    (folder / "sub" / "c.yml").unlink()
    seen.append(content(folder))

    assert all(one != other for n, one in enumerate(seen) for other in seen[:n])
    assert seen[3][str(folder / "sub" / "c.yml")] == EMPTY


def test_content_follows_includes(folder: Path) -> None:
    inside, outside = folder / "sub", folder / "a.yaml"
    outside.write_text("include: [.more, sub]\nrules: {day: (today|tomorrow)}\n", encoding="utf-8")
    (folder / ".more").mkdir()
    (folder / ".more" / "c.yaml").write_text("include: [../a.yaml, ../sub/b.yml, nowhere.yaml]\n", encoding="utf-8")
    before = content(inside / "b.yml")
    assert set(before) == {str(inside / "b.yml")}

    (inside / "b.yml").write_text("include: ../a.yaml\nintents: {b: {utterances: [see you <day>]}}\n", encoding="utf-8")
    names = {os.path.realpath(name) for name in content(inside / "b.yml")}
    assert names == {str(inside / "b.yml"), str(outside), str(folder / ".more" / "c.yaml")}
    before = content(inside / "b.yml")
    (folder / ".more" / "d.yaml").write_text("intents: {}", encoding="utf-8")
    assert content(inside / "b.yml") != before


def test_content_is_read_again_if_a_program_keeps_size_and_date(folder: Path) -> None:
    file, remembered = folder / "a.yaml", {}
    hour_ago = time.time() - 3600
    os.utime(file, (hour_ago, hour_ago))
    before = content(folder, remembered)
    file.write_bytes(file.read_bytes()[::-1])
    os.utime(file, (hour_ago, hour_ago))

    assert content(folder, remembered) != before


def test_content_of_unreadable_paths_is_empty(tmp_path: Path) -> None:
    assert content(tmp_path / "none") == {}
    (tmp_path / "folder.yaml").mkdir()
    (tmp_path / "dangling.yaml").symlink_to("nowhere")
    assert content(tmp_path) == {str(tmp_path / "dangling.yaml"): EMPTY}


def test_pipes_are_refused_without_waiting(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)

    with pytest.raises(RegistryError, match="not a regular file"):
        steadily(pipe, lambda: read_registry(pipe))


def test_content_of_an_artefact_is_its_file_status(tmp_path: Path) -> None:
    file = tmp_path / "bot.intentmatch"
    file.write_bytes(b"x" * 10)
    before = content(file)
    (tmp_path / "next").write_bytes(b"y" * 10)
    (tmp_path / "next").replace(file)
    after = content(file)
    with file.open("ab") as more:
        more.write(b"z")

    assert len({tuple(c.items()) for c in (before, after, content(file))}) == 3
    file.unlink()
    assert content(file) == {}


def test_steadily_reads_again_after_a_change(folder: Path) -> None:
    readings: list[int] = []

    def read() -> int:
        readings.append(1)
        if len(readings) < 3:
            (folder / "a.yaml").write_text(f"# {len(readings)}", encoding="utf-8")
        return len(readings)

    assert steadily(folder, read) == (3, content(folder))


def test_steadily_raises_only_if_files_did_not_change(folder: Path) -> None:
    readings: list[int] = []

    def read() -> str:
        readings.append(1)
        if len(readings) == 1:
            (folder / "a.yaml").write_text("# more", encoding="utf-8")
            raise RegistryError([Problem(Location("a.yaml"), "error", "rule", "half of it")])
        return "whole"

    assert steadily(folder, read)[0] == "whole"

    (folder / "a.yaml").write_text("intents: [", encoding="utf-8")
    with pytest.raises(RegistryError, match="yaml-syntax"):
        steadily(folder, lambda: read_registry(folder))


def test_steadily_gives_up_on_files_that_keep_changing(folder: Path) -> None:
    count = iter(range(1000))

    with pytest.raises(InputError, match="kept changing while they were read"):
        steadily(folder, lambda: (folder / "a.yaml").write_text(f"# {next(count)}", encoding="utf-8"))


def test_steadily_never_mixes_two_states(folder: Path) -> None:
    files = [folder / "a.yaml", folder / "sub" / "b.yml"]
    generations = iter(["second", "third"])

    def write(generation: str) -> None:
        for file in files:
            aside = file.with_suffix(".aside")
            aside.write_text(f"intents: {{{file.stem}: {{utterances: [{generation}]}}}}", encoding="utf-8")
            aside.replace(file)

    def read() -> list[str]:
        first = files[0].read_text(encoding="utf-8")
        if generation := next(generations, None):
            write(generation)
        return [first, files[1].read_text(encoding="utf-8")]

    write("first")

    found, held = steadily(folder, read)

    assert ["third" in text for text in found] == [True, True]
    assert held == content(folder)
