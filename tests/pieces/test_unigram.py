"""Our unigram tokenizer, compared with the package that trained the embedded model's vocabulary."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from intentmatch.pieces.embedded import EMBEDDED
from intentmatch.pieces.unigram import UNKNOWN_SCORE, UnigramTokenizer, normalized, read_unigram
from intentmatch.registry import read_registry

SHIPPED = Path(__file__).parents[2] / "intents"
OURS = read_unigram(EMBEDDED / "tokenizer.json", whole=True)
assert OURS is not None


@pytest.fixture(scope="module")
def theirs():  # type: ignore[no-untyped-def]
    """The reference implementation."""
    library = pytest.importorskip("tokenizers", reason="needs the extra [tokenizers]")
    tokenizer = library.Tokenizer.from_file(str(EMBEDDED / "tokenizer.json"))
    tokenizer.no_truncation()
    return tokenizer


SILENT = {OURS.unknown, OURS.encode("▁", 1)[0]}


def without_unknown(numbers: list[int]) -> list[int]:
    """Leave out unknown pieces, which the reference merges, and the bare space; they have no vector."""
    return [number for number in numbers if number not in SILENT]


def assert_same(text: str, theirs) -> None:  # type: ignore[no-untyped-def]
    expected = theirs.encode(text, add_special_tokens=False).ids
    assert without_unknown(OURS.encode(text, 10**9)) == without_unknown(expected), text


def test_shipped_utterances_give_the_reference_pieces(theirs) -> None:  # type: ignore[no-untyped-def]
    """Three thousand lines in fifteen languages."""
    for intent in read_registry(SHIPPED):
        for utterance in intent.utterances:
            assert_same(utterance.text, theirs)


@pytest.mark.parametrize(
    "text",
    ["", " ", "a", "ΟΔΟΣ", "İstanbul", "50% of 3.14€!", "①②½", "e\u0301te\u0301", "ＦＵＬＬ　ｗｉｄｔｈ", "don't-stop",
     "a\u00a0b\u3000c", "▁already", "👩‍👩‍👧", "12:30", "$+<=>^`|~", "¿qué?", "ß ﬁ Ǆ", "\u200d\u200c", "x" * 5000,
     "don’t ´s `x`", "أهلاً وسَهلاً", "ـــكتاب", "می‌خواهم", "क्‍ष", "ك ي ى ة", "שָׁלוֹם", "İADE I ı",
     "أين الطرد", "والكتاب بالكتاب للكتاب", "الله", "لل", "xالكتاب", "«الكتاب»", "كتابالكتاب", "ال٣٤٥", "الـكـتاب"],
)  # fmt: skip
def test_unusual_texts_give_the_reference_pieces(text: str, theirs) -> None:  # type: ignore[no-untyped-def]
    """Compatibility forms, symbols, digits, marks and one very long word."""
    assert_same(text, theirs)


# Letters, marks, digits, punctuation and symbols of the planes in use. The two libraries know different editions of
# Unicode, so characters added in the last years are left out.
CHARACTERS = st.characters(codec="utf-8", max_codepoint=0x1F64F, exclude_categories=["Cn", "Co", "Cs", "Cc", "Cf"])


@settings(max_examples=400, deadline=None)
@given(st.text(CHARACTERS, max_size=40).filter(lambda text: "[PAD]" not in text and "[UNK]" not in text))
def test_any_text_gives_the_reference_pieces(text: str) -> None:
    """Except for the names of its special tokens, which are plain text here."""
    library = pytest.importorskip("tokenizers", reason="needs the extra [tokenizers]")
    assert_same(text, _reference(library))


def _reference(library, made=[]):  # type: ignore[no-untyped-def]  # noqa: B006 - one copy for all examples
    if not made:
        made.append(library.Tokenizer.from_file(str(EMBEDDED / "tokenizer.json")))
        made[0].no_truncation()
    return made[0]


@pytest.mark.parametrize("word", ["الكتاب", "والكتاب", "فالكتاب", "بالكتاب", "كالكتاب", "للكتاب", "وللكتاب", "الْكِتَاب"])
def test_arabic_article_is_removed(word: str) -> None:
    """With its prefixes; the word then gives the same piece as without the article."""
    assert normalized(word) == normalized("كتاب") == "کتاب"
    assert normalized(f"هذا {word}!") == "هذا کتاب!"
    assert OURS.encode(word, 9) == OURS.encode("كتاب", 9)


@pytest.mark.parametrize("word", ["الله", "والله", "بالله", "الى", "الان", "لل", "ال", "مقالات", "سال", "بالا"])
def test_arabic_article_stays_in_short_words_and_inside_words(word: str) -> None:
    """At least three letters of a word must remain."""
    assert normalized(word) == word.replace("ى", "ی")


ARABIC = st.text(st.sampled_from("المفوبكهيةكتسأإلآٱ ٣x!\u064e\u0640\u200c"), max_size=30)


@settings(max_examples=400, deadline=None)
@given(ARABIC)
def test_arabic_texts_give_the_reference_pieces(text: str) -> None:
    library = pytest.importorskip("tokenizers", reason="needs the extra [tokenizers]")
    assert_same(text, _reference(library))


def test_segmentation_with_the_largest_sum_of_scores_wins() -> None:
    """Unknown characters stand alone."""
    tokenizer = UnigramTokenizer([("?", 0.0), ("▁ab", -3.0), ("▁a", -1.0), ("b", -1.5), ("c", -2.0)], unknown=0)

    assert tokenizer.encode("ab", 10) == [2, 3]
    assert tokenizer.encode("abxc", 10) == [2, 3, 0, 4]
    assert tokenizer.encode("ab ab", 3) == [2, 3, 2]


def test_no_embedded_piece_has_a_better_segmentation() -> None:
    """So a word that is a piece needs no search."""
    vocabulary = json.loads((EMBEDDED / "tokenizer.json").read_bytes())["model"]["vocab"]
    searching = UnigramTokenizer(vocabulary, unknown=1)

    assert all(searching._cut(piece) == (number,) for number, (piece, _) in enumerate(vocabulary))


def test_positive_scores_can_make_a_segmentation_win() -> None:
    """Scores are normally log probabilities, at most 0."""
    tokenizer = UnigramTokenizer([("?", 0.0), ("▁abc", 1.0), ("▁a", -1.0), ("b", 5.0), ("c", -1.0)], unknown=0)

    assert tokenizer.encode("abc", 10) == [2, 3, 4]


@pytest.mark.parametrize(
    "change", [{"model": {"type": "WordPiece"}}, {"normalizer": None}, {"pre_tokenizer": {"type": "Whitespace"}}]
)
def test_unsupported_pipeline_returns_none(tmp_path: Path, change: dict[str, object]) -> None:
    content = json.loads((EMBEDDED / "tokenizer.json").read_bytes()) | change
    (tmp_path / "tokenizer.json").write_text(json.dumps(content), encoding="utf-8")

    assert read_unigram(tmp_path / "tokenizer.json") is None


def test_whole_returns_words_of_one_piece_with_their_log_probabilities():
    """The embedded tokenizer reads the pieces that it needs for it."""
    tokenizer = read_unigram(EMBEDDED / "tokenizer.json", whole=True)
    assert tokenizer is not None

    found = tokenizer.whole({"▁because", "▁becuase", "▁confirmation"})

    assert set(found) == {"▁because", "▁confirmation"}
    assert -10 > found["▁confirmation"] > -15
    tokenizer.read_all()
    assert tokenizer.whole({"▁because", "▁becuase", "▁confirmation"}) == found


def test_weigh_adds_up_the_log_probabilities_of_the_pieces_of_a_word():
    tokenizer = UnigramTokenizer([("▁", -1.0), ("▁a", -2.0), ("b", -3.0), ("<unk>", 0.0)], 3)

    assert tokenizer.weigh("▁a") == (1, -2.0)
    assert tokenizer.weigh("▁ab") == (2, -5.0)
    assert tokenizer.weigh("▁b") == (1, -3.0)
    assert tokenizer.weigh("▁ax") == (2, -2.0 + UNKNOWN_SCORE)


def test_texts_of_pieces_spell_the_text() -> None:
    """Each piece that `encode` returned has its text; "▁" stands for the beginning of a word, "" for no piece."""
    tokenizer = read_unigram(EMBEDDED / "tokenizer.json", whole=True)
    assert tokenizer is not None
    pieces = tokenizer.encode("Cancel the unforgettability 42!", 512)

    texts = tokenizer.texts_of(pieces)

    assert "".join(texts) == "▁cancel▁the▁unforgettability▁42!"
    assert len(texts) == len(pieces)
    assert tokenizer.texts_of([pieces[0], 10**9]) == [texts[0], ""]
    assert tokenizer.texts_of([]) == []
