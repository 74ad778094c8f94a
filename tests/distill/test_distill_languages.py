"""What is measured on parallel text: languages of pieces, and distances of translations."""

from __future__ import annotations

import shutil
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner
from fakes import WordHashEncoder

from intentmatch.cli.commands import cli
from intentmatch.core.errors import InputError
from intentmatch.distill import Corpus, languages, read_corpus
from intentmatch.distill.languages import count_languages, measure_translations
from intentmatch.encoders.translations import read_translations
from intentmatch.pieces.embedded import EMBEDDED, embedded_tokenizer
from intentmatch.pieces.languages import PieceLanguages, read_piece_languages


@pytest.fixture(autouse=True)
def _few_pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the toy corpus suffice."""
    monkeypatch.setattr(languages, "_FEWEST_PIECES", 100)


def corpus_of(tmp_path: Path, *pairs: tuple[str, str, str, str]) -> Corpus:
    (tmp_path / "pairs.tsv").write_text("\n".join("\t".join(pair) for pair in pairs), encoding="utf-8")
    return read_corpus([tmp_path / "pairs.tsv"])


def likeliest(known: PieceLanguages, text: str) -> str | None:
    evidence = known.evidence_of(text)
    return None if evidence is None else known.codes[int((evidence + known.prior).argmax())]


def test_pieces_speak_for_the_languages_that_use_them(toy: Corpus) -> None:
    """English has twice the prior weight of the most frequent language."""
    found = count_languages(toy, embedded_tokenizer())

    assert sorted(found.codes) == ["de", "el", "en"]
    assert likeliest(found, "the garden burns outside") == "en"
    assert likeliest(found, "eht nedrag snrub edistuo") == "de"
    assert likeliest(found, "τηε γαρδεν") == "el"
    assert found.prior.max() == found.prior[found.codes.index("en")] == 0.0
    assert likeliest(found, "7 !") is None


def test_counting_is_deterministic(toy: Corpus) -> None:
    one, other = (count_languages(toy, embedded_tokenizer()) for _ in range(2))

    assert np.array_equal(one.languages, other.languages)
    assert np.array_equal(one.levels, other.levels)


def test_large_source_does_not_outweigh_the_others(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Only some texts of each source are counted."""
    monkeypatch.setattr(languages, "_MOST_OF_A_SOURCE", 20)
    software = [(f"menu {n}", "de", f"server menü {n}", "software") for n in range(200)]
    talk = [(f"see you {n}", "de", f"bis morgen {n}", "talk") for n in range(20)]
    corpus = corpus_of(tmp_path, *software, *talk)

    found = count_languages(corpus, embedded_tokenizer())
    german = found.codes.index("de")

    assert found.evidence_of("morgen")[german] == pytest.approx(found.evidence_of("menü")[german], abs=1.0)


def test_language_with_little_text_is_left_out(toy: Corpus, monkeypatch: pytest.MonkeyPatch) -> None:
    """Two languages must remain."""
    sizes = {"en": 0, "de": 0, "el": 0}
    tokenizer = embedded_tokenizer()
    for number, text in zip(toy.language_of.tolist(), toy.translations, strict=True):
        sizes[toy.languages[number]] += len(tokenizer.encode(text, 500))
    sizes["en"] = sum(len(tokenizer.encode(text, 500)) for text in toy.sentences)
    smallest, _, largest = sorted(sizes, key=sizes.__getitem__)

    monkeypatch.setattr(languages, "_FEWEST_PIECES", sizes[smallest] + 1)
    assert smallest not in count_languages(toy, tokenizer).codes
    monkeypatch.setattr(languages, "_FEWEST_PIECES", sizes[largest])
    with pytest.raises(InputError, match="too little text"):
        count_languages(toy, tokenizer)


def test_constructed_languages_are_left_out(tmp_path: Path) -> None:
    pairs = [(f"line number {n}", code, f"{code} linio {n}", "x") for n in range(90) for code in ("eo", "de", "fr")]

    assert sorted(count_languages(corpus_of(tmp_path, *pairs), embedded_tokenizer()).codes) == ["de", "en", "fr"]


