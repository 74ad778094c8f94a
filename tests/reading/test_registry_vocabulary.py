"""Words of a registry and how often they occur."""

from __future__ import annotations

from intentmatch.reading.vocabulary import Vocabulary
from intentmatch.runtime.block_sizes import SPELLING_TEXTS


def test_words_are_counted_in_the_order_in_which_they_first_occur() -> None:
    vocabulary = Vocabulary(["cancel my order", "my parcel", "order order"])

    assert [*vocabulary.counts.items()] == [("cancel", 1), ("my", 2), ("order", 3), ("parcel", 1)]
    assert vocabulary.words == {"cancel", "my", "order", "parcel"}


def test_utterances_of_all_blocks_count() -> None:
    assert Vocabulary(["one more"] * (SPELLING_TEXTS + 1)).counts == {
        "one": SPELLING_TEXTS + 1,
        "more": SPELLING_TEXTS + 1,
    }


def test_registry_without_utterances_has_no_words() -> None:
    assert Vocabulary([]).words == frozenset()
