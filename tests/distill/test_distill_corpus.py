"""Reading parallel text: cleaning, filtering and the location of errors."""

from __future__ import annotations

import bz2
import gzip
import lzma
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import pytest

from intentmatch.core.errors import InputError
from intentmatch.distill import Corpus, read_corpus

HELD_OUT = "de\tWhere is my big red parcel?\tWo ist denn nun mein großes Paket?"


def written(file: Path, *lines: str) -> Path:
    file.write_text("".join(line + "\n" for line in lines), encoding="utf-8")
    return file


def corpus_of(
    folder: Path,
    pairs: Sequence[str] = (),
    english: Sequence[str] = (),
    held_out: Sequence[str] = (),
    longest: int = 120,
) -> Corpus:
    """The corpus of lines."""
    return read_corpus(
        [written(folder / "pairs.tsv", *pairs)],
        [written(folder / "english.tsv", *english)],
        held_out=[written(folder / "held.tsv", *held_out)],
        longest=longest,
    )


def pairs_of(corpus: Corpus) -> list[tuple[str, str, str]]:
    """English, language, translation."""
    columns = zip(corpus.rows, corpus.language_of, corpus.translations, strict=True)
    return [(corpus.sentences[row], corpus.languages[language], text) for row, language, text in columns]


def test_reads_pairs_and_sentences(tmp_path: Path) -> None:
    corpus = corpus_of(
        tmp_path,
        ["Hello\tde\tHallo\tbooks", "", "Good  day\tPT_br\tBom dia", "Hello\tfr\t Bonjour \tfilms"],
        ["Thank you\tbooks", "Hello\tfilms", "Bye"],
    )

    assert pairs_of(corpus) == [
        ("Hello", "de", "Hallo"),
        ("Good day", "pt-BR", "Bom dia"),
        ("Hello", "fr", "Bonjour"),
    ]
    assert corpus.sentences == ["Hello", "Good day", "Thank you", "Bye"]
    assert [corpus.sources[source] for source in corpus.source_of] == ["books", "", "films"]
    assert [corpus.sources[source] for source in corpus.sentence_source_of] == ["books", "", "books", ""]
    assert corpus.removed == {}


def test_counts_by_language_and_by_source(tmp_path: Path) -> None:
    corpus = corpus_of(
        tmp_path,
        ["Hello\tde\tHallo\tweb", "Hello\tfr\tBonjour\tbooks", "Bye\tfr\tAdieu\tweb"],
        ["Hello\tbooks", "Thanks\tart"],
    )

    assert list(corpus.pairs_by_language().items()) == [("fr", 2), ("de", 1)]
    assert list(corpus.pairs_by_source().items()) == [("art", (0, 1)), ("books", (1, 0)), ("web", (2, 2))]


def test_english_translation_is_added_as_a_sentence(tmp_path: Path) -> None:
    corpus = corpus_of(tmp_path, ["Hello\ten\tHi there\tweb", "Hello\tde\tHallo\tweb"])

    assert corpus.sentences == ["Hi there", "Hello"]
    assert pairs_of(corpus) == [("Hello", "de", "Hallo")]
    assert corpus.languages == ("de",)


@pytest.mark.parametrize(("suffix", "opener"), [(".xz", lzma.open), (".gz", gzip.open), (".bz2", bz2.open)])
def test_reads_compressed_files(tmp_path: Path, suffix: str, opener: Callable[..., object]) -> None:
    file = tmp_path / f"pairs.tsv{suffix}"
    with opener(file, "wt", encoding="utf-8") as lines:  # type: ignore[attr-defined]
        lines.write("Où?\tde\tWo?\n你好\tde\tHallo\n")

    assert pairs_of(read_corpus([file])) == [("Où?", "de", "Wo?"), ("你好", "de", "Hallo")]


def test_line_ends_and_byte_order_mark_are_ignored(tmp_path: Path) -> None:
    (tmp_path / "pairs.tsv").write_bytes("\ufeffHello\tde\tHallo\tweb\r\nBye\tde\tAde\tweb\r\n".encode())
    corpus = read_corpus([tmp_path / "pairs.tsv"])

    assert (corpus.sentences, corpus.sources) == (["Hello", "Bye"], ("web",))


@pytest.mark.parametrize("line", ["Hello\tde", "Hello", "Hello de Hallo"])
def test_line_with_too_few_columns_is_reported(tmp_path: Path, line: str) -> None:
    with pytest.raises(InputError, match=r"pairs\.tsv:3: a line needs English, language and translation"):
        corpus_of(tmp_path, ["Hello\tde\tHallo", "", line])


