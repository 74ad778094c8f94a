"""The trained tokenizer: its size, its pieces, and compatibility with the tokenizers package."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from itertools import product
from pathlib import Path
from typing import Any

import pytest

from intentmatch.core.errors import InputError
from intentmatch.distill import Corpus, Recipe, read_corpus
from intentmatch.distill.vocabulary import PADDING, SPACE, UNKNOWN, train_tokenizer
from intentmatch.pieces.unigram import UnigramTokenizer, read_unigram


def learned(corpus: Corpus, **recipe: Any) -> dict[str, float]:
    """Return the pieces and scores of a small vocabulary."""
    vocabulary = train_tokenizer(corpus, Recipe(**{"pieces": 80, **recipe}))["model"]["vocab"]
    assert len(vocabulary) == len(dict(vocabulary))
    return dict(vocabulary)


def corpus_of(folder: Path, pairs: Sequence[str], english: Sequence[str] = ()) -> Corpus:
    (folder / "pairs.tsv").write_text("\n".join(pairs), encoding="utf-8")
    (folder / "english.tsv").write_text("\n".join(english), encoding="utf-8")
    return read_corpus([folder / "pairs.tsv"], [folder / "english.tsv"])


@pytest.mark.parametrize("size", [60, 70, 80])
def test_vocabulary_has_the_requested_size(toy: Corpus, size: int) -> None:
    pieces = learned(toy, pieces=size)

    assert len(pieces) == size
    assert list(pieces)[:2] == [PADDING, UNKNOWN]
    scores = list(pieces.values())[2:]
    assert scores == sorted(scores, reverse=True)
    assert max(scores) < 0


def test_vocabulary_omits_unused_pieces(toy: Corpus) -> None:
    pieces = learned(toy, pieces=2000)

    assert len(pieces) < 120
    assert {f"{SPACE}yesterday", f"{SPACE}yadretsey", f"{SPACE}ψεστερδαψ"} <= set(pieces)


def test_every_character_is_a_piece(toy: Corpus) -> None:
    characters = {char for text in [*toy.sentences, *toy.translations] for char in text.replace(" ", SPACE)}
    pieces = learned(toy, pieces=len(characters) + 2)

    assert set(pieces) == characters | {PADDING, UNKNOWN}


def test_too_few_pieces_are_refused(toy: Corpus) -> None:
    characters = {char for text in [*toy.sentences, *toy.translations] for char in text.replace(" ", SPACE)}

    with pytest.raises(InputError, match=rf"are too few: the text has {len(characters)} distinct characters"):
        learned(toy, pieces=len(characters) + 1)


def test_tokenizers_package_gives_the_same_tokens(toy: Corpus, tmp_path: Path) -> None:
    library = pytest.importorskip("tokenizers", reason="needs the extra [tokenizers]")
    for size in (60, 80):
        described = train_tokenizer(toy, Recipe(pieces=size))
        (tmp_path / "tokenizer.json").write_text(json.dumps(described), encoding="utf-8")
        ours = read_unigram(tmp_path / "tokenizer.json")
        theirs = library.Tokenizer.from_file(str(tmp_path / "tokenizer.json"))

        assert ours is not None
        assert (ours.size, ours.unknown) == (theirs.get_vocab_size(), theirs.token_to_id(UNKNOWN))
        for text in [*toy.sentences, *toy.translations, "The PARCEL, never; lecrap!", "3 tickets"]:
            cut = ours.encode(text, 512)
            expected = theirs.encode(text, add_special_tokens=False).ids
            assert [n for n in cut if n != ours.unknown] == [n for n in expected if n != ours.unknown], text
        assert ours.unknown not in ours.encode(toy.sentences[0], 512)


def test_a_frequent_word_keeps_its_space(toy: Corpus) -> None:
    vocabulary = train_tokenizer(toy, Recipe(pieces=60))["model"]["vocab"]
    tokenizer = UnigramTokenizer(vocabulary, 1)

    for word in ("the", "arrives", "tomorrow", "eht", "τηε"):
        (number,) = tokenizer.encode(word, 10)
        assert vocabulary[number][0] == SPACE + word
    for sentence in toy.sentences:
        assert SPACE not in [vocabulary[number][0] for number in tokenizer.encode(sentence, 100)][:1]


def test_words_of_scripts_without_spaces_have_no_space(tmp_path: Path) -> None:
    words = ["包裹", "昨天", "现在", "哪里", "已经"]
    corpus = corpus_of(tmp_path, [f"line\tzh\t{a + b + c}" for a, b, c in product(words, repeat=3)])
    described = train_tokenizer(corpus, Recipe(pieces=23))["model"]["vocab"]
    pieces = [piece for piece, _ in described]

    assert set(words) | {f"{SPACE}line"} <= set(pieces)
    assert [pieces[number] for number in UnigramTokenizer(described, 1).encode("".join(words), 10)] == [SPACE, *words]


def test_training_is_deterministic(toy: Corpus) -> None:
    few: dict[str, Any] = {"vocabulary_lines": 20, "vocabulary_english_lines": 20}

    assert list(learned(toy).items()) == list(learned(toy).items())
    assert list(learned(toy, **few).items()) == list(learned(toy, **few).items())
    assert learned(toy, **few) != learned(toy, **few, seed=2)
    assert learned(toy) == learned(toy, seed=2)


def test_a_small_language_gets_pieces_of_its_own(toy: Corpus, tmp_path: Path) -> None:
    lines = [f"one {n}\tde\tGrüßt Zwölf Mädchen" for n in range(6)]
    corpus = corpus_of(tmp_path, lines, toy.sentences)
    words = {f"{SPACE}{word}" for word in ("grüßt", "zwölf", "mädchen")}

    # Just enough pieces that some of the words have to stay in parts.
    flat, as_it_comes = (set(learned(corpus, pieces=42, flatness=flatness)) for flatness in (0.0, 1.0))

    assert words <= flat
    assert not words & as_it_comes


def test_a_language_gets_pieces_by_its_weight(toy: Corpus, tmp_path: Path) -> None:
    lines = [f"one {n}\tde\tGrüßt Zwölf Mädchen" for n in range(6)]
    corpus = corpus_of(tmp_path, lines, toy.sentences)
    words = {f"{SPACE}{word}" for word in ("grüßt", "zwölf", "mädchen")}

    heavy, light = (
        set(learned(corpus, pieces=42, flatness=1.0, language_weights=weights)) for weights in ({"de": 30.0}, {})
    )

    assert words <= heavy
    assert not words & light


def test_rare_characters_are_unknown(tmp_path: Path) -> None:
    corpus = corpus_of(tmp_path, [f"line\tde\t{'abcdef ' * 16}{n}" for n in range(1000)] + ["other\tde\tab ☃"])

    assert "☃" not in learned(corpus)
    assert {"a", "f", "7"} <= set(learned(corpus))


def test_progress_counts_rounds(toy: Corpus, small: Recipe) -> None:
    steps: list[tuple[str, int, int | None]] = []

    train_tokenizer(toy, replace(small, pieces=70), lambda *step: steps.append(step))

    assert steps == [("training the tokenizer", number, len(steps)) for number in range(len(steps))]
    assert len(steps) > 1
