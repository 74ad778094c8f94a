"""The proof that a multilingual model stays one, with a tiny model that has really learned two languages."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from intentmatch.adaptation import BeforeAfter, EncoderRecipe, adapt_encoder
from intentmatch.adaptation.languages import anchor_texts, found_translations, lacking, parallel_lines
from intentmatch.core.settings import Settings
from intentmatch.core.types import Registry
from intentmatch.encoders.sentence_transformer import SentenceTransformerEncoder

pytestmark = pytest.mark.end_to_end

DIM, BATCH, STEPS = 64, 48, 120


@pytest.fixture(scope="module")
def bilingual(few_frames: Registry, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a model that gives an English sentence and its German translation near vectors."""
    pytest.importorskip("sentence_transformers", reason="needs the extra [torch]")
    import torch

    pairs = [(pair.english, pair.translation) for pair in parallel_lines() if pair.language == "de"]
    texts = [text for pair in parallel_lines() if pair.language == "de" for text in (pair.english, pair.translation)]
    texts += [*(pair.english for pair in parallel_lines()), *anchor_texts({"de"})]
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(2)
        model = _untrained([*texts, *(line.text for line in few_frames.utterances)], tmp_path_factory.mktemp("bert"))
        _train(model, pairs)
    folder = tmp_path_factory.mktemp("encoder") / "bilingual"
    model.save(str(folder), create_model_card=False)
    (folder / "README.md").write_text("---\nlanguage: [en, de]\n---\nTiny.\n", encoding="utf-8")
    return folder


def _untrained(texts: list[str], folder: Path) -> Any:
    """Return a BERT of two layers whose pieces are the words of some texts."""
    from sentence_transformers import SentenceTransformer
    from sentence_transformers.sentence_transformer import modules
    from transformers import BertConfig, BertModel, BertTokenizerFast

    words = sorted({word for text in texts for word in re.findall(r"\w+|[^\w\s]", text.lower())})
    pieces = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", *words]
    (folder / "vocab.txt").write_text("\n".join(pieces), encoding="utf-8")
    BertTokenizerFast(str(folder / "vocab.txt"), strip_accents=False).save_pretrained(folder)
    shape = {"hidden_size": DIM, "intermediate_size": DIM, "num_hidden_layers": 2, "num_attention_heads": 2}
    config = BertConfig(vocab_size=len(pieces), max_position_embeddings=64, initializer_range=0.1, **shape)
    BertModel(config).save_pretrained(folder)
    parts = [modules.Transformer(str(folder), max_seq_length=48), modules.Pooling(DIM, "mean"), modules.Normalize()]
    return SentenceTransformer(modules=parts, device="cpu")


def _train(model: Any, pairs: list[tuple[str, str]]) -> None:
    """Train with the translations of the other pairs in a batch as negatives."""
    import torch

    optimizer, random = torch.optim.AdamW(model.parameters(), lr=3e-3), np.random.default_rng(0)
    model.train()
    for _ in range(STEPS):
        english, german = zip(*(pairs[number] for number in random.permutation(len(pairs))[:BATCH]), strict=True)
        vectors = model(model.preprocess([*english, *german]))["sentence_embedding"]
        scores = vectors[:BATCH] @ vectors[BATCH:].T / 0.07
        same = torch.tensor([[one == other for other in english] for one in english])
        scores = scores.masked_fill(same & ~torch.eye(BATCH, dtype=torch.bool), -1e4)
        own = torch.arange(BATCH)
        loss = torch.nn.functional.cross_entropy(scores, own) + torch.nn.functional.cross_entropy(scores.T, own)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    model.eval()


def proof(
    registry: Registry, settings: Settings, output: Path, **recipe: float
) -> tuple[dict[str, BeforeAfter], Path | None]:
    found = adapt_encoder(registry, settings, output, EncoderRecipe(steps=20, **recipe), folds=2)
    return {row.name: row for row in found.proof.rows}, found.folder


def test_model_that_forgets_its_other_language_is_not_kept(
    few_frames: Registry, bilingual: Path, settings_for: Callable[..., Settings], tmp_path: Path
) -> None:
    """Without the anchor loss and at a high rate, the model learns the registry at the cost of German."""
    settings = settings_for(bilingual, scorer="cosine")

    rows, folder = proof(few_frames, settings, tmp_path / "model", learning_rate=1e-2, anchoring=0.0)

    languages = rows.pop("languages the registry lacks")
    assert folder is None
    assert languages.before > 0.95
    assert languages.after < 0.5
    assert rows["first candidate"].gained
    assert not any(row.lost for row in rows.values())


def test_model_that_keeps_its_other_language_is_written(
    few_frames: Registry, bilingual: Path, settings_for: Callable[..., Settings], tmp_path: Path
) -> None:
    settings = settings_for(bilingual, scorer="cosine")

    rows, folder = proof(few_frames, settings, tmp_path / "model", learning_rate=1e-3)

    assert folder is not None
    assert rows["first candidate"].gained
    assert rows["languages the registry lacks"].after > 0.95
    adapted = SentenceTransformerEncoder(str(folder), device="cpu")
    assert lacking(few_frames, adapted) == {"de"}
    assert (found_translations(adapted, {"de"}) or 0.0) > 0.95
