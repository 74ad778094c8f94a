"""Static encoder: the sum of one vector per subword piece. Needs no torch and microseconds per message.

Reads the file layout of model2vec and of sentence-transformers' StaticEmbedding: `tokenizer.json` beside a
`model.safetensors` with `embeddings` (or `embedding.weight`), and optionally `weights` (one factor per piece) and
`mapping` (piece to row). The embedded model has both: its rows are int8, and rare pieces share rows. A model may also
have a `context.safetensors`, the network that weighs the pieces by their context (`encoders.context`).
"""

from __future__ import annotations

import hashlib
import json
import math
import string
from collections.abc import Iterator, Sequence
from functools import cached_property, lru_cache, reduce
from pathlib import Path
from typing import Any
from zlib import crc32

import numpy as np
from numpy.typing import NDArray
from safetensors import SafetensorError, safe_open

from intentmatch.core import plugins
from intentmatch.core.errors import ModelUnavailableError
from intentmatch.core.settings import Settings
from intentmatch.core.types import Kind, Vectors
from intentmatch.encoders import context, hub
from intentmatch.encoders.context import Context, embedded_context
from intentmatch.encoders.translations import Translations, read_translations
from intentmatch.pieces.embedded import EMBEDDED, MAX_PIECES, embedded_tokenizer
from intentmatch.pieces.unigram import UnigramTokenizer, read_unigram
from intentmatch.pieces.vectors import embedded_content
from intentmatch.storage.regular_files import is_file, is_there
from intentmatch.storage.safetensors import tensors_within

# Part of the fingerprint. Change it together with any code below or in the tokenizer that changes vectors.
_ALGORITHM = b"static/1 unigram/2"
_EMBEDDED_FINGERPRINT = "68d6a0a8b5b0d929"
# Finds a damaged file as surely as the digest, in a third of its time.
_EMBEDDED_CHECKSUM = 0x5D101F33


def load(model: str, settings: Settings) -> StaticEncoder:
    """Load the encoder from a folder, or the embedded encoder if `model` is empty."""
    return StaticEncoder(model or EMBEDDED)


