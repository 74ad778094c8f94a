"""Our tokenizer, held against the package that the embedded model was trained with."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from intentmatch.encoders.tokenizer.embedded import EMBEDDED
from intentmatch.encoders.tokenizer.unigram import UnigramTokenizer, normalized, read_unigram
from intentmatch.registry import read_registry

SHIPPED = Path(__file__).parents[3] / "intents"
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
    """Pieces that count: an unknown stretch (which the reference fuses) and the bare space have no vector."""
    return [number for number in numbers if number not in SILENT]


def assert_same(text: str, theirs) -> None:  # type: ignore[no-untyped-def]
    expected = theirs.encode(text, add_special_tokens=False).ids
    assert without_unknown(OURS.encode(text, 10**9)) == without_unknown(expected), text


def test_cuts_every_shipped_utterance_alike(theirs) -> None:  # type: ignore[no-untyped-def]
    """Three thousand lines in fifteen languages give the same pieces."""
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
def test_cuts_odd_texts_alike(text: str, theirs) -> None:  # type: ignore[no-untyped-def]
    """Compatibility forms, symbols, digits, marks and one endless word."""
    assert_same(text, theirs)


# Letters, marks, digits, punctuation and symbols of the planes in use. The two libraries know different editions of
# Unicode, so characters added in the last years are left out.
CHARACTERS = st.characters(codec="utf-8", max_codepoint=0x1F64F, exclude_categories=["Cn", "Co", "Cs", "Cc", "Cf"])


@settings(max_examples=400, deadline=None)
@given(st.text(CHARACTERS, max_size=40).filter(lambda text: "[PAD]" not in text and "[UNK]" not in text))
def test_cuts_any_text_alike(text: str) -> None:
    """Whatever the characters, the pieces are those of the reference; but the names of its marks are text to us."""
    library = pytest.importorskip("tokenizers", reason="needs the extra [tokenizers]")
    assert_same(text, _reference(library))


def _reference(library, made=[]):  # type: ignore[no-untyped-def]  # noqa: B006 - one copy for all examples
    if not made:
        made.append(library.Tokenizer.from_file(str(EMBEDDED / "tokenizer.json")))
        made[0].no_truncation()
    return made[0]


@pytest.mark.parametrize("word", ["الكتاب", "والكتاب", "فالكتاب", "بالكتاب", "كالكتاب", "للكتاب", "وللكتاب", "الْكِتَاب"])
def test_the_arabic_article_is_left_out(word: str) -> None:
    """With what is written together with it; the word is then the same piece as without."""
    assert normalized(word) == normalized("كتاب") == "کتاب"
    assert normalized(f"هذا {word}!") == "هذا کتاب!"
    assert OURS.encode(word, 9) == OURS.encode("كتاب", 9)


@pytest.mark.parametrize("word", ["الله", "والله", "بالله", "الى", "الان", "لل", "ال", "مقالات", "سال", "بالا"])
def test_short_words_and_what_stands_within_stay(word: str) -> None:
    """Nothing is taken of which fewer than three letters would be left, nor from the middle of a word."""
    assert normalized(word) == word.replace("ى", "ی")


ARABIC = st.text(st.sampled_from("المفوبكهيةكتسأإلآٱ ٣x!\u064e\u0640\u200c"), max_size=30)


@settings(max_examples=400, deadline=None)
@given(ARABIC)
def test_leaves_out_articles_alike(text: str) -> None:
    """Wherever they stand, the pieces are those of the reference."""
    library = pytest.importorskip("tokenizers", reason="needs the extra [tokenizers]")
    assert_same(text, _reference(library))


def test_takes_the_likeliest_way() -> None:
    """Of two ways to cut a word the one with the larger sum of scores wins; unknown characters stand alone."""
    tokenizer = UnigramTokenizer([("?", 0.0), ("▁ab", -3.0), ("▁a", -1.0), ("b", -1.5), ("c", -2.0)], unknown=0)

    assert tokenizer.encode("ab", 10) == [2, 3]
    assert tokenizer.encode("abxc", 10) == [2, 3, 0, 4]
    assert tokenizer.encode("ab ab", 3) == [2, 3, 2]


def test_no_piece_of_ours_is_likelier_cut() -> None:
    """Which is why a word that is a piece is not searched for its cuts; a search finds none."""
    vocabulary = json.loads((EMBEDDED / "tokenizer.json").read_bytes())["model"]["vocab"]
    searching = UnigramTokenizer(vocabulary, unknown=1)

    assert all(searching._cut(piece) == (number,) for number, (piece, _) in enumerate(vocabulary))


def test_a_piece_may_be_worth_something() -> None:
    """Scores are logarithms of probabilities; of those that are not, a cut into several may win by what is between."""
    tokenizer = UnigramTokenizer([("?", 0.0), ("▁abc", 1.0), ("▁a", -1.0), ("b", 5.0), ("c", -1.0)], unknown=0)

    assert tokenizer.encode("abc", 10) == [2, 3, 4]


@pytest.mark.parametrize(
    "change", [{"model": {"type": "WordPiece"}}, {"normalizer": None}, {"pre_tokenizer": {"type": "Whitespace"}}]
)
def test_leaves_other_tokenizers_alone(tmp_path: Path, change: dict[str, object]) -> None:
    """A pipeline it does not know is not guessed at."""
    content = json.loads((EMBEDDED / "tokenizer.json").read_bytes()) | change
    (tmp_path / "tokenizer.json").write_text(json.dumps(content), encoding="utf-8")

    assert read_unigram(tmp_path / "tokenizer.json") is None
