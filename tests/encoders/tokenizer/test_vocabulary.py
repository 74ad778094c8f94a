"""Pieces that are read as words ask for them, held against the whole vocabulary."""

from __future__ import annotations

import json
import threading
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from intentmatch.core.errors import ModelUnavailableError
from intentmatch.encoders.tokenizer import unigram
from intentmatch.encoders.tokenizer.embedded import EMBEDDED
from intentmatch.encoders.tokenizer.unigram import UnigramTokenizer, read_unigram
from intentmatch.encoders.tokenizer.vocabulary import ESCAPED, SPACE, beginnings, unread, ways_to_begin

SHIPPED = (EMBEDDED / "tokenizer.json").read_bytes()
CONTENT = json.loads(SHIPPED)
# Signs of which files are made, letters of one to four bytes, and the sign of a space with its neighbours.
LETTERS = st.text(st.sampled_from('"\\[],:-1ab éж한𝒳▁▂'), min_size=1, max_size=5)
SCORES = st.floats(-20, 0, allow_nan=False)


def written(vocabulary: list[Any], **layout: Any) -> bytes:
    """A file like the shipped one, with other pieces."""
    content = CONTENT | {"model": CONTENT["model"] | {"vocab": vocabulary}}
    return json.dumps(content, **({"ensure_ascii": False, "separators": (",", ":")} | layout)).encode()


def numbers_of(vocabulary: list[Any]) -> dict[str, int]:
    return {piece: number for number, (piece, _) in enumerate(vocabulary)}


def test_the_shipped_vocabulary_is_read_as_it_is() -> None:
    """All pieces of the embedded model, each found by how it begins, with its number and its score."""
    content, pieces = unread(SHIPPED)  # type: ignore[misc]
    vocabulary = CONTENT["model"]["vocab"]
    ways = {ESCAPED}.union(*(ways_to_begin(beginnings(piece)) for piece, _ in vocabulary))

    found = sorted(pieces.beginning(ways))

    assert content == CONTENT | {"model": CONTENT["model"] | {"vocab": []}}
    assert found == [(number, piece, score) for number, (piece, score) in enumerate(vocabulary)]
    assert pieces.all() == vocabulary
    assert len(pieces) == len(vocabulary)
    assert pieces.longest >= max(len(piece) for piece, _ in vocabulary)


@given(st.lists(st.tuples(LETTERS, SCORES), min_size=1, max_size=30), LETTERS)
def test_a_word_is_cut_as_by_the_whole_vocabulary(vocabulary: list[tuple[str, float]], word: str) -> None:
    """Whatever the pieces are: quotes, brackets, escapes, twice the same."""
    whole = UnigramTokenizer(vocabulary, 0)
    found = unread(written(vocabulary))

    if found is not None:
        assert UnigramTokenizer(found[1], 0).encode(word, 99) == whole.encode(word, 99)


@given(st.lists(st.tuples(st.text(st.sampled_from("abéж한𝒳▁")), SCORES), min_size=1, max_size=30))
def test_words_are_always_told_apart(vocabulary: list[tuple[str, float]]) -> None:
    """A file without spaces and with letters only is one that is read as words ask for it."""
    assert unread(written(vocabulary)) is not None


@pytest.mark.parametrize(
    "layout",
    [{"separators": (", ", ": ")}, {"indent": 1}, {"separators": (",", ": ")}],
    ids=["spaces", "lines", "colons"],
)
def test_a_file_in_another_layout_is_read_at_once(tmp_path: Path, layout: dict[str, Any]) -> None:
    """It may have been written by anyone, and gives the same pieces."""
    vocabulary = [["?", 0.0], [SPACE, -5.0], [SPACE + "ab", -3.0], ["c", -2.0]]
    raw = written(vocabulary, **layout)
    (tmp_path / "tokenizer.json").write_bytes(raw)

    assert unread(raw) is None
    tokenizer = read_unigram(tmp_path / "tokenizer.json")
    assert tokenizer is not None
    assert tokenizer.encode("abc", 9) == [2, 3]


