"""The laws of the `Encoder` protocol, as functions that any implementation's tests may call.

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
def says_who_it_is(encoder: Encoder) -> None:
    """Name, dimension, fingerprint and tolerance are there, and stay."""
    assert isinstance(encoder, Encoder)
    assert encoder.name
    assert encoder.dim > 0
    assert encoder.fingerprint == encoder.fingerprint != ""
    assert 0.0 <= encoder.tolerance < 0.05


@law
def knows_its_own_vectors(encoder: Encoder) -> None:
    """Where there is `same_as`, its own fingerprint is, and one of something else is not."""
    if hasattr(encoder, "same_as"):
        assert encoder.same_as(encoder.fingerprint) is True
        assert encoder.same_as("something else") is False


@law
def tells_its_languages_or_says_nothing(encoder: Encoder) -> None:
    """Where there are `languages`, they are None or codes, and stay."""
    languages = getattr(encoder, "languages", None)

    assert languages is None or (isinstance(languages, frozenset) and languages)
    assert all(isinstance(code, str) and code for code in languages or ())
    assert languages == getattr(encoder, "languages", None)


@law
def says_whether_it_gains_from_batches(encoder: Encoder) -> None:
    """Where there is `batches`, it is yes or no, and stays."""
    assert getattr(encoder, "batches", False) in (True, False)
    assert getattr(encoder, "batches", False) is getattr(encoder, "batches", False)


@law
def names_unknown_letters_in_their_order(encoder: Encoder) -> None:
    """Where there is `unknown`, it gives letters of the text and nothing else; a text it knows none of is zeros."""
    if not hasattr(encoder, "unknown"):
        return
    for text in [*TEXTS, "", "?!", "𐊠𐊡 12 𐊢"]:
        letters, unknown = [char for char in text if char.isalpha()], encoder.unknown(text)
        remaining = iter(letters)
        assert all(char in remaining for char in unknown)
        if letters and len(unknown) == len(letters) == len(text):
            assert not encoder.encode([text]).any()


@law
def gives_float32_rows_of_its_dimension(encoder: Encoder) -> None:
    """One float32 row of `dim` finite numbers for each text."""
    vectors = encoder.encode(TEXTS)

    assert vectors.shape == (len(TEXTS), encoder.dim)
    assert vectors.dtype == np.float32
    assert np.isfinite(vectors).all()


@law
def gives_unit_or_zero_rows(encoder: Encoder) -> None:
    """Every row is of unit length, or all zeros where the encoder knows nothing of the text."""
    lengths = np.linalg.norm(encoder.encode([*TEXTS, ""]), axis=1)

    assert np.all((np.abs(lengths - 1.0) < 1e-3) | (lengths == 0.0))
    assert np.abs(lengths[0] - 1.0) < 1e-3


@law
def takes_no_texts(encoder: Encoder) -> None:
    """No texts, no rows, but the dimension is right."""
    assert encoder.encode([]).shape == (0, encoder.dim)


@law
def is_the_same_one_by_one(encoder: Encoder) -> None:
    """A batch gives what its texts give alone, within the declared tolerance, in the order of the texts."""
    together = encoder.encode(TEXTS)
    alone = np.concatenate([encoder.encode([text]) for text in TEXTS])

    assert np.abs(together - alone).max() <= encoder.tolerance


@law
def is_deterministic(encoder: Encoder) -> None:
    """The same texts give the same numbers."""
    assert np.array_equal(encoder.encode(TEXTS), encoder.encode(TEXTS))


@law
def keeps_neighbours_apart(encoder: Encoder) -> None:
    """An odd text changes nothing about the rows beside it."""
    odd = ["", "\ufffd", "?" * 5000, "\u200d"]
    mixed = [line for pair in zip(TEXTS[:4], odd, strict=True) for line in pair]

    assert np.abs(encoder.encode(mixed)[::2] - encoder.encode(TEXTS[:4])).max() <= encoder.tolerance


@law
def knows_queries_and_utterances(encoder: Encoder) -> None:
    """Both kinds of text are understood and give rows of one space."""
    asked = encoder.encode(TEXTS[:1], kind="query")
    written = encoder.encode(TEXTS[:2], kind="utterance")

    assert asked.shape == (1, encoder.dim)
    assert float(asked[0] @ written[0]) > 0.8


@law
def serves_many_threads(encoder: Encoder) -> None:
    """Sixteen threads at once get what one gets."""
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