class StaticEncoder:
    """Encode a text as the sum of its pieces' vectors, scaled to unit length. `kind` makes no difference.

    Safe to use from many threads. Raises `ModelUnavailableError` if the folder holds no static model, and
    `MissingExtraError` if its tokenizer needs the package `tokenizers`.
    """

    tolerance = 1e-5
    nested = True

    def __init__(self, folder: str | Path) -> None:
        self._home = Path(folder)
        self._folder = _module_folder(self._home)
        self._tokenizer: UnigramTokenizer | _OtherTokenizer
        self.name = "static" if self._home == EMBEDDED else f"static:{folder}"
        if self._home != EMBEDDED:
            hub.check_files(self._home)
        for name in ("model.safetensors", "tokenizer.json"):
            if not is_file(self._folder / name):
                raise _not_a_model(folder, f"it has no {name}")
        try:
            content = embedded_content() if self._home == EMBEDDED else _read(self._folder / "model.safetensors")
            tensors = tensors_within(content)
        except (SafetensorError, ValueError) as error:
            raise _not_a_model(folder, f"model.safetensors is damaged ({error})") from None
        try:
            file = self._folder / "tokenizer.json"
            self._tokenizer = embedded_tokenizer() if self._home == EMBEDDED else read_unigram(file) or _other(file)
        except (ValueError, KeyError) as error:
            raise _not_a_model(folder, f"tokenizer.json cannot be read ({error})") from None
        network = None if self._home == EMBEDDED else self._network()
        self.fingerprint = _EMBEDDED_FINGERPRINT if self._home == EMBEDDED else _digest(content, file, network)
        """Digest of model.safetensors, tokenizer.json and context.safetensors."""
        if self._home == EMBEDDED and _embedded_checksum() != _EMBEDDED_CHECKSUM:
            raise ModelUnavailableError(f"{EMBEDDED} differs from what was released; reinstall intentmatch")
        rows = tensors.get("embeddings", tensors.get("embedding.weight"))
        if rows is None or rows.ndim != 2:
            raise _not_a_model(folder, "model.safetensors holds no table of embeddings")
        self._rows: NDArray[Any] = rows
        self._mapping: NDArray[np.intp] | None = _optional(tensors.get("mapping"), np.intp)
        self._weights: NDArray[np.float32] | None = _optional(tensors.get("weights"), np.float32)
        pieces = len(rows) if self._mapping is None else len(self._mapping)
        if self._tokenizer.size > pieces:
            raise _not_a_model(folder, f"the tokenizer has more pieces than the table has rows ({pieces})")
        self._unknown = self._tokenizer.unknown
        self._context = embedded_context() if self._home == EMBEDDED else self._fitted(network)
        self._is_unknown = _UnknownLetters(self._tokenizer)

    @property
    def folder(self) -> Path:
        """Folder of the model's files."""
        return self._home

    @property
    def files(self) -> Path:
        """Folder of the table and the tokenizer: `folder`, or the one below it that `modules.json` names."""
        return self._folder

    @property
    def reads_pieces(self) -> bool:
        """Whether `vector_of` gives for pieces of the embedded tokenizer what `encode` gives for their text.

        It does not if a subclass has an `encode` of its own.
        """
        return self._home == EMBEDDED and getattr(self.encode, "__func__", None) is StaticEncoder.encode

    def beyond(self, text: str) -> tuple[int, int] | None:
        """Return the pieces of a text and how many of them are read if it has too many, otherwise None."""
        # A piece has at least one byte.
        if len(text.encode()) <= MAX_PIECES:
            return None
        pieces = len(self._tokenizer.encode(text, len(text.encode())))
        return (pieces, MAX_PIECES) if pieces > MAX_PIECES else None

    @property
    def dim(self) -> int:
        """Dimension of the vectors."""
        return int(self._rows.shape[1])

    @cached_property
    def languages(self) -> frozenset[str] | None:
        """BCP-47 codes from the model card; None if it names none."""
        return hub.card_languages(self._home)

    @cached_property
    def translations(self) -> Translations | None:
        """Distances of translations' vectors, measured when the model was made; None if its folder holds none.

        Raises `ModelUnavailableError` if their file is damaged.
        """
        try:
            return read_translations(self._folder, self.dim)
        except ValueError as error:
            raise _not_a_model(self._home, str(error)) from None

    def unknown(self, text: str) -> str:
        """Return the letters of a text for which the model has no piece, in order."""
        if (text.isascii() and self._reads_ascii) or not any(map(self._is_unknown.__getitem__, text)):
            return ""
        # A vocabulary of whole words may contain a word but none of its letters.
        unread = (w for w in text.split() if self._tokenizer.unknown in self._tokenizer.encode(w, MAX_PIECES))
        return "".join(char for word in unread for char in word if self._is_unknown[char])

    @cached_property
    def _reads_ascii(self) -> bool:
        """Whether all ASCII letters are known, so that `unknown` need not check each letter of most messages."""
        return not any(map(self._is_unknown.__getitem__, string.ascii_letters))

    def encode(self, texts: Sequence[str], *, kind: Kind = "utterance") -> Vectors:
        """Return unit vectors, float32 of shape `(len(texts), dim)`; a text without a known piece gives zeros."""
        found = [self._known(self._tokenizer.encode(text, MAX_PIECES)) for text in texts]
        vectors = np.zeros((len(texts), self.dim), dtype=np.float32)
        if self._context is None or len(texts) == 1:
            for row, pieces in enumerate(found):
                vectors[row] = self.vector_of(pieces)
        elif rows := [row for row, pieces in enumerate(found) if pieces]:
            vectors[rows], _ = self._context.read_many([found[row] for row in rows])
        return vectors

    def vector_of(self, pieces: Sequence[int]) -> NDArray[np.float32]:
        """Return the vector of a text, given by the ids of its pieces, shape `(dim,)`; zeros without a known piece."""
        known = self._known(pieces)
        if self._context is None:
            return self._sum(np.array(known, np.intp))
        return self._context.read(known)[0] if known else np.zeros(self.dim, dtype=np.float32)

    def salience(self, pieces: Sequence[int]) -> NDArray[np.float32] | None:
        """Return how much each piece of a text counts, 0 to 2; None if the model has no network.

        An unknown piece has the salience 0. Added in 0.3.0.
        """
        if self._context is None:
            return None
        found = np.zeros(len(pieces), dtype=np.float32)
        rows = [row for row, piece in enumerate(pieces) if piece != self._unknown]
        if rows:
            _, found[rows] = self._context.read([pieces[row] for row in rows])
        return found

    def _network(self) -> context.NetworkFile | None:
        try:
            return context.read_context(self._folder)
        except ValueError as error:
            raise _not_a_model(self._home, str(error)) from None

    def _fitted(self, network: context.NetworkFile | None) -> Context | None:
        if network is None:
            return None
        try:
            return Context(network.tensors, self._rows, self._mapping, self._weights)
        except ValueError as error:
            raise _not_a_model(self._home, f"{context.FILE} does not fit the model: {error}") from None

    def _known(self, pieces: Sequence[int]) -> Sequence[int]:
        # Unknown pieces are left out, as in model2vec.
        unknown = self._unknown
        return [piece for piece in pieces if piece != unknown] if unknown in pieces else pieces

    def _sum(self, known: NDArray[np.intp]) -> NDArray[np.float32]:
        """Return the sum of some pieces' vectors, scaled to unit length."""
        rows = self._rows.take(known if self._mapping is None else self._mapping.take(known), axis=0).astype(np.float32)
        total: NDArray[np.float32] = rows.sum(axis=0) if self._weights is None else self._weights.take(known).dot(rows)
        length = math.sqrt(total.dot(total))
        if length > 0.0:
            total /= np.float32(length)
        return total


