"""Loading a matcher: files, settings, models and reloading."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from fakes import WordHashEncoder

from intentmatch.core.errors import (
    ArtefactError,
    IntentMatchError,
    MissingExtraError,
    RegistryError,
    SettingsError,
    UnknownNameError,
)
from intentmatch.core.types import Intent, Registry, Slot, Utterance
from intentmatch.matching.matcher import Matcher


def write(folder: Path, **intents: list[str]) -> Path:
    """Write a registry from intent names and their utterances, and return the folder."""
    lines = ["intents:"]
    for name, utterances in intents.items():
        lines += [f"  {name}:", "    utterances:", *(f"      - {line}" for line in utterances)]
    (folder / "bot.yaml").write_text("\n".join(lines) + "\n", encoding="utf-8")
    return folder


def test_load_accepts_folder_file_and_registry(tmp_path: Path) -> None:
    write(tmp_path, greet=["hello there"], leave=["goodbye then"])
    in_code = Registry((Intent("greet", (Utterance("hello there"),)), Intent("leave", (Utterance("goodbye then"),))))

    sources = (tmp_path, str(tmp_path / "bot.yaml"), in_code)
    answers = [Matcher.load(source, encoder=WordHashEncoder()).match("hello you there") for source in sources]

    assert {(a.verdict, a.intent, round(a.score, 6)) for a in answers} == {
        ("matched", "greet", round(answers[0].score, 6))
    }


def test_arguments_override_environment_and_environment_overrides_yaml(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each setting names its origin."""
    write(tmp_path, greet=["hello there"])
    (tmp_path / "settings.yaml").write_text("settings:\n  threshold: 0.3\n  margin: 0.2\n", encoding="utf-8")
    monkeypatch.setenv("INTENTMATCH_THRESHOLD", "0.4")

    settings = Matcher.load(tmp_path, encoder=WordHashEncoder(), top_k=2).settings

    assert (settings.threshold, settings.origin("threshold")) == ({"default": 0.4}, "environment INTENTMATCH_THRESHOLD")
    assert (settings.margin, settings.origin("margin")) == (0.2, f"{tmp_path / 'settings.yaml'}:3")
    assert (settings.top_k, settings.origin("top_k")) == (2, "argument")
    assert (settings.encoder, settings.origin("aggregation")) == (WordHashEncoder().name, "default")


def test_load_raises_the_error_for_its_cause(tmp_path: Path) -> None:
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
    with pytest.raises(ArtefactError, match="not an artefact"):
        Matcher.load(tmp_path / "other.bin")


def test_reload_encodes_only_new_utterances(tmp_path: Path) -> None:
    encoder = WordHashEncoder()
    matcher = Matcher.load(write(tmp_path, greet=["hello there"], leave=["goodbye then"]), encoder=encoder)
    encoder.encoded.clear()
    write(tmp_path, greet=["hello there"], leave=["goodbye then", "see you soon"])

    matcher.reload()

    assert set(encoder.encoded) <= {"see you soon", "hello there"}
    assert matcher.match("see you soon").intent == "leave"


def test_reload_keeps_old_registry_on_error(tmp_path: Path) -> None:
    matcher = Matcher.load(write(tmp_path, greet=["hello there"]), encoder=WordHashEncoder())
    before = matcher.artefact
    (tmp_path / "bot.yaml").write_text("intents:\n  greet:\n    uterances: [hi]\n", encoding="utf-8")

    with pytest.raises(RegistryError, match="unknown-key"):
        matcher.reload()

    assert matcher.artefact is before
    assert matcher.match("hello there").intent == "greet"


def test_reload_keeps_the_loaded_encoder(tmp_path: Path) -> None:
    matcher = Matcher.load(write(tmp_path, greet=["hello there"]))
    encoder = matcher.encoder

    matcher.reload()

    assert matcher.encoder is encoder


def test_missing_extra_names_the_pip_command(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(tmp_path, greet=["hello there"])
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)

    with pytest.raises(MissingExtraError, match=r'pip install "intentmatch\[torch\]"'):
        Matcher.load(tmp_path, encoder="sentence_transformer:all-MiniLM-L6-v2")


def test_uncovered_language_is_logged_and_in_problems(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    """Beside the problems of broken rules."""
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


def test_unreadable_slot_is_an_error_when_loading(monkeypatch: pytest.MonkeyPatch) -> None:
    """An invalid pattern, and a kind whose package is missing."""
    broken = Intent("broken", (Utterance("hi"),), slots=(Slot("code", "pattern", patterns=("(",)),))

    dated = Registry((Intent("book", (Utterance("book a table"),), slots=(Slot("day", "date"),)),))

    with pytest.raises(RegistryError, match=r"invalid regular expression in slot .code.: missing \)"):
        Matcher.load(Registry((broken,)), encoder=WordHashEncoder())
    monkeypatch.setattr("intentmatch.core.plugins.installed", lambda module: module != "dateparser")
    with pytest.raises(MissingExtraError, match=r'pip install "intentmatch\[dates\]"'):
        Matcher.load(dated, encoder=WordHashEncoder())


class ChangingEncoder(WordHashEncoder):
    """Gives a single text other vectors than many texts."""

    def encode(self, texts, *, kind="utterance"):
        vectors = super().encode(texts, kind=kind)
        return vectors if len(texts) > 1 else np.roll(vectors, 1, axis=1)


def test_encoder_that_does_not_repeat_its_vectors_is_refused_before_it_answers(tmp_path: Path) -> None:
    with pytest.raises(IntentMatchError, match="no longer returns the vectors that were built"):
        Matcher.load(write(tmp_path, greet=["hello there", "hi"], leave=["goodbye then"]), encoder=ChangingEncoder())
