"""Limits of what YAML may make the program read."""

from __future__ import annotations

from pathlib import Path

import pytest

from intentmatch import Matcher
from intentmatch.core.errors import RegistryError
from intentmatch.core.settings import resolve
from intentmatch.registry import read_registry
from intentmatch.registry.confinement import ReadLimits, outside
from intentmatch.registry.reading.reader import examine

BOT = "intents: {a: {utterances: [hello]}, b: {utterances: [bye]}}\n"


def write(folder: Path, text: str, name: str = "bot.yaml") -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / name).write_text(text, encoding="utf-8")
    return folder


def refused(path: Path, **settings: str) -> list[tuple[str, str]]:
    limits = ReadLimits.from_settings(path, resolve({"confine": "true", **settings}))
    return [(problem.rule, problem.location.short) for problem in examine(path, limits=limits)[1]]


def test_confined_registry_reads_its_own_folder_only(tmp_path: Path) -> None:
    bot = write(tmp_path / "bot", f"include: [more/extra.yaml, ../other/shared.yaml]\n{BOT}")
    write(bot / "more", "intents: {c: {utterances: [thanks]}}", "extra.yaml")
    write(tmp_path / "other", "intents: {d: {utterances: [please]}}", "shared.yaml")

    assert len(read_registry(bot)) == 4
    assert refused(bot) == [("confined", f"{bot / 'bot.yaml'}:1")]
    with pytest.raises(RegistryError, match=r"shared\.yaml lies outside of .*bot, to which it is confined"):
        Matcher.load(bot, confine=True, cache="off")


def test_links_out_of_the_folder_are_refused(tmp_path: Path) -> None:
    bot = write(tmp_path / "bot", BOT)
    other = write(tmp_path / "other", "intents: {d: {utterances: [please]}}", "shared.yaml")
    (bot / "linked.yaml").symlink_to(other / "shared.yaml")

    assert len(read_registry(bot)) == 3
    assert refused(bot) == [("confined", f"{bot / 'linked.yaml'}:1")]


def test_file_is_confined_to_its_folder(tmp_path: Path) -> None:
    bot = write(tmp_path / "bot", f"include: sub/more.yaml\n{BOT}")
    write(bot / "sub", "include: ../../bot/third.yaml", "more.yaml")
    write(bot, "intents: {d: {utterances: [please]}}", "third.yaml")

    assert refused(bot / "bot.yaml") == []


@pytest.mark.parametrize(
    ("setting", "is_refused"),
    [
        ("encoder: 'static:../model'", True),
        ("encoder: 'onnx:/opt/model'", True),
        ("encoder: 'sentence_transformer:~/model'", True),
        ("reranker: ../model", True),
        ("cache: /tmp/cache", True),
        ("inbox: ../misses.sqlite", True),
        ("encoder: 'sentence_transformer:org/name'", False),
        ("cache: off", False),
        ("encoder: static", False),
    ],
)
def test_models_and_files_of_the_settings_are_confined(tmp_path: Path, setting: str, is_refused: bool) -> None:
    bot = write(tmp_path / "bot", f"settings: {{{setting}}}\n{BOT}")

    assert ("confined" in dict(refused(bot))) == is_refused
    assert "confined" not in {problem.rule for problem in examine(bot)[1]}


def test_hint_about_a_setting_says_what_to_write(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An author who writes `inbox: misses.sqlite` means a file in the folder, and paths count from elsewhere."""
    monkeypatch.chdir(tmp_path)
    write(Path("shop"), f"settings: {{inbox: misses.sqlite}}\n{BOT}")
    limits = ReadLimits.from_settings("shop", resolve({"confine": "true"}))
    (problem,) = examine(Path("shop"), limits=limits)[1]

    assert f"write {Path('shop', 'misses.sqlite')}," in problem.hint
    write(Path("shop"), f"settings: {{inbox: {Path('shop', 'misses.sqlite').as_posix()}}}\n{BOT}")
    assert refused(Path("shop")) == []


def test_settings_of_the_operator_may_name_any_file(tmp_path: Path) -> None:
    bot = write(tmp_path / "bot", BOT)
    matcher = Matcher.load(bot, confine=True, cache=str(tmp_path / "cache"))
    assert matcher.match("hello").intent == "a"


@pytest.mark.parametrize("name", ["confine: false", "max_file_bytes: 5", "require_signature: off"])
def test_yaml_cannot_set_its_own_limits(tmp_path: Path, name: str) -> None:
    (problem,) = examine(write(tmp_path, f"settings: {{{name}}}\n{BOT}"))[1]
    assert (problem.rule, problem.location.line) == ("setting", 1)
    assert "cannot be set in YAML, which it limits" in problem.message
    assert "INTENTMATCH_" in str(problem.hint)


def test_size_of_a_file_is_limited(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    bot = write(tmp_path, BOT)
    assert [problem.rule for problem in examine(bot, limits=ReadLimits(10))[1]] == ["unreadable"]
    with pytest.raises(RegistryError, match="larger than the 12 bytes"):
        Matcher.load(bot, max_file_bytes=12)
    monkeypatch.setenv("INTENTMATCH_MAX_FILE_BYTES", "11")
    with pytest.raises(RegistryError, match="larger than the 11 bytes"):
        read_registry(bot)


@pytest.mark.skipif(not Path("/dev/zero").exists(), reason="needs devices")
@pytest.mark.parametrize("device", ["/dev/zero", "/dev/stdin", "/dev/full"])
def test_devices_are_not_read(tmp_path: Path, device: str) -> None:
    bot = write(tmp_path, f"include: {device}\n{BOT}")
    (problem,) = examine(bot)[1]
    assert problem.rule == "unreadable"
    assert "not a regular file" in problem.message


def test_servers_of_rerankers_are_no_files_but_exported_ones_are(tmp_path: Path) -> None:
    """`outside` reads only local paths."""
    limits = ReadLimits(most=1000, folder=tmp_path)
    for server in ("remote:http://h/rerank", "chat:http://h/v1/chat/completions#m"):
        assert outside({"reranker": server}, {}, limits) == []
    assert len(outside({"reranker": "onnx:/elsewhere"}, {}, limits)) == 1
