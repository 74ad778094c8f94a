"""Where a matcher's registry comes from: files, settings, models, and reloading."""

from __future__ import annotations

from pathlib import Path

import pytest
from fakes import WordHashEncoder

from intentmatch.core.errors import ArtefactError, MissingExtraError, RegistryError, SettingsError, UnknownNameError
from intentmatch.core.types import Intent, Registry, Slot, Utterance
from intentmatch.matching.matcher import Matcher


def write(folder: Path, **intents: list[str]) -> Path:
    """A registry on disk: intent name to its utterances."""
    lines = ["intents:"]
    for name, utterances in intents.items():
        lines += [f"  {name}:", "    utterances:", *(f"      - {line}" for line in utterances)]
    (folder / "bot.yaml").write_text("\n".join(lines) + "\n", encoding="utf-8")
    return folder


def test_loads_a_folder_a_file_and_a_registry(tmp_path: Path) -> None:
    """The three ways to name intents give the same answers."""
    write(tmp_path, greet=["hello there"], leave=["goodbye then"])
    in_code = Registry((Intent("greet", (Utterance("hello there"),)), Intent("leave", (Utterance("goodbye then"),))))

    sources = (tmp_path, str(tmp_path / "bot.yaml"), in_code)
    answers = [Matcher.load(source, encoder=WordHashEncoder()).match("hello you there") for source in sources]

    assert {(a.verdict, a.intent, round(a.score, 6)) for a in answers} == {
        ("matched", "greet", round(answers[0].score, 6))
    }


def test_settings_win_in_their_order(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An argument beats the environment, that beats the YAML, and each says where it came from."""
    write(tmp_path, greet=["hello there"])
    (tmp_path / "settings.yaml").write_text("settings:\n  threshold: 0.3\n  margin: 0.2\n", encoding="utf-8")
    monkeypatch.setenv("INTENTMATCH_THRESHOLD", "0.4")

    settings = Matcher.load(tmp_path, encoder=WordHashEncoder(), top_k=2).settings

    assert (settings.threshold, settings.origin("threshold")) == ({"default": 0.4}, "environment INTENTMATCH_THRESHOLD")
    assert (settings.margin, settings.origin("margin")) == (0.2, f"{tmp_path / 'settings.yaml'}:3")
    assert (settings.top_k, settings.origin("top_k")) == (2, "argument")
    assert (settings.encoder, settings.origin("aggregation")) == (WordHashEncoder().name, "default")


def test_what_is_wrong_is_said_by_its_kind(tmp_path: Path) -> None:
    """Bad YAML, a bad setting, an unknown encoder, a file that is no artefact: each raises its own error."""
    write(tmp_path, greet=["hello there"])
    (tmp_path / "other.bin").write_bytes(b"\0" * 100)

    with pytest.raises(RegistryError, match="not-found"):
        Matcher.load(tmp_path / "missing")
    with pytest.raises(SettingsError, match="threshold"):
        Matcher.load(tmp_path, threshold=7)
    with pytest.raises(SettingsError, match="did you mean 'threshold'"):
        Matcher.load(tmp_path, treshold=0.7)
    with pytest.raises(UnknownNameError, match="known are onnx, remote, sentence_transformer, static"):
        Matcher.load(tmp_path, encoder="word2vec")
    with pytest.raises(ArtefactError, match="no artefact"):
        Matcher.load(tmp_path / "other.bin")


def test_reload_takes_over_an_edit(tmp_path: Path) -> None:
    """After a reload the new utterance answers, and only it was encoded."""
    encoder = WordHashEncoder()
    matcher = Matcher.load(write(tmp_path, greet=["hello there"], leave=["goodbye then"]), encoder=encoder)
    encoder.encoded.clear()
    write(tmp_path, greet=["hello there"], leave=["goodbye then", "see you soon"])

    matcher.reload()

    assert set(encoder.encoded) <= {"see you soon", "hello there"}
    assert matcher.match("see you soon").intent == "leave"


def test_a_failed_reload_changes_nothing(tmp_path: Path) -> None:
    """Broken files are reported with their places, and the old registry goes on answering."""
    matcher = Matcher.load(write(tmp_path, greet=["hello there"]), encoder=WordHashEncoder())
    before = matcher.artefact
    (tmp_path / "bot.yaml").write_text("intents:\n  greet:\n    uterances: [hi]\n", encoding="utf-8")

    with pytest.raises(RegistryError, match="unknown-key"):
        matcher.reload()

    assert matcher.artefact is before
    assert matcher.match("hello there").intent == "greet"


def test_reload_keeps_the_loaded_encoder(tmp_path: Path) -> None:
    """Reading the YAML again does not load the model again."""
    matcher = Matcher.load(write(tmp_path, greet=["hello there"]))
    encoder = matcher.encoder

    matcher.reload()

    assert matcher.encoder is encoder


def test_a_missing_extra_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A registry that asks for a transformer on a light install says what to install."""
    write(tmp_path, greet=["hello there"])
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)

    with pytest.raises(MissingExtraError, match=r'pip install "intentmatch\[torch\]"'):
        Matcher.load(tmp_path, encoder="sentence_transformer:all-MiniLM-L6-v2")


def test_uncovered_languages_are_not_silent(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    """They are logged when the registry is taken into use, and stand among the matcher's problems with its rules'."""
    encoder = WordHashEncoder()
    encoder.languages = frozenset({"en"})  # type: ignore[attr-defined]
    (tmp_path / "bot.yaml").write_text(
        "intents:\n  a:\n    utterances:\n      en: [hello, Hello!]\n      xh: [molo]\n", encoding="utf-8"
    )

    matcher = Matcher.load(tmp_path, encoder=encoder)

    assert [(p.rule, p.location.line) for p in matcher.problems] == [
        ("duplicate-utterance", 4), ("language-not-covered", 5),
    ]  # fmt: skip
    assert ["fake was not trained on xh" in message for message in caplog.messages] == [True]
    matcher.reload()
    assert len(caplog.messages) == 2


def test_slots_that_cannot_be_read_are_told_at_load_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """A broken pattern, and a kind whose package is not installed."""
    broken = Intent("broken", (Utterance("hi"),), slots=(Slot("code", "pattern", patterns=("(",)),))

    dated = Registry((Intent("book", (Utterance("book a table"),), slots=(Slot("day", "date"),)),))

    with pytest.raises(RegistryError, match=r"invalid regular expression in slot .code.: missing \)"):
        Matcher.load(Registry((broken,)), encoder=WordHashEncoder())
    monkeypatch.setattr("intentmatch.core.plugins.installed", lambda module: module != "dateparser")
    with pytest.raises(MissingExtraError, match=r'pip install "intentmatch\[dates\]"'):
        Matcher.load(dated, encoder=WordHashEncoder())
