"""The reranker: a real cross-encoder with fixed weights."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from fakes import WordHashEncoder
from optional import later

from intentmatch.core.errors import ModelUnavailableError
from intentmatch.core.settings import Settings
from intentmatch.core.types import Intent, Registry, Reranker, Utterance
from intentmatch.matching.matcher import Matcher
from intentmatch.matching.reranker import CrossEncoderReranker, load_reranker

torch = later("torch", reason="needs the extra [torch]")
library = later("sentence_transformers", reason="needs the extra [torch]")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A small cross-encoder made from a seed and saved to a folder."""
    return make_cross_encoder(tmp_path_factory.mktemp("cross-encoder"), labels=1)


def make_cross_encoder(folder: Path, labels: int) -> Path:
    transformers = pytest.importorskip("transformers")
    words = [
        "[PAD]",
        "[UNK]",
        "[CLS]",
        "[SEP]",
        "[MASK]",
        *"abcdefghijklmnopqrstuvwxyz",
        *(f"##{c}" for c in "abcdefghijklmnopqrstuvwxyz"),
    ]
    (folder / "vocab.txt").write_text("\n".join(words), encoding="utf-8")
    tokenizer = transformers.BertTokenizerFast(
        vocab_file=str(folder / "vocab.txt"), vocab={w: n for n, w in enumerate(words)}
    )
    torch.manual_seed(7)
    config = transformers.BertConfig(
        vocab_size=len(words), hidden_size=16, num_hidden_layers=1, num_attention_heads=2, intermediate_size=16,
        max_position_embeddings=64, num_labels=labels,
    )  # fmt: skip
    model = transformers.BertForSequenceClassification(config)
    with torch.no_grad():
        model.classifier.weight.mul_(40.0)
    model.save_pretrained(folder, safe_serialization=True)
    tokenizer.save_pretrained(folder)
    return folder


def test_score_is_the_sigmoid_of_the_cross_encoder_logit(folder: Path) -> None:
    reranker = load_reranker(Settings(reranker=str(folder)))
    assert isinstance(reranker, Reranker)
    lines = ["where is my order", "cancel my order", "hello"]

    scores = reranker.score("where is it", lines)

    model = library.CrossEncoder(str(folder), device="cpu")
    logits = model.predict([("where is it", line) for line in lines], activation_fn=torch.nn.Identity())
    assert scores == pytest.approx(1.0 / (1.0 + np.exp(-logits)), abs=1e-5)
    assert len(set(scores.tolist())) == 3
    assert reranker.score("where is it", []).shape == (0,)


def test_reranker_is_called_only_in_doubt(folder: Path) -> None:
    """The trace shows the moved scores."""
    real = CrossEncoderReranker(library.CrossEncoder(str(folder), device="cpu"))
    asked: list[str] = []

    class Recording:
        name = "recording"

        def score(self, message: str, utterances: list[str]) -> np.ndarray:
            asked.append(message)
            return real.score(message, utterances)

    registry = Registry(
        (
            Intent("status", (Utterance("where is my order"), Utterance("track my order now please"))),
            Intent("cancel", (Utterance("cancel my order"), Utterance("stop my order now please"))),
            Intent("greet", (Utterance("hello there"), Utterance("good morning to you"))),
        )
    )
    matcher = Matcher.load(
        registry, encoder=WordHashEncoder(), reranker=Recording(), threshold=0.3, band=0.05, cache="off"
    )

    clear = matcher.match("hello there you")
    doubtful = matcher.match("my order now please")

    assert asked == ["my order now please"]
    assert "reranker" not in [stage.name for stage in clear.trace.stages]
    assert doubtful.trace.decided_by == "reranker"
    says = next(stage.says for stage in doubtful.trace.stages if stage.name == "reranker")
    assert says.startswith("in doubt (ambiguous), recording moved cancel ")
    names = {intent.name: [u.text for u in intent.utterances] for intent in registry}
    plain = Matcher.load(registry, encoder=WordHashEncoder(), threshold=0.3, cache="off").match("my order now please")
    for candidate in doubtful.candidates[:2]:
        reranked = float(real.score("my order now please", names[candidate.intent]).max())
        before = next(c.score for c in plain.candidates if c.intent == candidate.intent)
        assert candidate.score == pytest.approx((before + reranked) / 2, abs=1e-5)


def test_yaml_setting_loads_the_reranker(folder: Path, tmp_path: Path) -> None:
    """With or without its kind in front."""
    (tmp_path / "bot.yaml").write_text(
        f"settings:\n  reranker: {json.dumps(str(folder))}\n  band: 1.0\nintents:\n  a:\n    utterances: [hello you]\n",
        encoding="utf-8",
    )

    result = Matcher.load(tmp_path, encoder=WordHashEncoder()).match("hello me")

    assert result.trace.decided_by == "reranker"
    assert load_reranker(Settings(reranker=f"cross_encoder:{folder}")) is not None
    assert load_reranker(Settings()) is None


def test_model_with_several_outputs_is_refused(tmp_path: Path) -> None:
    folder = make_cross_encoder(tmp_path, labels=3)

    with pytest.raises(ModelUnavailableError, match="returns 3 numbers"):
        load_reranker(Settings(reranker=str(folder)))


def test_unavailable_reranker_is_not_replaced_by_an_encoder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    monkeypatch.setenv("HF_HUB_CACHE", str(tmp_path))
    with pytest.raises(ModelUnavailableError, match=r"or use `reranker: none`, which needs neither"):
        load_reranker(Settings(reranker="no-such-cross-encoder"))


def test_missing_or_invalid_reranker_is_an_error() -> None:
    with pytest.raises(ModelUnavailableError, match="no folder"):
        load_reranker(Settings(reranker="./missing"))
    with pytest.raises(ModelUnavailableError, match="cannot be loaded"):
        load_reranker(Settings(reranker=str(Path(__file__).parent)))