@pytest.mark.parametrize("piece", ["],[", "a],[", "\\],["])
def test_a_piece_that_looks_like_the_end_of_one_shifts_no_number(piece: str) -> None:
    """Where entries cannot be told apart without parsing, they are parsed."""
    found = unread(written([["?", 0.0], [piece, -3.0], ["b", -1.0]]))

    assert found is None or [number for number, text, _ in found[1].beginning(ways_to_begin(beginnings("b")))] == [2]


@pytest.mark.parametrize("raw", [b"", b"{}", b"[]", b'"vocab":[', b'{"vocab":[]}', b'{"vocab":[1,2]]}'])
def test_what_has_no_such_list_is_left_alone(raw: bytes) -> None:
    """It is for whoever parses the whole to complain."""
    assert unread(raw) is None


def test_an_unknown_letter_weighs_what_it_does_in_the_whole(tmp_path: Path) -> None:
    """It costs more than the rarest piece, which is not known before all are read."""
    lazily = read_unigram(EMBEDDED / "tokenizer.json", whole=True)
    whole = UnigramTokenizer(CONTENT["model"]["vocab"], 1)

    for text in ("☃", "snow☃man", "wo ist mein paket ☃"):
        assert lazily is not None
        assert lazily.encode(text, 99) == whole.encode(text, 99)


def test_after_many_words_the_rest_is_read_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """The pieces stay the same, and nothing is looked up any more."""
    monkeypatch.setattr(unigram, "_WAYS_ASKED_FOR", 6)
    tokenizer = read_unigram(EMBEDDED / "tokenizer.json", whole=True)
    whole = UnigramTokenizer(CONTENT["model"]["vocab"], 1)
    assert tokenizer is not None

    for word in ("where", "parcel", "посылка", "注文", "Bestellung", "where", "x" * 60):
        assert tokenizer.encode(word, 99) == whole.encode(word, 99)
    assert tokenizer._unread is None


def test_many_threads_cut_alike() -> None:
    """No thread takes pieces for unknown that another is about to read."""
    words = [piece.removeprefix(SPACE) for piece, _ in CONTENT["model"]["vocab"][2000:6000:10]]
    whole = UnigramTokenizer(CONTENT["model"]["vocab"], 1)
    expected = [whole.encode(word, 99) for word in words]
    tokenizer = read_unigram(EMBEDDED / "tokenizer.json", whole=True)
    assert tokenizer is not None
    found: list[list[list[int]]] = []
    threads = [
        threading.Thread(target=lambda: found.append([list(tokenizer._cut(SPACE + word)) for word in words]))
        for _ in range(4)
    ]

    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert found == [[list(whole._cut(SPACE + word)) for word in words]] * 4
    assert [tokenizer.encode(word, 99) for word in words] == expected


@pytest.mark.parametrize(
    "entry", [b'["\xff",-1.0]', b'["ab"-1.0]', b'["ab"]', b'["ab",-1.0,0]'], ids=["encoding", "comma", "score", "more"]
)
def test_damage_that_is_met_later_is_told_as_such(tmp_path: Path, entry: bytes) -> None:
    """Whoever asks for such a piece learns that the model is damaged."""
    raw = written([["?", 0.0], [SPACE, -5.0], ["ab", -9.5], ["c", -2.0]]).replace(b'["ab",-9.5]', entry)
    (tmp_path / "tokenizer.json").write_bytes(raw)
    tokenizer = read_unigram(tmp_path / "tokenizer.json")
    assert tokenizer is not None

    assert tokenizer.encode("c", 9) == [1, 3]
    with pytest.raises(ModelUnavailableError, match=r"tokenizer\.json is damaged .*Get the model again"):
        tokenizer.encode("ab ☃", 9)
