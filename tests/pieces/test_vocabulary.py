"""The lazy vocabulary, compared with the whole one."""

from __future__ import annotations

import json
import threading
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from intentmatch.core.errors import ModelUnavailableError
from intentmatch.pieces import unigram
from intentmatch.pieces.embedded import EMBEDDED
from intentmatch.pieces.unigram import UnigramTokenizer, read_unigram
from intentmatch.pieces.vocabulary import ESCAPED, SPACE, prefix_keys, prefixes, split_vocabulary

SHIPPED = (EMBEDDED / "tokenizer.json").read_bytes()
CONTENT = json.loads(SHIPPED)
# JSON syntax, letters of one to four bytes, and "▁" with neighbouring code points.
LETTERS = st.text(st.sampled_from('"\\[],:-1ab éж한𝒳▁▂'), min_size=1, max_size=5)
SCORES = st.floats(-20, 0, allow_nan=False)


def tokenizer_json(vocabulary: list[Any], **layout: Any) -> bytes:
    """Return a file like the embedded model's, with other pieces."""
    content = CONTENT | {"model": CONTENT["model"] | {"vocab": vocabulary}}
    return json.dumps(content, **({"ensure_ascii": False, "separators": (",", ":")} | layout)).encode()


def test_embedded_vocabulary_is_complete() -> None:
    """Each piece is found by its key, with its id and score."""
    content, pieces = split_vocabulary(SHIPPED)  # type: ignore[misc]
    vocabulary = CONTENT["model"]["vocab"]
    keys = {ESCAPED}.union(*(prefix_keys(prefixes(piece)) for piece, _ in vocabulary))

    found = sorted(pieces.with_keys(keys))

    assert content == CONTENT | {"model": CONTENT["model"] | {"vocab": []}}
    assert found == [(number, piece, score) for number, (piece, score) in enumerate(vocabulary)]
    assert pieces.all() == vocabulary
    assert len(pieces) == len(vocabulary)


@given(st.lists(st.tuples(LETTERS, SCORES), min_size=1, max_size=30), LETTERS)
def test_lazy_and_whole_vocabulary_give_the_same_pieces(vocabulary: list[tuple[str, float]], word: str) -> None:
    """With quotes, brackets, escapes and duplicates among the pieces."""
    whole = UnigramTokenizer(vocabulary, 0)
    found = split_vocabulary(tokenizer_json(vocabulary))

    if found is not None:
        assert UnigramTokenizer(found[1], 0).encode(word, 99) == whole.encode(word, 99)


@given(st.lists(st.tuples(st.text(st.sampled_from("abéж한𝒳▁")), SCORES), min_size=1, max_size=30))
def test_compact_file_of_plain_letters_is_read_lazily(vocabulary: list[tuple[str, float]]) -> None:
    assert split_vocabulary(tokenizer_json(vocabulary)) is not None


@pytest.mark.parametrize(
    "layout",
    [{"separators": (", ", ": ")}, {"indent": 1}, {"separators": (",", ": ")}],
    ids=["spaces", "lines", "colons"],
)
def test_file_in_another_layout_is_parsed_as_a_whole(tmp_path: Path, layout: dict[str, Any]) -> None:
    vocabulary = [["?", 0.0], [SPACE, -5.0], [SPACE + "ab", -3.0], ["c", -2.0]]
    raw = tokenizer_json(vocabulary, **layout)
    (tmp_path / "tokenizer.json").write_bytes(raw)

    assert split_vocabulary(raw) is None
    tokenizer = read_unigram(tmp_path / "tokenizer.json")
    assert tokenizer is not None
    assert tokenizer.encode("abc", 9) == [2, 3]


@pytest.mark.parametrize("piece", ["],[", "a],[", "\\],["])
def test_piece_that_looks_like_an_entry_boundary_shifts_no_id(piece: str) -> None:
    """If entries cannot be separated without parsing, the file is parsed."""
    found = split_vocabulary(tokenizer_json([["?", 0.0], [piece, -3.0], ["b", -1.0]]))

    assert found is None or [number for number, text, _ in found[1].with_keys(prefix_keys(prefixes("b")))] == [2]


@pytest.mark.parametrize("raw", [b"", b"{}", b"[]", b'"vocab":[', b'{"vocab":[]}', b'{"vocab":[1,2]]}'])
def test_file_without_a_vocabulary_is_not_split(raw: bytes) -> None:
    assert split_vocabulary(raw) is None


def test_unknown_character_has_the_same_score_as_in_the_whole_vocabulary(tmp_path: Path) -> None:
    """Its score depends on the rarest of all pieces."""
    lazily = read_unigram(EMBEDDED / "tokenizer.json", whole=True)
    whole = UnigramTokenizer(CONTENT["model"]["vocab"], 1)

    for text in ("☃", "snow☃man", "wo ist mein paket ☃"):
        assert lazily is not None
        assert lazily.encode(text, 99) == whole.encode(text, 99)


def test_whole_vocabulary_is_read_after_many_keys(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(unigram, "_MOST_KEYS_READ", 6)
    tokenizer = read_unigram(EMBEDDED / "tokenizer.json", whole=True)
    whole = UnigramTokenizer(CONTENT["model"]["vocab"], 1)
    assert tokenizer is not None

    for word in ("where", "parcel", "посылка", "注文", "Bestellung", "where", "x" * 60):
        assert tokenizer.encode(word, 99) == whole.encode(word, 99)
    assert tokenizer._unread is None


def test_many_threads_get_the_same_pieces() -> None:
    """No thread takes a piece for unknown while another reads it."""
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
def test_damaged_piece_is_reported_when_it_is_read(tmp_path: Path, entry: bytes) -> None:
    raw = tokenizer_json([["?", 0.0], [SPACE, -5.0], ["ab", -9.5], ["c", -2.0]]).replace(b'["ab",-9.5]', entry)
    (tmp_path / "tokenizer.json").write_bytes(raw)
    tokenizer = read_unigram(tmp_path / "tokenizer.json")
    assert tokenizer is not None

    assert tokenizer.encode("c", 9) == [1, 3]
    with pytest.raises(ModelUnavailableError, match=r"tokenizer\.json is damaged .*Download the model again"):
        tokenizer.encode("ab ☃", 9)
