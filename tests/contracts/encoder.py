"""The laws of the `Encoder` protocol, as functions that the tests of any implementation can call.

A package that adds an encoder can run them too: `for law in LAWS: law(my_encoder)`.
"""

from __future__ import annotations

import threading
from collections.abc import Callable

import numpy as np

from intentmatch.core.types import Encoder

TEXTS = [
    "where is my package",
    "wo ist mein Paket?",
    "我的包裹在哪里",
    "أين طردي",
    "मेरा पार्सल कहाँ है",
    "e\u0301te\u0301",
    "👩‍👩‍👧 family",
    "a",
    "no",
    "very long " * 1000,
]

LAWS: list[Callable[[Encoder], None]] = []


def law(check: Callable[[Encoder], None]) -> Callable[[Encoder], None]:
    LAWS.append(check)
    return check


@law
def has_stable_identity(encoder: Encoder) -> None:
    """Name, dimension, fingerprint and tolerance are set and do not change."""
    assert isinstance(encoder, Encoder)
    assert encoder.name
    assert encoder.dim > 0
    assert encoder.fingerprint == encoder.fingerprint != ""
    assert 0.0 <= encoder.tolerance < 0.05


@law
def recognises_its_own_fingerprint(encoder: Encoder) -> None:
    """`same_as`, if there is one, accepts the encoder's own fingerprint and no other."""
    if hasattr(encoder, "same_as"):
        assert encoder.same_as(encoder.fingerprint) is True
        assert encoder.same_as("something else") is False


@law
def reports_languages_or_none(encoder: Encoder) -> None:
    """`languages`, if there are any, are None or a set of codes, and do not change."""
    languages = getattr(encoder, "languages", None)

    assert languages is None or (isinstance(languages, frozenset) and languages)
    assert all(isinstance(code, str) and code for code in languages or ())
    assert languages == getattr(encoder, "languages", None)


@law
def reports_whether_batching_helps(encoder: Encoder) -> None:
    """`batches`, if there is one, is a bool and does not change."""
    assert getattr(encoder, "batches", False) in (True, False)
    assert getattr(encoder, "batches", False) is getattr(encoder, "batches", False)


@law
def reports_unknown_letters_in_order(encoder: Encoder) -> None:
    """`unknown`, if there is one, returns letters of the text; a text of unknown letters is a row of zeros."""
    if not hasattr(encoder, "unknown"):
        return
    for text in [*TEXTS, "", "?!", "𐊠𐊡 12 𐊢"]:
        letters, unknown = [char for char in text if char.isalpha()], encoder.unknown(text)
        remaining = iter(letters)
        assert all(char in remaining for char in unknown)
        if letters and len(unknown) == len(letters) == len(text):
            assert not encoder.encode([text]).any()


@law
def returns_float32_rows_of_its_dimension(encoder: Encoder) -> None:
    """One float32 row of `dim` finite numbers per text."""
    vectors = encoder.encode(TEXTS)

    assert vectors.shape == (len(TEXTS), encoder.dim)
    assert vectors.dtype == np.float32
    assert np.isfinite(vectors).all()


@law
def returns_unit_or_zero_rows(encoder: Encoder) -> None:
    """Every row has length 1, or is all zeros if the encoder knows nothing of the text."""
    lengths = np.linalg.norm(encoder.encode([*TEXTS, ""]), axis=1)

    assert np.all((np.abs(lengths - 1.0) < 1e-3) | (lengths == 0.0))
    assert np.abs(lengths[0] - 1.0) < 1e-3


@law
def accepts_no_texts(encoder: Encoder) -> None:
    """No texts give no rows, with the right dimension."""
    assert encoder.encode([]).shape == (0, encoder.dim)


@law
def encodes_batches_like_single_texts(encoder: Encoder) -> None:
    """A batch gives the rows of its single texts, in order and within the declared tolerance."""
    together = encoder.encode(TEXTS)
    alone = np.concatenate([encoder.encode([text]) for text in TEXTS])

    assert np.abs(together - alone).max() <= encoder.tolerance


@law
def is_deterministic(encoder: Encoder) -> None:
    """The same texts give the same numbers."""
    assert np.array_equal(encoder.encode(TEXTS), encoder.encode(TEXTS))


@law
def encodes_each_text_on_its_own(encoder: Encoder) -> None:
    """Unusual texts do not change the rows beside them."""
    odd = ["", "\ufffd", "?" * 5000, "\u200d"]
    mixed = [line for pair in zip(TEXTS[:4], odd, strict=True) for line in pair]

    assert np.abs(encoder.encode(mixed)[::2] - encoder.encode(TEXTS[:4])).max() <= encoder.tolerance


@law
def encodes_queries_and_utterances(encoder: Encoder) -> None:
    """Both kinds of text give rows of one space."""
    query = encoder.encode(TEXTS[:1], kind="query")
    utterances = encoder.encode(TEXTS[:2], kind="utterance")

    assert query.shape == (1, encoder.dim)
    assert float(query[0] @ utterances[0]) > 0.8


@law
def serves_many_threads(encoder: Encoder) -> None:
    """Sixteen threads get what one thread gets."""
    expected = encoder.encode(TEXTS[:4])
    wrong: list[float] = []

    def work() -> None:
        for _ in range(3):
            difference = float(np.abs(encoder.encode(TEXTS[:4]) - expected).max())
            if difference > encoder.tolerance:
                wrong.append(difference)

    threads = [threading.Thread(target=work) for _ in range(16)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []
