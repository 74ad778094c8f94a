"""The static encoder: the embedded model and other folders in the model2vec layout."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from safetensors.numpy import load_file, save_file

from intentmatch.core.errors import MissingExtraError, ModelUnavailableError
from intentmatch.core.settings import Settings
from intentmatch.encoders import load_encoder, static
from intentmatch.encoders.static import StaticEncoder
from intentmatch.pieces.embedded import EMBEDDED

# The first five numbers of five sentences. A library or model change that moves them moves every user's vectors.
GOLDEN = {
    "where is my package": [0.17575, 0.27295, 0.05796, 0.10478, 0.00295],
    "wo ist mein Paket?": [0.20332, 0.16663, 0.03807, 0.21524, 0.08751],
    "我的包裹在哪里": [0.13458, 0.19323, 0.10215, 0.0887, -0.04625],
    "siparişim nerede": [0.03803, 0.30541, 0.01948, 0.21132, -0.02657],
    "أين طردي؟": [0.11664, 0.15291, 0.17477, 0.19453, 0.07395],
}


@pytest.fixture(scope="module")
def embedded() -> StaticEncoder:
    return StaticEncoder(EMBEDDED)


@pytest.mark.parametrize("text", GOLDEN)
def test_embedded_model_gives_golden_vectors(embedded: StaticEncoder, text: str) -> None:
    assert embedded.encode([text])[0, :5] == pytest.approx(GOLDEN[text], abs=1e-5)


def test_translations_are_nearer_than_another_sentence(embedded: StaticEncoder) -> None:
    english, german, chinese, other = embedded.encode(
        ["where is my package", "wo ist mein paket", "我的包裹在哪里", "what a nice day"]
    )

    assert min(english @ german, english @ chinese) > 0.75 > 0.3 > english @ other


def test_embedded_model_is_at_most_28_mb() -> None:
    assert sum(file.stat().st_size for file in EMBEDDED.iterdir()) <= 28_000_000


@pytest.fixture
def table(tmp_path: Path) -> Path:
    """The folder of the embedded model without its network."""
    folder = tmp_path / "table"
    folder.mkdir()
    for name in ("tokenizer.json", "model.safetensors", "config.json", "modules.json"):
        (folder / name).write_bytes((EMBEDDED / name).read_bytes())
    return folder


@pytest.mark.parametrize(
    "around",
    [
        "hello, {}",
        "{}, many thanks",
        "{} 99123",
        "please: {} #A-4711",
        "**{}**",
        "{}!!!",
        "hi team, {} regards, Tom",
    ],
)
def test_surroundings_barely_move_a_vector(embedded: StaticEncoder, table: Path, around: str) -> None:
    """Less than they move the sum of the pieces."""
    requests = ["where is my package", "I want to close my account", "change the delivery address"]

    def similarity(encoder: StaticEncoder) -> float:
        return float((encoder.encode(requests) * encoder.encode([around.format(r) for r in requests])).sum(1).mean())

    assert similarity(embedded) > max(0.8, similarity(StaticEncoder(table)))


def test_int8_rows_equal_float32_rows_to_1e_5(embedded: StaticEncoder, tmp_path: Path) -> None:
    tensors = load_file(EMBEDDED / "model.safetensors")
    folder = tmp_path / "float"
    folder.mkdir()
    (folder / "tokenizer.json").write_bytes((EMBEDDED / "tokenizer.json").read_bytes())
    (folder / "context.safetensors").write_bytes((EMBEDDED / "context.safetensors").read_bytes())
    # Pieces without weight have a direction, which the network reads.
    weights = tensors["weights"]
    rows = tensors["embeddings"].astype(np.float32)[tensors["mapping"]] * np.where(weights, weights, 1.0)[:, None]
    save_file({"embeddings": rows, "weights": np.sign(weights)}, folder / "model.safetensors")
    texts = list(GOLDEN)

    assert np.abs(StaticEncoder(folder).encode(texts) - embedded.encode(texts)).max() < 1e-5


def test_exchanges_models_with_sentence_transformers(table: Path, tmp_path: Path) -> None:
    """sentence-transformers loads our table, and a model it saved loads here, with the same vectors."""
    library = pytest.importorskip("sentence_transformers", reason="needs the extra [torch]")
    if tuple(map(int, library.__version__.split(".")[:2])) < (6, 2):
        pytest.skip("older releases do not read tables of int8")
    theirs = library.SentenceTransformer(str(EMBEDDED), device="cpu")
    theirs.save(str(tmp_path / "saved"))
    texts = list(GOLDEN)
    expected = StaticEncoder(table).encode(texts)

    assert np.abs(theirs.encode(texts) - expected).max() < 1e-5
    assert np.abs(StaticEncoder(tmp_path / "saved").encode(texts) - expected).max() < 1e-5


def test_mapping_and_weights_give_the_same_vectors_in_any_row_order(embedded: StaticEncoder, tmp_path: Path) -> None:
    tensors = load_file(EMBEDDED / "model.safetensors")
    order = np.random.default_rng(0).permutation(len(tensors["embeddings"]))
    for name in ("tokenizer.json", "context.safetensors"):
        (tmp_path / name).write_bytes((EMBEDDED / name).read_bytes())
    save_file(
        {
            "embeddings": np.ascontiguousarray(tensors["embeddings"][order]),
            "mapping": np.argsort(order)[tensors["mapping"]],
            "weights": tensors["weights"],
        },
        tmp_path / "model.safetensors",
    )
    texts = list(GOLDEN)

    assert np.abs(StaticEncoder(tmp_path).encode(texts) - embedded.encode(texts)).max() < 1e-5


def test_fingerprint_depends_on_file_content(embedded: StaticEncoder, tmp_path: Path) -> None:
    for name in ("tokenizer.json", "model.safetensors", "context.safetensors"):
        (tmp_path / name).write_bytes((EMBEDDED / name).read_bytes())
    same = StaticEncoder(tmp_path).fingerprint
    tensors = load_file(tmp_path / "model.safetensors")
    tensors["weights"][100] *= 1.5
    save_file(tensors, tmp_path / "model.safetensors")

    assert same == embedded.fingerprint != StaticEncoder(tmp_path).fingerprint


def test_reads_a_wordpiece_model(tmp_path: Path) -> None:
    """As the models published by model2vec."""
    library = pytest.importorskip("tokenizers", reason="needs the extra [tokenizers]")
    words = ["[PAD]", "[UNK]", "hello", "world", "##s"]
    tokenizer = library.Tokenizer(library.models.WordPiece({w: n for n, w in enumerate(words)}, unk_token="[UNK]"))
    tokenizer.normalizer = library.normalizers.Lowercase()
    tokenizer.pre_tokenizer = library.pre_tokenizers.Whitespace()
    tokenizer.save(str(tmp_path / "tokenizer.json"))
    rows = np.array([[9, 9], [9, 9], [1, 0], [0, 1], [0, 1]], dtype=np.float16)
    save_file({"embeddings": rows}, tmp_path / "model.safetensors")

    vectors = StaticEncoder(tmp_path).encode(["Hello worlds", "hello unknown", "unknown"])

    assert vectors == pytest.approx(np.array([[1, 2], [5**0.5, 0], [0, 0]]) / 5**0.5, abs=1e-4)


def test_other_tokenizer_without_its_extra_names_the_pip_command(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "tokenizer.json").write_text('{"model": {"type": "WordPiece"}}', encoding="utf-8")
    save_file({"embeddings": np.zeros((3, 4), dtype=np.float32)}, tmp_path / "model.safetensors")
    monkeypatch.setitem(sys.modules, "tokenizers", None)

    with pytest.raises(MissingExtraError, match=r'pip install "intentmatch\[tokenizers\]"'):
        StaticEncoder(tmp_path)


def test_missing_file_is_named(tmp_path: Path) -> None:
    save_file({"embeddings": np.zeros((3, 4), dtype=np.float32)}, tmp_path / "model.safetensors")

    with pytest.raises(ModelUnavailableError, match=r"it has no tokenizer\.json"):
        StaticEncoder(tmp_path)


@pytest.mark.parametrize("broken", ["nothing", "weights", "tokenizer", "tensor", "rows"])
def test_invalid_folder_is_refused_with_a_remedy(tmp_path: Path, broken: str) -> None:
    if broken != "nothing":
        (tmp_path / "tokenizer.json").write_bytes((EMBEDDED / "tokenizer.json").read_bytes())
        save_file({"embeddings": np.zeros((64000, 4), dtype=np.float32)}, tmp_path / "model.safetensors")
    if broken == "weights":
        (tmp_path / "model.safetensors").write_bytes(b"\x08\0\0\0\0\0\0\0 broken ")
    if broken == "tokenizer":
        (tmp_path / "tokenizer.json").write_text("{}", encoding="utf-8")
    if broken == "tensor":
        save_file({"other": np.zeros((3, 4), dtype=np.float32)}, tmp_path / "model.safetensors")
    if broken == "rows":
        save_file({"embeddings": np.zeros((10, 4), dtype=np.float32)}, tmp_path / "model.safetensors")

    with pytest.raises(ModelUnavailableError, match=r"is not a static model: .* or use `encoder: static`"):
        load_encoder(Settings(encoder=f"static:{tmp_path}"))


def test_encoding_imports_neither_torch_nor_tokenizers() -> None:
    code = (
        "import json, sys; from intentmatch.encoders.static import EMBEDDED, StaticEncoder;"
        "StaticEncoder(EMBEDDED).encode(['a']);"
        "print(json.dumps([m for m in ('torch', 'tokenizers', 'huggingface_hub') if m in sys.modules]))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)

    assert json.loads(done.stdout) == []


def test_embedded_model_names_its_languages(embedded: StaticEncoder) -> None:
    assert embedded.languages is not None
    assert {"en", "de", "zh", "ar", "hi", "nb"} < embedded.languages
    assert len(embedded.languages) > 100


def test_languages_come_from_the_card_above_the_module_folder(tmp_path: Path) -> None:
    """Without a card there are none."""
    (tmp_path / "0_StaticEmbedding").mkdir()
    for name in ("tokenizer.json", "model.safetensors"):
        (tmp_path / "0_StaticEmbedding" / name).symlink_to(EMBEDDED / name)
    modules = [{"path": "0_StaticEmbedding", "type": "sentence_transformers.models.StaticEmbedding"}]
    (tmp_path / "modules.json").write_text(json.dumps(modules), encoding="utf-8")

    assert StaticEncoder(tmp_path).languages is None
    (tmp_path / "README.md").write_text("---\nlanguage: [en, de]\n---\n", encoding="utf-8")
    assert StaticEncoder(tmp_path).languages == {"en", "de"}


@pytest.mark.parametrize(
    ("text", "unknown"),
    [
        ("where is my package", ""),
        ("Wo ist mein Paket? 12:30 👍", ""),
        ("我的包裹在哪里, أين طردي, मेरा पार्सल कहाँ है", ""),
        ("where is ᎠᏂᏴᏫᏯ, 5 ᎤᏂ", "ᎠᏂᏴᏫᏯᎤᏂ"),
        ("𐊠x𐊡 𐊢", "𐊠𐊡𐊢"),
        ("", ""),
    ],
)
def test_unknown_returns_letters_without_a_piece(embedded: StaticEncoder, text: str, unknown: str) -> None:
    """Marks and digits are not letters."""
    assert embedded.unknown(text) == unknown


def test_unknown_with_a_vocabulary_of_whole_words(tmp_path: Path) -> None:
    """A known word has no unknown letters, even if none of its letters is in the vocabulary."""
    library = pytest.importorskip("tokenizers", reason="needs the extra [tokenizers]")
    tokenizer = library.Tokenizer(library.models.WordLevel({"[UNK]": 0, "hello": 1, "i": 2}, unk_token="[UNK]"))
    tokenizer.pre_tokenizer = library.pre_tokenizers.Whitespace()
    tokenizer.save(str(tmp_path / "tokenizer.json"))
    save_file({"embeddings": np.eye(3, dtype=np.float32)}, tmp_path / "model.safetensors")

    assert StaticEncoder(tmp_path).unknown("hello hi, i") == "h"


def test_text_of_too_many_pieces_is_counted() -> None:
    encoder = load_encoder(Settings())
    pieces, most = encoder.beyond("x y " * 400) or (0, 0)

    assert encoder.beyond("x y " * 100) is None
    assert encoder.beyond("a" * 600) is None or most == 512
    assert pieces > most == 512


def test_embedded_model_is_the_released_one(monkeypatch: pytest.MonkeyPatch) -> None:
    """A damaged installation would answer otherwise without a word."""
    monkeypatch.setattr(static, "_EMBEDDED_CHECKSUM", 0)

    with pytest.raises(ModelUnavailableError, match="differs from what was released; reinstall intentmatch"):
        StaticEncoder(EMBEDDED)