def test_held_out_line_with_too_few_columns_is_reported(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"held\.tsv:2: a line needs language, English and translation"):
        corpus_of(tmp_path, ["Hello\tde\tHallo"], held_out=[HELD_OUT, "de\tonly English"])


@pytest.mark.parametrize("code", ["", "german", "d", "de--AT", "Hallo!"])
def test_invalid_language_code_is_reported(tmp_path: Path, code: str) -> None:
    with pytest.raises(InputError, match=rf"pairs\.tsv:2: {code!r} is not a language code"):
        corpus_of(tmp_path, ["Hello\tde\tHallo", f"Bye\t{code}\tAde"])


LINES = b"".join(b"Hello %d\tde\tHallo %d\n" % (number, number * number) for number in range(3000))


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("latin.tsv", "Hello\tde\tGrüße".encode("latin-1")),
        ("cut.xz", lzma.compress(LINES)[:-2000]),
        ("garbage.xz", b"this is no archive"),
        ("flipped.xz", lzma.compress(LINES)[:500] + b"\0" * 50 + lzma.compress(LINES)[550:]),
        ("cut.gz", gzip.compress(LINES)[:-2000]),
        ("garbage.gz", b"this is no archive"),
        ("flipped.gz", gzip.compress(LINES)[:500] + b"\xff" * 50 + gzip.compress(LINES)[550:]),
        ("spoiled.gz", gzip.compress(LINES)[:10] + b"\xff" * 20 + gzip.compress(LINES)[30:]),
        ("cut.bz2", bz2.compress(LINES)[:-2000]),
        ("garbage.bz2", b"this is no archive"),
        ("missing.tsv", None),
    ],
)
def test_unreadable_file_is_reported(tmp_path: Path, name: str, content: bytes | None) -> None:
    if content is not None:
        (tmp_path / name).write_bytes(content)

    with pytest.raises(InputError, match=rf"{name} cannot be read: "):
        read_corpus([tmp_path / name])


def test_folder_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="cannot be read"):
        read_corpus([tmp_path])


def test_empty_corpus_is_refused(tmp_path: Path) -> None:
    for pairs in ([], ["Hello\tde\t ", HELD_OUT.replace("de\t", "").replace("\tWo", "\tde\tWo")]):
        with pytest.raises(InputError, match="the corpus is empty"):
            corpus_of(tmp_path, pairs, held_out=[HELD_OUT])


def test_duplicate_pairs_are_removed(tmp_path: Path) -> None:
    corpus = corpus_of(
        tmp_path,
        [
            "Hello\tde\tHallo\tweb",
            " Hello \tDE\tHallo\tbooks",
            "Hello\tde\tGuten Tag",
            "Hello\tnl\tHallo",
            "Hi\tde\tHallo",
        ],
    )

    assert len(pairs_of(corpus)) == len(set(pairs_of(corpus))) == 4
    assert corpus.removed == {"pairs: duplicate": 1}
    assert corpus.pairs_by_source() == {"": (3, 1), "books": (0, 0), "web": (1, 1)}


def test_empty_and_long_lines_are_counted(tmp_path: Path) -> None:
    corpus = corpus_of(
        tmp_path,
        [
            "\tde\tHallo",
            "Hello\tde\t \u200b",
            "x" * 11 + "\tde\tkurz",
            "short\tde\t" + "y" * 11,
            "x" * 10 + "\tde\tkurz",
        ],
        ["\ttheir source", "z" * 11, "Hello", "Hello"],
        longest=10,
    )

    assert pairs_of(corpus) == [("x" * 10, "de", "kurz")]
    assert corpus.sentences == ["x" * 10, "Hello"]
    assert corpus.removed == {"pairs: empty": 2, "pairs: too long": 2, "English: empty": 1, "English: too long": 1}


