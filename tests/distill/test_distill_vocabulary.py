"""The learned tokenizer: its size, its pieces, and that two libraries read it alike."""

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
from intentmatch.distill.vocabulary import PADDING, SPACE, UNKNOWN, learn_tokenizer
from intentmatch.encoders.tokenizer.unigram import UnigramTokenizer, read_unigram


def learned(corpus: Corpus, **recipe: Any) -> dict[str, float]:
    """The pieces and their scores, of a small vocabulary."""
    vocabulary = learn_tokenizer(corpus, Recipe(**{"pieces": 80, **recipe}))["model"]["vocab"]
    assert len(vocabulary) == len(dict(vocabulary))
    return dict(vocabulary)


def corpus_of(folder: Path, pairs: Sequence[str], english: Sequence[str] = ()) -> Corpus:
    (folder / "pairs.tsv").write_text("\n".join(pairs), encoding="utf-8")
    (folder / "english.tsv").write_text("\n".join(english), encoding="utf-8")
    return read_corpus([folder / "pairs.tsv"], [folder / "english.tsv"])


@pytest.mark.parametrize("size", [60, 70, 80])
def test_has_as_many_pieces_as_asked_for(toy: Corpus, size: int) -> None:
    """The two special ones first, then from the likeliest to the rarest."""
    pieces = learned(toy, pieces=size)

    assert len(pieces) == size
    assert list(pieces)[:2] == [PADDING, UNKNOWN]
    scores = list(pieces.values())[2:]
    assert scores == sorted(scores, reverse=True)
    assert max(scores) < 0


def test_never_has_more_pieces_than_the_text_needs(toy: Corpus) -> None:
    """What no word is cut into is left out, however many were asked for."""
    pieces = learned(toy, pieces=2000)

    assert len(pieces) < 120
    assert {f"{SPACE}yesterday", f"{SPACE}yadretsey", f"{SPACE}ψεστερδαψ"} <= set(pieces)


def test_every_character_is_a_piece(toy: Corpus) -> None:
    """So that every word of the text can be cut, down to the smallest vocabulary that there can be."""
    characters = {char for text in [*toy.sentences, *toy.translations] for char in text.replace(" ", SPACE)}
    pieces = learned(toy, pieces=len(characters) + 2)

    assert set(pieces) == characters | {PADDING, UNKNOWN}


def test_too_few_pieces_are_told_what_there_is(toy: Corpus) -> None:
    """One fewer than the characters need says how many characters there are."""
    characters = {char for text in [*toy.sentences, *toy.translations] for char in text.replace(" ", SPACE)}

    with pytest.raises(InputError, match=rf"are too few: the text has {len(characters)} different characters"):
        learned(toy, pieces=len(characters) + 1)


def test_both_libraries_cut_the_text_alike(toy: Corpus, tmp_path: Path) -> None:
    """Ours and the tokenizers package read the JSON, and give the same pieces for every text."""
    library = pytest.importorskip("tokenizers", reason="needs the extra [tokenizers]")
    for size in (60, 80):
        described = learn_tokenizer(toy, Recipe(pieces=size))
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
    """It is one piece, and no bare space stands before it."""
    vocabulary = learn_tokenizer(toy, Recipe(pieces=60))["model"]["vocab"]
    tokenizer = UnigramTokenizer(vocabulary, 1)

    for word in ("the", "arrives", "tomorrow", "eht", "τηε"):
        (number,) = tokenizer.encode(word, 10)
        assert vocabulary[number][0] == SPACE + word
    for sentence in toy.sentences:
        assert SPACE not in [vocabulary[number][0] for number in tokenizer.encode(sentence, 100)][:1]


def test_scripts_without_spaces_get_words_without_one(tmp_path: Path) -> None:
    """A frequent Chinese word is a piece wherever it stands, at the beginning of a text too."""
    words = ["包裹", "昨天", "现在", "哪里", "已经"]
    corpus = corpus_of(tmp_path, [f"line\tzh\t{a + b + c}" for a, b, c in product(words, repeat=3)])
    described = learn_tokenizer(corpus, Recipe(pieces=23))["model"]["vocab"]
    pieces = [piece for piece, _ in described]

    assert set(words) | {f"{SPACE}line"} <= set(pieces)
    assert [pieces[number] for number in UnigramTokenizer(described, 1).encode("".join(words), 10)] == [SPACE, *words]


def test_the_same_text_gives_the_same_pieces(toy: Corpus) -> None:
    """To the last digit; also where only some of the lines are looked at, which the seed decides."""
    few: dict[str, Any] = {"vocabulary_lines": 20, "vocabulary_english_lines": 20}

    assert list(learned(toy).items()) == list(learned(toy).items())
    assert list(learned(toy, **few).items()) == list(learned(toy, **few).items())
    assert learned(toy, **few) != learned(toy, **few, seed=2)
    assert learned(toy) == learned(toy, seed=2)


def test_a_small_language_gets_pieces_of_its_own(toy: Corpus, tmp_path: Path) -> None:
    """Languages are weighted: six lines beside a hundred and eighty count for as much as `flatness` says."""
    lines = [f"one {n}\tde\tGrüßt Zwölf Mädchen" for n in range(6)]
    corpus = corpus_of(tmp_path, lines, toy.sentences)
    words = {f"{SPACE}{word}" for word in ("grüßt", "zwölf", "mädchen")}

    # Just enough pieces that some of the words have to stay in parts.
    flat, as_it_comes = (set(learned(corpus, pieces=42, flatness=flatness)) for flatness in (0.0, 1.0))

    assert words <= flat
    assert not words & as_it_comes


def test_a_language_gets_pieces_by_its_weight(toy: Corpus, tmp_path: Path) -> None:
    """The more it weighs, the more of its words are pieces."""
    lines = [f"one {n}\tde\tGrüßt Zwölf Mädchen" for n in range(6)]
    corpus = corpus_of(tmp_path, lines, toy.sentences)
    words = {f"{SPACE}{word}" for word in ("grüßt", "zwölf", "mädchen")}

    heavy, light = (
        set(learned(corpus, pieces=42, flatness=1.0, language_weights=weights)) for weights in ({"de": 30.0}, {})
    )

    assert words <= heavy
    assert not words & light


def test_rare_characters_are_unknown(tmp_path: Path) -> None:
    """One sign in many thousand does not cost a piece."""
    corpus = corpus_of(tmp_path, [f"line\tde\t{'abcdef ' * 16}{n}" for n in range(1000)] + ["other\tde\tab ☃"])

    assert "☃" not in learned(corpus)
    assert {"a", "f", "7"} <= set(learned(corpus))


def test_tells_how_far_it_is(toy: Corpus, small: Recipe) -> None:
    """Round by round."""
    told: list[tuple[str, int, int | None]] = []

    learn_tokenizer(toy, replace(small, pieces=70), lambda *news: told.append(news))

    assert told == [("learning the vocabulary", number, len(told)) for number in range(len(told))]
    assert len(told) > 1
