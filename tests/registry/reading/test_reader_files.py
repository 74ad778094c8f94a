"""Which files the reader reads, and what it reports for those that it cannot read."""

from __future__ import annotations

import os
import socket
from pathlib import Path

import pytest
from registry_files import in_file

from intentmatch.core.errors import RegistryError
from intentmatch.registry import examine, is_yaml, read_registry
from intentmatch.registry.reading import nodes, reader


def test_missing_path_is_not_found(tmp_path: Path):
    with pytest.raises(RegistryError, match=r"nowhere:1:1: error \[not-found\] there is no such file or folder"):
        read_registry(tmp_path / "nowhere")


@pytest.mark.parametrize("path", ["a\0b", "x" * 5000])
def test_impossible_path_is_a_problem(path):
    with pytest.raises(RegistryError):
        read_registry(path)


def test_folder_without_yaml_is_no_files(tmp_path: Path):
    in_file(tmp_path, "hello", "notes.txt")

    _, problems = examine(tmp_path)

    assert [(problem.location.path, problem.rule) for problem in problems] == [(str(tmp_path), "no-files")]


def test_unreadable_file_is_reported_and_others_are_read(tmp_path: Path):
    (tmp_path / "a.yaml").symlink_to(tmp_path / "gone.yaml")
    in_file(tmp_path, "intents: {b: {utterances: [hi]}}", "b.yaml")

    found, problems = examine(tmp_path)

    assert [(Path(problem.location.path).name, problem.rule) for problem in problems] == [("a.yaml", "unreadable")]
    assert "b" in found


def test_unreadable_folder_is_reported_and_others_are_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    (tmp_path / "closed").mkdir()
    in_file(tmp_path, "intents: {a: {utterances: [hi]}}", "a.yaml")
    scandir = os.scandir

    def guarded(path: str):
        if str(path).endswith("closed"):
            raise PermissionError(13, "Permission denied", str(path))
        return scandir(path)

    monkeypatch.setattr(os, "scandir", guarded)
    found, problems = examine(tmp_path)

    assert [str(problem).split(": ", 1) for problem in problems] == [
        [f"{tmp_path / 'closed'}:1:1", "error [unreadable] Permission denied"]
    ]
    assert "a" in found


def test_pipes_are_skipped_and_sockets_are_reported(tmp_path: Path):
    in_file(tmp_path, "intents: {a: {utterances: [hi]}}", "a.yaml")
    os.mkfifo(tmp_path / "b.yaml")
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(tmp_path / "c.yaml"))

        found, problems = examine(tmp_path)

    assert "a" in found
    assert [(Path(problem.location.path).name, problem.rule) for problem in problems] == [("c.yaml", "unreadable")]


def test_hidden_files_and_folders_are_skipped(tmp_path: Path):
    in_file(tmp_path, "intents: {a: {utterances: [hi]}}", "a.yaml")
    in_file(tmp_path, "[[[", ".draft.yaml")
    in_file(tmp_path, "[[[", ".git/config.yaml")
    in_file(tmp_path, "[[[", "notes.txt")

    found, problems = examine(tmp_path)

    assert problems == []
    assert len(found) == 1


def test_hidden_folder_is_read_if_it_is_the_path(tmp_path: Path):
    in_file(tmp_path, "intents: {a: {utterances: [hi]}}", ".bots/a.yaml")

    assert "a" in read_registry(tmp_path / ".bots")


def test_single_file_is_read_with_any_suffix(tmp_path: Path):
    assert "a" in read_registry(in_file(tmp_path, "intents: {a: {utterances: [hi]}}", "intents.txt"))


@pytest.mark.parametrize(
    ("name", "expected"), [("a.yaml", True), ("a.YML", True), ("bot.intentmatch", False), ("folder.intentmatch", True)]
)
def test_is_yaml_accepts_folders_yaml_and_missing_paths(tmp_path: Path, name, expected):
    if name.startswith("folder"):
        (tmp_path / name).mkdir()
    else:
        in_file(tmp_path, "", name)

    assert is_yaml(tmp_path / name) is expected
    assert is_yaml(tmp_path / "nowhere.intentmatch")


