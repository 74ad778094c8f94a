"""The embedded tokenizer: read once, and without an encoder."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from intentmatch.pieces import embedded
from intentmatch.pieces.embedded import EMBEDDED, embedded_tokenizer, is_common_word
from intentmatch.pieces.unigram import UnigramTokenizer


@pytest.fixture
def fresh() -> Iterator[None]:
    embedded_tokenizer.cache_clear()
    yield
    embedded_tokenizer.cache_clear()


def test_tokenizer_is_read_once() -> None:
    assert embedded_tokenizer() is embedded_tokenizer()


def test_pieces_are_those_of_the_whole_vocabulary() -> None:
    vocabulary = json.loads((EMBEDDED / "tokenizer.json").read_bytes())["model"]["vocab"]
    whole = UnigramTokenizer(vocabulary, unknown=1)

    for text in ("where is my package", "wo ist mein Paket?", "我的包裹在哪里"):
        assert embedded_tokenizer().encode(text, 99) == whole.encode(text, 99)


def test_other_tokenizer_in_the_folder_is_refused(fresh: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "tokenizer.json").write_text('{"model": {"type": "WordPiece"}}', encoding="utf-8")
    monkeypatch.setattr(embedded, "EMBEDDED", tmp_path)

    with pytest.raises(ValueError, match="not the file of this release; reinstall intentmatch"):
        embedded_tokenizer()


@pytest.mark.parametrize("module", ["intentmatch.pieces.embedded", "intentmatch.learning.token_features"])
def test_import_does_not_load_an_encoder(module: str) -> None:
    code = f"import sys, {module}; print('intentmatch.encoders.static' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)

    assert done.stdout == "False\n"


@pytest.mark.parametrize("word", ["speak", "Turn", "perdido", "etmek", "näytä", "больше"])
def test_common_words_are_one_piece(word):
    assert is_common_word(word)


@pytest.mark.parametrize("word", ["staek", "Berlln", "keyborad", "two words", "12", "", "é!"])
def test_mistyped_words_and_other_texts_are_no_common_words(word):
    assert not is_common_word(word)