def test_translations_are_measured_with_the_encoder(tmp_path: Path) -> None:
    """Sentences that are too short are left out."""
    pairs = [
        (f"first{n} second{n} third{n} fourth{n}", "de", f"first{n} second{n} zwei{n} drei{n}", "x") for n in range(60)
    ]
    corpus = corpus_of(tmp_path, *pairs, *((f"no{n}", "de", f"nein{n}", "x") for n in range(60)))
    encoder = WordHashEncoder()

    found = measure_translations(corpus, encoder)

    assert len(found.cosines) == 60
    sentences, translations = (WordHashEncoder().encode([pair[side] for pair in pairs]) for side in (0, 2))
    assert np.sort(found.cosines) == pytest.approx(np.sort(np.einsum("ij,ij->i", sentences, translations)), abs=1e-5)
    assert not any(text.startswith("no") for text in encoder.encoded)


def test_rare_languages_do_not_count_as_translations(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(languages, "_FEWEST_TRANSLATIONS", 10)
    many = [(f"a sentence with {n}", "de", f"ein Satz mit {n}", "x") for n in range(12)]
    few = [(f"a sentence with {n}", "sv", f"en mening med {n}", "x") for n in range(4)]
    encoder = WordHashEncoder()

    measure_translations(corpus_of(tmp_path, *many, *few), encoder)

    assert not any(text.startswith("en mening") for text in encoder.encoded)


def test_corpus_without_usable_translations_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no translations of a usable length"):
        measure_translations(corpus_of(tmp_path, ("no", "de", "nein", "x")), WordHashEncoder())


def test_command_writes_both_files_for_the_embedded_tokenizer_only(
    toy_files: tuple[Path, Path], toy: Corpus, tmp_path: Path
) -> None:
    """Another encoder gets the distances of its translations alone."""
    shutil.copytree(EMBEDDED, tmp_path / "same")
    (tmp_path / "same" / "languages.safetensors").unlink()
    shutil.copytree(EMBEDDED, tmp_path / "other")
    (tmp_path / "other" / "languages.safetensors").unlink()
    text = (tmp_path / "other" / "tokenizer.json").read_bytes()
    (tmp_path / "other" / "tokenizer.json").write_bytes(text + b"\n")

    for folder, count in (("same", 2), ("other", 1)):
        options = ["--pairs", str(toy_files[0]), "--english", str(toy_files[1])]
        done = CliRunner().invoke(cli, ["measure-languages", str(tmp_path / folder), *options], catch_exceptions=False)
        assert done.exit_code == 0, done.output
        assert len(done.stdout.splitlines()) == count
        assert (tmp_path / folder / "languages.safetensors").exists() == (count == 2)

    assert sorted(read_piece_languages(tmp_path / "same").codes) == ["de", "el", "en"]
    assert 0 < len(read_translations(tmp_path / "other", 256).cosines) <= len(toy.translations)


def test_folder_that_cannot_be_written_is_an_error(toy: Corpus, tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(InputError, match="cannot be written"):
        languages.measure(toy, WordHashEncoder(), tmp_path / "file" / "folder")


def test_encoder_with_another_tokenizer_or_none_gets_distances(toy: Corpus, tmp_path: Path) -> None:
    assert languages.measure(toy, WordHashEncoder(), tmp_path) == [tmp_path / "translations.safetensors"]
    assert read_translations(tmp_path, WordHashEncoder().dim) is not None


def test_kind_of_the_encoder_is_used(toy_files: tuple[Path, Path], tmp_path: Path) -> None:
    """An empty folder is no exported model."""
    options = ["--kind", "onnx", "--pairs", str(toy_files[0])]

    done = CliRunner().invoke(cli, ["measure-languages", str(tmp_path), *options])

    assert done.exit_code != 0
    assert "onnx" in done.output
