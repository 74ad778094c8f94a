"""A small registry, and tiny transformers with random weights that learn it within a second."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from intentmatch.core.settings import Settings, resolve
from intentmatch.core.types import Intent, Registry, Utterance

_SUBJECTS = {
    "status": ["parcel", "package", "delivery", "shipment"],
    "cancel": ["cancel", "stop", "revoke", "undo"],
    "refund": ["refund", "money", "repay", "reimburse"],
    "hours": ["open", "hours", "close", "today"],
    "login": ["login", "password", "account", "locked"],
    "human": ["agent", "human", "person", "staff"],
}
_FRAMES = ["{}", "my {}", "please {}", "{} now", "about the {}", "i need {}"]
_WORDS = ["my", "please", "now", "about", "the", "i", "need", "not", "title", "hello", "hola", "wo"]


def registry_of_frames(frames: int = 4, **more: tuple[Utterance, ...]) -> Registry:
    """Six intents with a word each for four subjects, in so many sentences; `more` are negatives by intent."""
    intents = []
    for name, words in _SUBJECTS.items():
        texts = [frame.format(word) for frame in _FRAMES[:frames] for word in words]
        intents.append(Intent(name, tuple(Utterance(text, "en") for text in texts), more.get(name, ())))
    return Registry(tuple(intents))


@pytest.fixture(scope="session")
def frames() -> Registry:
    """Six intents of 16 utterances."""
    return registry_of_frames()


@pytest.fixture(scope="session")
def few_frames() -> Registry:
    """Six intents of 12 utterances, which tiny encoders with random weights confuse and trained ones do not."""
    return registry_of_frames(3)


@pytest.fixture(scope="session")
def tiny_encoder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of an encoder with random weights: a BERT whose pieces are the words of the registry and letters."""
    pytest.importorskip("sentence_transformers", reason="needs the extra [torch]")
    import torch
    from sentence_transformers import SentenceTransformer
    from sentence_transformers.sentence_transformer import modules
    from transformers import BertConfig, BertModel

    folder = tokenizer_folder(tmp_path_factory.mktemp("bert"))
    torch.manual_seed(1)
    BertModel(BertConfig(**_shape(folder))).save_pretrained(folder)
    transformer = modules.Transformer(str(folder), max_seq_length=16)
    whole = tmp_path_factory.mktemp("encoder") / "tiny-encoder"
    parts = [transformer, modules.Pooling(32, "mean"), modules.Normalize()]
    SentenceTransformer(modules=parts, device="cpu").save(str(whole), create_model_card=False)
    (whole / "README.md").write_text("---\nlanguage: en\nlicense: apache-2.0\n---\nTiny.\n", encoding="utf-8")
    (whole / "LICENSE").write_text("Do as you like.\n", encoding="utf-8")
    return whole


@pytest.fixture
def settings_for(tmp_path: Path) -> Callable[..., Settings]:
    """Settings for an encoder on the CPU, without a cache."""

    def settings(encoder: Path | str, **more: object) -> Settings:
        name = encoder if isinstance(encoder, str) else f"sentence_transformer:{encoder}"
        return resolve({"encoder": name, "device": "cpu", "cache": str(tmp_path / "cache"), **more})

    return settings


def tokenizer_folder(folder: Path) -> Path:
    """Write a tokenizer of whole words, with letters for all others."""
    from transformers import BertTokenizerFast

    letters = [chr(number) for number in range(ord("a"), ord("z") + 1)]
    words = [word for some in _SUBJECTS.values() for word in some]
    pieces = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", *letters, *(f"##{letter}" for letter in letters), *words, *_WORDS]
    (folder / "vocab.txt").write_text("\n".join(dict.fromkeys(pieces)), encoding="utf-8")
    BertTokenizerFast(str(folder / "vocab.txt")).save_pretrained(folder)
    return folder


def _shape(folder: Path) -> dict[str, float]:
    pieces = (folder / "vocab.txt").read_text(encoding="utf-8").splitlines()
    shape = {"hidden_size": 32, "intermediate_size": 64, "num_hidden_layers": 1, "num_attention_heads": 2}
    return {"vocab_size": len(pieces), "max_position_embeddings": 32, "initializer_range": 0.05, **shape}
