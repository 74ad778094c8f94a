"""How an adapted encoder scores messages that it was not trained on.

An encoder knows the utterances that it was trained on better than any message: held out in a cross-validation, they
look too easy. While it is adapted, the models of the folds answer utterances that they have not seen. These answers are
kept beside the model, and take the place of the utterances when a registry is calibrated.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from safetensors import SafetensorError

from intentmatch.core.errors import ModelUnavailableError
from intentmatch.core.types import Encoder
from intentmatch.storage.atomic import write_file
from intentmatch.storage.sealed import read_sealed, seal

FILE = "unseen_messages.safetensors"
"""Name of the file in the folder of an encoder."""


class UnseenMessages(NamedTuple):
    """Answers to messages that an encoder was not trained on, and the lines that it was trained on."""

    lines: NDArray[np.uint64]
    """Digests of the lines, as `digests_of` returns them, rising."""
    ranked: NDArray[np.float64]
    """Evidence of the first intents in falling order, -inf if there are fewer; shape `(messages, ranks)`."""
    place: NDArray[np.int64]
    """Place of the message's own intent among them, 0 for the first; the number of ranks if it is not among them."""
    known: NDArray[np.bool_]
    """Whether the message's own intent was there to be found."""
    scoring: str
    """The settings that decide what evidence is, as `scoring_of` in `learning.unseen_cases` names them."""

    @property
    def digest(self) -> str:
        """Digest of everything."""
        content = hashlib.sha256(self.scoring.encode())
        for part in self[:-1]:
            content.update(np.ascontiguousarray(part).tobytes())
        return content.hexdigest()[:16]

    def save(self, folder: Path) -> None:
        """Write `FILE` in the folder of the encoder, with a digest. Raises `OSError`."""
        tensors: dict[str, NDArray[Any]] = {
            "lines": self.lines.view(np.int64),
            "ranked": self.ranked.astype(np.float32),
            "place": self.place.astype(np.int8),
            "known": self.known.astype(np.int8),
        }
        write_file(folder / FILE, seal(tensors, {"scoring": self.scoring}))


def digests_of(texts: Iterable[str]) -> NDArray[np.uint64]:
    """Return a number for each text, so that lines can be told again without being written down."""
    found = [hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest()[:8] for text in texts]
    return np.frombuffer(b"".join(found), dtype="<u8").astype(np.uint64)


def read_unseen_messages(folder: Path) -> UnseenMessages | None:
    """Read the answers of the encoder in a folder; None if there are none.

    Raises `ModelUnavailableError` if the file is damaged.
    """
    try:
        stored = read_sealed(folder / FILE)
        tensors = stored.tensors
        found = UnseenMessages(
            tensors["lines"].view(np.uint64),
            tensors["ranked"].astype(np.float64),
            tensors["place"].astype(np.int64),
            tensors["known"].astype(bool),
            stored.metadata["scoring"],
        )
        if found.ranked.ndim != 2 or not len(found.ranked) == len(found.place) == len(found.known):
            raise ValueError("its parts have different lengths")
    except FileNotFoundError:
        return None
    except (SafetensorError, KeyError, ValueError, TypeError) as error:
        raise ModelUnavailableError(
            f"{folder}: {FILE} is damaged ({error}); adapt the encoder again, or remove the file to calibrate on the "
            "utterances that it was trained on"
        ) from None
    return found


def unseen_messages_of(encoder: Encoder) -> UnseenMessages | None:
    """Return the answers that an encoder declares, or None."""
    found: UnseenMessages | None = getattr(encoder, "unseen_messages", None)
    return found