def test_all_problems_of_a_folder_are_sorted_by_location(tmp_path: Path):
    in_file(tmp_path, "intents:\n  a: [\n", "1.yaml")
    in_file(tmp_path, "intents:\n  b: {title: x}\n  c: {utterances: [hi, '?'], threshold: 2}\nzzz: 1", "2.yaml")
    in_file(tmp_path, b"\xff", "3.yaml")
    in_file(tmp_path, "intents: {d: {utterances: [hi]}}", "4/4.yaml")

    with pytest.raises(RegistryError) as caught:
        read_registry(tmp_path)

    assert [
        f"{Path(p.location.path).name} {p.location.line}:{p.location.column} {p.rule}" for p in caught.value.problems
    ] == [
        "1.yaml 2:6 yaml-syntax",
        "2.yaml 2:3 no-utterances",
        "2.yaml 3:24 empty-utterance",
        "2.yaml 3:41 threshold",
        "2.yaml 4:1 unknown-key",
        "3.yaml 1:1 encoding",
        "4.yaml 1:28 conflicting-utterance",
    ]


def test_broken_file_does_not_hide_other_files(tmp_path: Path):
    in_file(tmp_path, "intents: [", "1.yaml")
    in_file(tmp_path, "intents: {a: {utterances: [hi]}}", "2.yaml")

    found, problems = examine(tmp_path)

    assert "a" in found
    assert [problem.rule for problem in problems] == ["yaml-syntax"]


def test_unchanged_remembered_files_are_not_parsed_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Their problems are reported again; deleted files leave the cache."""
    for name in ("a", "b", "c"):
        in_file(tmp_path, f"intents: {{{name}: {{utterances: [hi {name}, 'hi {name}']}}}}", f"{name}.yaml")
    remembered: reader.Remembered = {}
    first = examine(tmp_path, remembered=remembered)
    parsed: list[str] = []
    parse = nodes.parse

    def parsing(text: str, path: str) -> nodes.Node | None:
        parsed.append(Path(path).name)
        return parse(text, path)

    monkeypatch.setattr(nodes, "parse", parsing)

    assert examine(tmp_path, remembered=remembered) == first
    assert parsed == []
    in_file(tmp_path, "intents: {b: {utterances: [another]}}", "b.yaml")
    (tmp_path / "c.yaml").unlink()
    again = examine(tmp_path, remembered=remembered)
    assert parsed == ["b.yaml"]
    assert again == examine(tmp_path)
    assert {file.name for file in remembered} == {"a.yaml", "b.yaml"}


def test_remembered_file_that_became_unreadable_is_reported(tmp_path: Path) -> None:
    file = in_file(tmp_path, "intents: {a: {utterances: [hi]}}", "a.yaml")
    remembered: reader.Remembered = {}
    examine(file, remembered=remembered)
    file.unlink()
    file.mkdir()

    _, problems = examine(file, remembered=remembered)

    assert [problem.rule for problem in problems] == ["no-files"]
    assert remembered == {}


def test_empty_file_beside_intents_is_a_warning(tmp_path: Path):
    (tmp_path / "a.yaml").write_text("intents: {a: {utterances: [hi]}}")
    (tmp_path / "b.yaml").write_text("# later\n")

    assert [(p.rule, p.severity, Path(p.location.path).name) for p in examine(tmp_path)[1]] == [
        ("empty-file", "warning", "b.yaml")
    ]


def test_registry_of_empty_files_alone_is_one_problem(tmp_path: Path):
    (tmp_path / "a.yaml").write_text("")
    (tmp_path / "b.yaml").write_text("# later\n")

    assert [p.rule for p in examine(tmp_path)[1]] == ["no-intents"]
