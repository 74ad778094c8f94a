"""Comparison of encoders on one registry."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from answers import LINES, registry_of
from fakes import WordHashEncoder

from intentmatch.core.settings import Settings
from intentmatch.core.types import Intent, Registry, Utterance
from intentmatch.evaluation import encoder_comparison
from intentmatch.evaluation.encoder_comparison import ComparedEncoder, compare_encoders
from intentmatch.evaluation.similarity import ScoredPair

FILLER = ["please", "now", "today", "at once", "if you can", "for me", "again", "dear shop", "thanks"]
PAIRS = [
    ScoredPair("cancel my order", "cancel my order now", 5),
    ScoredPair("hello", "refund", 0),
    ScoredPair("a b", "a c", 3),
]


class Blind(WordHashEncoder):
    """Sees the length of a text only, and says which languages it was trained on and where it is."""

    languages = frozenset(["en", "fr"])

    def __init__(self, folder: Path) -> None:
        super().__init__("blind", "blind-1")
        self.folder = folder

    def encode(self, texts, *, kind="utterance"):
        self.encoded += texts
        lengths = np.array([[1.0, len(text) % 7, *[0.0] * 62] for text in texts], dtype=np.float32).reshape(-1, 64)
        return lengths / np.linalg.norm(lengths, axis=1, keepdims=True)


@pytest.fixture(scope="module")
def registry() -> Registry:
    english = registry_of(
        {name: [f"{text} {more}" for text in texts for more in FILLER] for name, texts in LINES.items()}
    )
    german = Intent("gruss", tuple(Utterance(f"guten Tag {more}", "de") for more in FILLER))
    in_english = (replace(one, utterances=tuple(replace(u, language="en") for u in one.utterances)) for one in english)
    return Registry((*in_english, german))


@pytest.fixture(scope="module")
def rows(registry: Registry, tmp_path_factory: pytest.TempPathFactory) -> list[ComparedEncoder]:
    folder = tmp_path_factory.mktemp("model")
    (folder / "weights").write_bytes(b"1" * 2_000_000)
    (folder / ".cache").mkdir()
    (folder / ".cache/more").write_bytes(b"1" * 9_000_000)
    encoders = {"good": WordHashEncoder(), "blind:model": Blind(folder)}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(encoder_comparison, "megabytes_of", lambda settings, texts: {"good": 12.5}.get(settings.encoder))
        return compare_encoders(registry, Settings(cache="off"), encoders, pairs=PAIRS)


def test_better_encoder_answers_and_refuses_better(rows: list[ComparedEncoder]) -> None:
    good, blind = rows

    assert [row.encoder for row in rows] == ["good", "blind:model"]
    assert good.accuracy > 0.95 > blind.accuracy
    assert good.overall > blind.overall
    assert good.auroc is not None
    assert blind.auroc is not None
    assert good.auroc > blind.auroc
    assert good.refused is not None
    assert 0 <= good.refused <= 1


def test_languages_are_those_of_the_registry_and_of_the_model(rows: list[ComparedEncoder]) -> None:
    good, blind = rows

    assert (good.covered, good.languages) == (None, None)
    assert (blind.covered, blind.languages) == (("en",), 2)
    assert set(good.accuracy_by_language) == {"de", "en"}
    assert good.accuracy_by_language["en"] > blind.accuracy_by_language["en"]


def test_costs_are_measured(rows: list[ComparedEncoder]) -> None:
    """Hidden folders of a model do not count."""
    good, blind = rows

    assert good.milliseconds > 0
    assert (good.memory_megabytes, blind.memory_megabytes) == (12.5, None)
    assert (good.size_megabytes, blind.size_megabytes) == (None, 2.0)
    assert good.dim == 64


def test_agreement_needs_pairs(
    rows: list[ComparedEncoder], registry: Registry, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(encoder_comparison, "megabytes_of", lambda settings, texts: None)
    small = Registry(tuple(registry)[:2])
    (without,) = compare_encoders(small, Settings(cache="off"), {"good": WordHashEncoder()})

    assert rows[0].agreement is not None
    assert rows[0].agreement.spearman == pytest.approx(1.0)
    assert without.agreement is None


def test_registry_without_calibration_has_no_refusals(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(encoder_comparison, "megabytes_of", lambda settings, texts: None)
    tiny = registry_of({"a": ["hello there"], "b": ["good bye"]})
    (row,) = compare_encoders(tiny, Settings(cache="off"), {"good": WordHashEncoder()})

    assert row.refused is None
    assert row.accuracy_by_language == {}
