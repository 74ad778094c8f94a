"""Limits of what YAML may make the program read."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from intentmatch import Matcher
from intentmatch.core.errors import RegistryError, SettingsError
from intentmatch.core.settings import resolve
from intentmatch.registry import read_registry
from intentmatch.registry.confinement import ReadLimits
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


@pytest.mark.parametrize("setting", ["encoder: 'static:{}'", "reranker: 'onnx:{}'"])
def test_links_in_a_model_that_lead_out_of_the_folder_are_refused(tmp_path: Path, setting: str) -> None:
    bot = tmp_path / "bot"
    model = bot / "models" / "mine" / "part"
    model.mkdir(parents=True)
    write(bot, f"settings:\n  {setting.format(model.parent)}\n{BOT}")
    (model / "model.safetensors").write_bytes(b"weights")
    assert refused(bot) == []
    (tmp_path / "secret").write_bytes(b"of another bot")
    (model / "tokenizer.json").symlink_to(tmp_path / "secret")

    assert refused(bot) == [("confined", f"{bot / 'bot.yaml'}:2")]


def test_folders_of_others_are_not_listed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A folder such as / takes minutes, and one that changes meanwhile was an error of the server."""
    listed: list[str] = []
    scandir = os.scandir
    monkeypatch.setattr(os, "scandir", lambda path: listed.append(os.fspath(path)) or scandir(path))
    (tmp_path / "other" / "deep").mkdir(parents=True)
    bot = tmp_path / "bot"
    write(bot, f"settings:\n  encoder: 'sentence_transformer:{tmp_path / 'other'}'\n{BOT}")

    assert refused(bot) == [("confined", f"{bot / 'bot.yaml'}:2")]
    assert not [path for path in listed if path.startswith(str(tmp_path / "other"))]


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
        ("encoder: 'sentence_transformer:org/name'", True),
        ("encoder: 'remote:https://elsewhere/v1/embeddings#m'", True),
        ("encoder: somebody_elses", True),
        ("reranker: org/name", True),
        ("reranker: 'remote:https://elsewhere/rerank'", True),
        ("reranker: 'chat:https://elsewhere/v1/chat/completions#m'", True),
        ("reranker: 'systemone:https://elsewhere/v1/systemone#m'", True),
        ("reranker: 'decisions:https://elsewhere/v1/decisions#m'", True),
        ("drift_webhook: https://elsewhere/hook", True),
        ("inbox: postgres://elsewhere/bots", True),
        ("reranker: words", False),
        ("reranker: none", False),
        ("drift_webhook: off", False),
        ("encoder: 'static:./model'", False),
        ("reranker: ./model", False),
        ("inbox: misses.sqlite", False),
        ("cache: vectors", False),
        ("cache: off", False),
        ("encoder: static", False),
    ],
)
def test_models_and_files_of_the_settings_are_confined(tmp_path: Path, setting: str, is_refused: bool) -> None:
    bot = write(tmp_path / "bot", f"settings: {{{setting}}}\n{BOT}")

    assert ("confined" in dict(refused(bot))) == is_refused
    assert "confined" not in {problem.rule for problem in examine(bot)[1]}


def test_settings_of_the_operator_may_name_any_file(tmp_path: Path) -> None:
    bot = write(tmp_path / "bot", BOT)
    matcher = Matcher.load(bot, confine=True, cache=str(tmp_path / "cache"))
    assert matcher.match("hello").intent == "a"


@pytest.mark.parametrize(
    "name", ["confine: false", "allow: 'https://elsewhere'", "max_file_bytes: 5", "require_signature: off"]
)
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


@pytest.mark.parametrize(
    ("setting", "allow"),
    [
        ("encoder: 'remote:https://Models.Example:443/v1/embeddings#m'", "https://models.example"),
        ("reranker: 'chat:http://127.0.0.1:8000/v1/chat/completions#m'", "http://127.0.0.1:8000/"),
        ("drift_webhook: 'https://chat.example/hook?token=1'", "https://chat.example"),
        ("encoder: 'sentence_transformer:org/name'", "sentence_transformer:org/name"),
        ("encoder: 'sentence_transformer:org/name'", "sentence_transformer"),
        ("reranker: org/name", "cross_encoder:org/name"),
        ("encoder: 'onnx:/srv/models/small'", "/srv/models"),
    ],
)
def test_operator_allows_servers_models_and_folders(tmp_path: Path, setting: str, allow: str) -> None:
    bot = write(tmp_path / "bot", f"settings: {{{setting}}}\n{BOT}")

    assert refused(bot) == [("confined", f"{bot / 'bot.yaml'}:1")]
    assert refused(bot, allow=f"http://other, {allow}") == []


@pytest.mark.parametrize(
    "other",
    [
        "http://models.example",
        "https://models.example:8443",
        "https://example",
        "https://models.example.org",
        "https://xmodels.example",
        "remote",
        "sentence_transformer",
    ],
)
def test_server_is_allowed_by_its_own_scheme_host_and_port_only(tmp_path: Path, other: str) -> None:
    bot = write(tmp_path / "bot", f"settings: {{encoder: 'remote:https://models.example/v1/embeddings#m'}}\n{BOT}")
    assert refused(bot, allow=other) == [("confined", f"{bot / 'bot.yaml'}:1")]


def test_error_says_how_to_allow(tmp_path: Path) -> None:
    bot = write(tmp_path / "bot", f"settings: {{encoder: 'remote:https://models.example/v1/embeddings#m'}}\n{BOT}")
    with pytest.raises(RegistryError) as caught:
        Matcher.load(bot, confine=True)
    (problem,) = caught.value.problems
    assert problem.message == "encoder names the server https://models.example, which is not allowed"
    assert "`--allow https://models.example`, or https://models.example in INTENTMATCH_ALLOW" in problem.hint


@pytest.mark.parametrize(
    "entry", ["https://models.example/v1", "https://me@models.example", "ftp://x", "https://", "a b", "https://h?a=b"]
)
def test_entry_that_allows_nothing_is_refused(entry: str) -> None:
    with pytest.raises(SettingsError, match="setting 'allow' cannot be"):
        resolve({"allow": entry})


_SPACES = ("{} ", " {}", "\t{}", "\u3000{}", "{}\u2003", "\\x85{}")


@pytest.mark.parametrize("spelling", _SPACES)
@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("inbox", "/elsewhere/misses.sqlite"),
        ("inbox", "postgres://db.example/shop/shop"),
        ("cache", "/elsewhere"),
        ("encoder", "remote:http://elsewhere.example/v1/embeddings#m"),
        ("encoder", "onnx:/elsewhere"),
        ("reranker", "chat:http://elsewhere.example/v1/chat/completions#m"),
        ("drift_webhook", "http://elsewhere.example/told"),
    ],
)
def test_spaces_around_a_value_do_not_hide_what_it_names(tmp_path: Path, name: str, value: str, spelling: str) -> None:
    bot = write(tmp_path / "bot", f'settings:\n  {name}: "{spelling.format(value)}"\n{BOT}')

    assert refused(bot) == [("confined", f"{bot / 'bot.yaml'}:2")]