class _UnknownLetters(dict[str, bool]):
    """Map a character to whether it is a letter unknown to a tokenizer; computed once per character."""

    def __init__(self, tokenizer: UnigramTokenizer | _OtherTokenizer) -> None:
        self._tokenizer = tokenizer

    def __missing__(self, char: str) -> bool:
        value = char.isalpha() and self._tokenizer.unknown in self._tokenizer.encode(char, MAX_PIECES)
        self[char] = value
        return value


class _OtherTokenizer:
    """A tokenizer of any kind that the package `tokenizers` reads."""

    def __init__(self, tokenizer: Any) -> None:
        tokenizer.no_padding()
        tokenizer.no_truncation()
        self._tokenizer = tokenizer
        self.size = int(tokenizer.get_vocab_size())
        ids = (tokenizer.token_to_id(token) for token in ("[UNK]", "<unk>"))
        self.unknown = next((number for number in ids if number is not None), None)

    def encode(self, text: str, most: int) -> list[int]:
        """Return the ids of the first `most` pieces of a text."""
        numbers: list[int] = self._tokenizer.encode(text, add_special_tokens=False).ids
        return numbers[:most]


def _read(file: Path) -> NDArray[np.uint8]:
    """Return the bytes of a safetensors file, read once, so that the digest belongs to the bytes in use."""
    with safe_open(file, framework="numpy"):
        return np.fromfile(file, dtype=np.uint8)


def _other(file: Path) -> _OtherTokenizer:
    library = plugins.require("tokenizers", what="The tokenizer of this model", extra="tokenizers")
    try:
        return _OtherTokenizer(library.Tokenizer.from_file(str(file)))
    except Exception as error:  # noqa: BLE001 - the tokenizers package raises plain Exception for a bad file
        raise ValueError(error) from None


def _module_folder(folder: Path) -> Path:
    """Return the folder of the model's files. sentence-transformers may use a subfolder, named in modules.json."""
    modules = folder / "modules.json"
    if is_there(folder / "model.safetensors") or not is_file(modules):
        return folder
    try:
        listed = json.loads(modules.read_text(encoding="utf-8"))
        return folder / str(next(m["path"] for m in listed if m["type"].endswith("StaticEmbedding")))
    except (ValueError, TypeError, KeyError, StopIteration):
        return folder


def _digest(content: NDArray[np.uint8], tokenizer: Path, network: context.NetworkFile | None) -> str:
    digest = hashlib.sha256(_ALGORITHM)
    for part in _parts(content, tokenizer, network):
        digest.update(part)
    return digest.hexdigest()[:16]


@lru_cache(1)
def _embedded_checksum() -> int:
    """CRC-32 of the embedded model, computed once per process, as its files are read once."""
    embedded_context()  # raises `ModelUnavailableError` if the network is damaged
    parts = _parts(embedded_content(), EMBEDDED / "tokenizer.json", context.read_context(EMBEDDED))
    return reduce(lambda before, part: crc32(part, before), parts, 0)


def _parts(
    content: NDArray[np.uint8], tokenizer: Path, network: context.NetworkFile | None
) -> Iterator[bytes | memoryview]:
    """Yield all that determines the vectors of a model."""
    yield content.data
    yield tokenizer.read_bytes()
    if network is not None:
        yield context.ALGORITHM
        yield network.content


def _optional(tensor: NDArray[Any] | None, dtype: type[Any]) -> NDArray[Any] | None:
    return None if tensor is None else tensor.astype(dtype)


def _not_a_model(folder: str | Path, why: str) -> ModelUnavailableError:
    return ModelUnavailableError(
        f"{folder} is not a static model: {why}. Name a folder with tokenizer.json and model.safetensors in the "
        "model2vec layout, or use `encoder: static` for the embedded model."
    )