@pytest.mark.parametrize(
    ("sentence", "reason"),
    [
        ("Where is my big red parcel?", "exact"),
        ("Wo ist denn nun mein großes Paket?", "exact"),
        (" Where is\u00a0my big red parcel? ", "exact"),
        ("where is my BIG red parcel", "near"),
        ("Where, is my big-red parcel?!", "near"),
        ("Whére is my bîg red parcel?", "near"),
        ("wo ist denn nun mein GROSSES paket", "near"),
        ("Where is my big red letter?", "near"),
        ("Who is my big red parcel?", "near"),
        ("Wo ist denn nun dein großes Paket?", "near"),
        ("Where is my small blue parcel?", None),
        ("Where is my big parcel?", None),
        ("Where is my very big red parcel?", None),
        ("Is where my big red parcel?", None),
        ("A big red parcel", None),
    ],
)
def test_held_out_sentences_and_near_duplicates_are_removed(tmp_path: Path, sentence: str, reason: str | None) -> None:
    """On both sides of a held-out line, in pairs and in English files, with at most one word replaced."""
    corpus = corpus_of(
        tmp_path, [f"{sentence}\tfr\tune", f"two\tfr\t{sentence}", "three\tfr\ttrois"], [sentence], [HELD_OUT]
    )

    if reason is None:
        assert (len(corpus.translations), corpus.removed) == (3, {})
    else:
        assert (corpus.sentences, corpus.translations) == (["three"], ["trois"])
        assert corpus.removed == {f"pairs: held out, {reason}": 2, f"English: held out, {reason}": 1}


@pytest.mark.parametrize(
    ("held", "text", "taken"),
    [
        ("Where is my parcel?", "Where is our parcel?", True),
        ("Where is my parcel?", "where is my parcel", False),
        ("Where is my big parcel?", "Where is our big parcel?", False),
        ("请问我昨天买的红色大包裹现在到哪里了", "请问我昨天买的红色小包裹现在到哪里了", False),
        ("请问我昨天买的红色大包裹现在到哪里了", "请问我今天买的红色小包裹现在到哪里了", True),
        ("我的包裹在哪里", "你的包裹在哪里", True),
        ("我的包裹在哪里？", "我的包裹在哪里", False),
    ],
)
def test_near_duplicates_need_five_words_or_characters(tmp_path: Path, held: str, text: str, taken: bool) -> None:
    corpus = corpus_of(tmp_path, ["one\tde\teins", f"two\tde\t{text}"], held_out=[f"de\tnothing\t{held}"])

    assert (text in corpus.translations) is taken


def test_no_held_out_text_removes_nothing(tmp_path: Path) -> None:
    corpus = corpus_of(tmp_path, ["?\tde\t!", "Hello\tde\tHallo"])

    assert pairs_of(corpus) == [("?", "de", "!"), ("Hello", "de", "Hallo")]


def test_fingerprint_depends_on_the_content_only(tmp_path: Path) -> None:
    lines = ["Hello\tde\tHallo", "Bye\tde\tAde", "Bye\tfr\tAdieu"]
    others = [
        ["Hello!\tde\tHallo", *lines[1:]],
        ["Hello\tde\tHallo!", *lines[1:]],
        [lines[1], lines[0], lines[2]],
        ["Hello\tde\tHallo", "Bye\tfr\tAde", "Bye\tfr\tAdieu"],
        ["Hello\tde\tHallo", "Bye\tde\tAde", "Hello\tfr\tAdieu"],
        lines[:2],
        [f"{line}\tweb" for line in lines],
    ]
    (tmp_path / "again").mkdir()
    once = corpus_of(tmp_path, lines)
    again = corpus_of(tmp_path / "again", lines)

    assert once.fingerprint == again.fingerprint
    fingerprints = {corpus_of(tmp_path, other).fingerprint for other in others} | {once.fingerprint}
    assert len(fingerprints) == len(others) + 1
    assert len({corpus_of(tmp_path, lines, ["More"]).fingerprint, once.fingerprint}) == 2


def test_progress_counts_lines(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("intentmatch.distill.corpus._LINES_PER_UPDATE", 2)
    steps: list[tuple[str, int, int | None]] = []

    read_corpus(
        [written(tmp_path / "pairs.tsv", *[f"Hello {n}\tde\tHallo" for n in range(5)])],
        progress=lambda *news: steps.append(news),
    )

    assert steps == [("reading pairs.tsv", 2, None), ("reading pairs.tsv", 4, None)]


def test_columns_have_matching_lengths(tmp_path: Path) -> None:
    corpus = corpus_of(tmp_path, english=["Hello", "Bye"])

    assert corpus.rows.dtype == np.int32
    assert [len(c) for c in (corpus.rows, corpus.language_of, corpus.source_of)] == [0, 0, 0]
    assert len(corpus.sentence_source_of) == 2
    assert corpus.pairs_by_language() == {}
    assert corpus.pairs_by_source() == {"": (0, 2)}
