"""Complete distillations through the command line and in Python."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner, Result
from fakes import WordHashEncoder
from safetensors.numpy import load_file

from intentmatch.cli.commands import cli
from intentmatch.cli.render.progress import Display
from intentmatch.core.errors import InputError, SettingsError
from intentmatch.core.types import Kind, Vectors
from intentmatch.distill import Corpus, Recipe, distill, read_corpus, read_recipe
from intentmatch.distill.export import save_model
from intentmatch.distill.recipe import write_recipe
from intentmatch.distill.student import StudentData, TargetLines, TokenVectors
from intentmatch.distill.vocabulary import PADDING, SPACE, UNKNOWN, train_tokenizer
from intentmatch.encoders.static import StaticEncoder

NEEDED = "needs the extra [distill]"


@pytest.fixture
def teacher(monkeypatch: pytest.MonkeyPatch) -> WordHashEncoder:
    """The encoder that any `--teacher` loads."""
    encoder = WordHashEncoder()
    monkeypatch.setattr("intentmatch.encoders.load_encoder", lambda settings: encoder)
    return encoder


@pytest.fixture
def run(toy_files: tuple[Path, Path], small: Recipe, tmp_path: Path) -> Callable[..., Result]:
    """Runs `intentmatch distill` on the toy corpus with additional arguments."""
    write_recipe(tmp_path / "small.yaml", small)
    words = [
        "--teacher",
        "fake",
        "--pairs",
        toy_files[0],
        "--english",
        toy_files[1],
        "--recipe",
        tmp_path / "small.yaml",
    ]

    def done(*more: object) -> Result:
        all_words = ["distill", *map(str, [*words, "--set", "device=cpu", *more])]
        return CliRunner().invoke(cli, all_words, catch_exceptions=False)

    return done


def contents(folder: Path) -> dict[str, bytes]:
    return {str(file.relative_to(folder)): file.read_bytes() for file in folder.rglob("*") if file.is_file()}


def retrieval_accuracy(encoder: Any, corpus: Corpus) -> float:
    """Share of the translations that are nearest to their own English sentence."""
    english, translations = encoder.encode(list(corpus.sentences)), encoder.encode(list(corpus.translations))
    return float(np.mean((np.asarray(translations) @ np.asarray(english).T).argmax(1) == corpus.rows))


def test_distill_writes_a_folder_for_the_static_encoder(
    run: Callable[..., Result],
    teacher: WordHashEncoder,
    toy: Corpus,
    small: Recipe,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    pytest.importorskip("torch", reason=NEEDED)
    monkeypatch.setattr("intentmatch.distill.card._FEWEST_PAIRS", 90)

    done = run("-o", tmp_path / "model")

    assert done.exit_code == 0, done.stderr
    assert done.stdout.startswith(f"{tmp_path}/model: 0.0 MB. Use it with the setting encoder=static:{tmp_path}/model")
    assert sorted(contents(tmp_path / "model")) == [
        "README.md", "SHA256SUMS", "config.json", "model.safetensors", "modules.json", "recipe.yaml", "tokenizer.json",
    ]  # fmt: skip
    student = StaticEncoder(tmp_path / "model")
    assert (student.dim, student.languages) == (24, {"en", "de", "el"})
    assert retrieval_accuracy(student, toy) > 0.95
    assert retrieval_accuracy(WordHashEncoder(), toy) < 0.1
    assert read_recipe(tmp_path / "model" / "recipe.yaml", Recipe) == small
    assert sorted(teacher.encoded) == sorted(toy.sentences)


def test_each_stage_is_reported(
    run: Callable[..., Result], teacher: WordHashEncoder, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """To the display of progress, which shows what takes long enough."""
    pytest.importorskip("torch", reason=NEEDED)
    reported: list[str] = []
    monkeypatch.setattr(Display, "update", lambda self, step: reported.append(step.name))

    done = run("-o", tmp_path / "model")

    stages = [
        "180 English sentences, 180 pairs",
        "training the tokenizer",
        "encoding with the teacher",
        "tokenizing texts",
    ]
    places = ["\n".join(reported).index(stage) for stage in stages]
    assert places == sorted(places)
    assert len(done.stdout.splitlines()) == 1


def test_second_run_reuses_the_work_folder_and_gives_the_same_files(
    run: Callable[..., Result], teacher: WordHashEncoder, tmp_path: Path
) -> None:
    pytest.importorskip("torch", reason=NEEDED)
    run("-o", tmp_path / "once")
    asked = len(teacher.encoded)

    again = run("-o", tmp_path / "again", "--work", tmp_path / "once.work")

    assert len(teacher.encoded) == asked
    assert "training" not in again.stderr
    assert contents(tmp_path / "again") == contents(tmp_path / "once")

    run("-o", tmp_path / "afresh")

    assert len(teacher.encoded) == 2 * asked
    assert contents(tmp_path / "afresh") == contents(tmp_path / "once")


def test_resumed_run_gives_the_same_files(
    toy: Corpus, small: Recipe, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("torch", reason=NEEDED)
    monkeypatch.setattr("intentmatch.distill.student._STEPS_BETWEEN_SAVES", 10)
    monkeypatch.setattr("intentmatch.distill.student._STEPS_BETWEEN_UPDATES", 10)
    distill(toy, WordHashEncoder(), tmp_path / "whole", small, work=tmp_path / "whole.work", device="cpu")

    for stage in ("training the tokenizer", "encoding with the teacher", "tokenizing texts", "training ("):

        def stopped(what: str, done: int, total: int | None, stage: str = stage) -> None:
            if what.startswith(stage) and done in (0, 20):
                raise KeyboardInterrupt

        with pytest.raises(KeyboardInterrupt):
            distill(
                toy,
                WordHashEncoder(),
                tmp_path / "model",
                small,
                work=tmp_path / "work",
                device="cpu",
                progress=stopped,
            )
        assert not (tmp_path / "model").exists()
    steps: list[tuple[str, int, int | None]] = []
    distill(
        toy, WordHashEncoder(), tmp_path / "model", small, work=tmp_path / "work", device="cpu",
        progress=lambda *step: steps.append(step),
    )  # fmt: skip

    assert [(what.split()[0], done) for what, done, _ in steps] == [
        ("tokenizing", 0),
        *[("training", n) for n in (20, 30, 40)],
    ]
    assert contents(tmp_path / "model") == contents(tmp_path / "whole")


def test_state_of_another_corpus_or_teacher_is_not_reused(toy: Corpus, small: Recipe, tmp_path: Path) -> None:
    pytest.importorskip("torch", reason=NEEDED)
    other = replace(toy, translations=[text.translate(str.maketrans("aα", "éά")) for text in toy.translations])

    class Another(WordHashEncoder):
        """Encodes every text backwards."""

        def encode(self, texts: Sequence[str], *, kind: Kind = "utterance") -> Vectors:
            return super().encode([text[::-1] for text in texts], kind=kind)

    cases = [(toy, WordHashEncoder()), (other, WordHashEncoder()), (toy, Another(fingerprint="backwards"))]
    for number, (corpus, teacher) in enumerate(cases):
        distill(corpus, teacher, tmp_path / "model", small, work=tmp_path / "work", device="cpu")
        distill(corpus, teacher, tmp_path / "alone", small, work=tmp_path / f"work-{number}", device="cpu")
        assert contents(tmp_path / "model") == contents(tmp_path / "alone")


def test_tokenizer_of_another_corpus_is_not_reused(toy: Corpus, small: Recipe, tmp_path: Path) -> None:
    pytest.importorskip("torch", reason=NEEDED)
    (tmp_path / "pairs.tsv").write_text("good morning\tfr\tbonjour\nthank you\tfr\tmerci", encoding="utf-8")
    other = read_corpus([tmp_path / "pairs.tsv"])
    for corpus in (toy, other):
        distill(corpus, WordHashEncoder(), tmp_path / "model", small, work=tmp_path / "work", device="cpu")

    distill(other, WordHashEncoder(), tmp_path / "alone", small, work=tmp_path / "alone.work", device="cpu")

    assert contents(tmp_path / "model")["tokenizer.json"] == contents(tmp_path / "alone")["tokenizer.json"]


def test_tokenizer_of_other_language_weights_is_not_reused(toy: Corpus, small: Recipe, tmp_path: Path) -> None:
    pytest.importorskip("torch", reason=NEEDED)
    few = replace(small, pieces=70)
    weighted = replace(few, language_weights={"el": 50.0})
    for recipe, name in ((few, "before"), (weighted, "model")):
        distill(toy, WordHashEncoder(), tmp_path / name, recipe, work=tmp_path / "work", device="cpu")

    distill(toy, WordHashEncoder(), tmp_path / "alone", weighted, work=tmp_path / "alone.work", device="cpu")

    assert contents(tmp_path / "model") == contents(tmp_path / "alone")
    assert contents(tmp_path / "model")["tokenizer.json"] != contents(tmp_path / "before")["tokenizer.json"]


@pytest.mark.parametrize("rows", [60, 1000])
def test_sentence_transformers_gives_the_same_vectors(toy: Corpus, small: Recipe, tmp_path: Path, rows: int) -> None:
    pytest.importorskip("torch", reason=NEEDED)
    library = pytest.importorskip("sentence_transformers", reason=NEEDED)
    if tuple(map(int, library.__version__.split(".")[:2])) < (6, 2):
        pytest.skip("older releases do not read tables of int8")
    recipe = replace(small, rows=rows)
    distill(toy, WordHashEncoder(), tmp_path / "model", recipe, work=tmp_path / "work", device="cpu")
    assert ("mapping" in load_file(tmp_path / "model" / "model.safetensors")) == (rows == 60)
    texts = [*toy.sentences[:5], *toy.translations[:5], "an unseen parcel"]

    theirs = library.SentenceTransformer(str(tmp_path / "model"), device="cpu").encode(texts)

    assert np.abs(theirs - StaticEncoder(tmp_path / "model").encode(texts)).max() < 1e-5


def test_table_has_at_most_the_rows_of_the_recipe(toy: Corpus, small: Recipe, tmp_path: Path) -> None:
    pytest.importorskip("torch", reason=NEEDED)

    distill(
        toy, WordHashEncoder(), tmp_path / "model", replace(small, rows=60), work=tmp_path / "work", device="cpu"
    )  # fmt: skip

    tensors = load_file(tmp_path / "model" / "model.safetensors")
    assert len(tensors["embeddings"]) == 60 < len(tensors["mapping"]) == len(tensors["weights"])
    assert retrieval_accuracy(StaticEncoder(tmp_path / "model"), toy) > 0.7
    assert "share the rows of others" in (tmp_path / "model" / "README.md").read_text(encoding="utf-8")


def test_source_of_weight_zero_is_not_trained(toy: Corpus, small: Recipe, tmp_path: Path) -> None:
    pytest.importorskip("torch", reason=NEEDED)
    recipe = replace(small, source_weights={"pen": 0.0})

    distill(toy, WordHashEncoder(), tmp_path / "model", recipe, work=tmp_path / "work", device="cpu")

    student = StaticEncoder(tmp_path / "model")
    english, mirror, pen = (
        student.encode(texts) for texts in (toy.sentences[:90], toy.translations[:90], toy.translations[90:])
    )
    assert np.mean((mirror @ english.T).argmax(1) == np.arange(90)) > 0.9
    assert np.mean((pen @ english.T).argmax(1) == np.arange(90)) < 0.1


@pytest.fixture
def training_data_of(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Callable[..., StudentData]:
    """Returns the training data that a student would get."""
    pytest.importorskip("torch", reason=NEEDED)

    class CapturedError(Exception):
        """Carries the training data."""

    def train(data: StudentData, *_: object, **__: object) -> None:
        raise CapturedError(data)

    monkeypatch.setattr("intentmatch.distill.student.train", train)

    def given(recipe: Recipe, pairs: Sequence[str], english: Sequence[str] = ()) -> StudentData:
        (tmp_path / "pairs.tsv").write_text("\n".join(pairs), encoding="utf-8")
        (tmp_path / "english.tsv").write_text("\n".join(english), encoding="utf-8")
        corpus = read_corpus([tmp_path / "pairs.tsv"], [tmp_path / "english.tsv"])
        with pytest.raises(CapturedError) as caught:
            distill(corpus, WordHashEncoder(), tmp_path / "model", recipe, work=tmp_path / "work")
        return caught.value.args[0]  # type: ignore[no-any-return]

    return given


def chances(lines: TargetLines) -> np.ndarray:
    return np.diff(lines.chances, prepend=0.0) / lines.chances[-1]


@pytest.mark.parametrize("flatness", [0.0, 0.5, 1.0])
def test_flatness_sets_the_sampling_of_languages(
    training_data_of: Callable[..., StudentData], small: Recipe, flatness: float
) -> None:
    lines = [f"line {n}\tde\tZeile {n}\tweb" for n in range(12)] + [f"line {n}\tde\tLinie {n}\tbooks" for n in range(4)]
    lines += [f"line {n}\tfr\tligne {n}\tweb" for n in range(4)]
    recipe = replace(small, flatness=flatness, source_weights={"books": 6.0}, typos=0.0)

    drawn = chances(training_data_of(recipe, lines).translations)

    assert drawn[:16].sum() / drawn[16:].sum() == pytest.approx(4**flatness)
    assert drawn[12:16] == pytest.approx(6 * drawn[:4])
    assert drawn[:12] == pytest.approx(drawn[0])


@pytest.mark.parametrize("flatness", [0.0, 1.0])
def test_language_weights_multiply_the_sampling(
    training_data_of: Callable[..., StudentData], small: Recipe, flatness: float
) -> None:
    lines = [f"line {n}\t{code}\tlinea {n}" for code, count in (("es", 8), ("it", 4), ("la", 4)) for n in range(count)]
    recipe = replace(small, flatness=flatness, language_weights={"es": 3.0, "la": 0.0, "de": 9.0}, typos=0.0)

    drawn = chances(training_data_of(recipe, lines).translations)

    assert drawn[:8].sum() / drawn[8:12].sum() == pytest.approx(3 * 2**flatness)
    assert not drawn[12:].any()


def test_source_weights_apply_to_english(training_data_of: Callable[..., StudentData], small: Recipe) -> None:
    recipe = replace(small, source_weights={"web": 3.0, "books": 0.0}, typos=0.0)

    data = training_data_of(recipe, ["one\tde\teins"], ["two\tweb", "three\tbooks", "four\tart"])

    assert chances(data.sentences) == pytest.approx(np.array([1, 3, 0, 1]) / 5)


def test_typos_are_added_to_the_original_texts(
    training_data_of: Callable[..., StudentData], toy: Corpus, small: Recipe
) -> None:
    lines = [f"{toy.sentences[row]}\tde\t{text}" for row, text in zip(toy.rows, toy.translations, strict=True)]
    right = training_data_of(replace(small, typos=0.0), lines)
    some = training_data_of(replace(small, typos=0.3), lines)
    every = training_data_of(replace(small, typos=1.0), lines)

    count = len(lines)
    assert len(right.translations.rows) == count < len(some.translations.rows) < 1.5 * count
    assert every.translations.rows.tolist() == 2 * right.translations.rows.tolist()
    both = [every.translations.pieces.select(np.arange(start, start + count))[0] for start in (0, count)]
    assert np.array_equal(both[0], right.translations.pieces.numbers)
    assert len(both[1]) > len(both[0])
    assert np.array_equal(every.english.numbers, right.english.numbers)


def test_silent_tokens_and_empty_texts_are_not_trained(
    training_data_of: Callable[..., StudentData], small: Recipe, tmp_path: Path
) -> None:
    data = training_data_of(
        replace(small, typos=0.0), ["(one)\tde\t(eins)", "two\the\t\u05b0\u05b1", "three\tde\tdrei"]
    )
    described = json.loads((tmp_path / "work" / "tokenizer.json").read_bytes())["tokenizer"]["model"]["vocab"]
    silent = [number for number, (piece, _) in enumerate(described) if piece in (PADDING, UNKNOWN, SPACE)]

    assert len(silent) == 3
    for pieces in (data.translations.pieces, data.sentences.pieces, data.english):
        assert len(pieces.numbers) > 0
        assert not np.isin(pieces.numbers, silent).any()
    assert data.translations.pieces.lengths[1] == 0
    assert chances(data.translations)[1] == 0


@pytest.mark.parametrize("option", ["--pairs", "--english", "--held-out", "--recipe"])
def test_missing_file_is_reported(
    run: Callable[..., Result], teacher: WordHashEncoder, tmp_path: Path, option: str
) -> None:
    done = run("-o", tmp_path / "model", option, tmp_path / "missing.tsv")

    assert done.exit_code == 2
    assert "missing.tsv" in done.stderr
    assert not (tmp_path / "model").exists()


def test_error_in_a_file_is_reported_with_its_location(
    run: Callable[..., Result], teacher: WordHashEncoder, tmp_path: Path
) -> None:
    (tmp_path / "bad.tsv").write_text("stepz: 3\n", encoding="utf-8")

    for option, message in [
        ("--pairs", "bad.tsv:1: a line needs English, language and translation"),
        ("--held-out", "bad.tsv:1: a line needs language, English and translation"),
        ("--recipe", "did you mean 'steps'?"),
    ]:
        done = run("-o", tmp_path / "model", option, tmp_path / "bad.tsv")
        assert (done.exit_code, message in done.stderr) == (2, True), done.stderr
    assert teacher.encoded == []


def test_held_out_sentences_reach_neither_teacher_nor_student(
    run: Callable[..., Result], teacher: WordHashEncoder, tmp_path: Path
) -> None:
    pytest.importorskip("torch", reason=NEEDED)
    (tmp_path / "held.tsv").write_text("fr\tThe parcel arrives today!\tle colis", encoding="utf-8")

    run("-o", tmp_path / "model", "--held-out", tmp_path / "held.tsv")

    assert "the parcel arrives today" not in teacher.encoded
    assert len(teacher.encoded) == 179
    assert "Filtered out: 1 English: held out, near, 2 pairs: held out, near." in (
        tmp_path / "model" / "README.md"
    ).read_text(encoding="utf-8")


def test_dim_above_the_teachers_is_refused(toy: Corpus, small: Recipe, tmp_path: Path) -> None:
    pytest.importorskip("torch", reason=NEEDED)
    with pytest.raises(InputError, match="the recipe has dim 65, but the teacher's vectors have only 64 dimensions"):
        distill(toy, WordHashEncoder(), tmp_path / "m", replace(small, dim=65), work=tmp_path / "work")

    assert not (tmp_path / "work").exists()


def test_corpus_without_translations_is_refused(small: Recipe, tmp_path: Path) -> None:
    """Also with the dim of the teacher, which is allowed."""
    pytest.importorskip("torch", reason=NEEDED)
    (tmp_path / "pairs.tsv").write_text("Hello\ten\tHi there\n", encoding="utf-8")
    corpus = read_corpus([tmp_path / "pairs.tsv"])

    for recipe in (small, replace(small, dim=WordHashEncoder().dim)):
        with pytest.raises(InputError, match="the corpus has no translations"):
            distill(corpus, WordHashEncoder(), tmp_path / "m", recipe, work=tmp_path / "work")


def test_unknown_device_is_refused(toy: Corpus, small: Recipe, tmp_path: Path) -> None:
    pytest.importorskip("torch", reason=NEEDED)
    with pytest.raises(SettingsError, match="device 'abacus' is unknown"):
        distill(toy, WordHashEncoder(), tmp_path / "m", small, work=tmp_path / "work", device="abacus")


def test_missing_extra_is_reported_before_encoding(
    run: Callable[..., Result], teacher: WordHashEncoder, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("intentmatch.core.plugins.installed", lambda module: False)

    done = run("-o", tmp_path / "model")

    assert done.exit_code == 5
    assert 'Distillation needs an extra that is not installed. Run: pip install "intentmatch[distill]"' in done.stderr
    assert teacher.encoded == []


def test_without_torch_the_command_names_the_extra(toy: Corpus, toy_files: tuple[Path, Path], tmp_path: Path) -> None:
    described = train_tokenizer(toy, Recipe(pieces=60))
    table = TokenVectors(np.ones((60, 8), np.float32), np.arange(60, dtype=np.int32), np.ones(60, np.float32))
    save_model(tmp_path / "teacher", table, described, set())
    words = [
        "distill",
        "--teacher",
        f"static:{tmp_path / 'teacher'}",
        "--pairs",
        toy_files[0],
        "-o",
        tmp_path / "model",
    ]
    program = "import sys; sys.modules['torch'] = None; from intentmatch.cli import main; main()"

    done = subprocess.run([sys.executable, "-c", program, *words], capture_output=True, text=True, check=False)

    assert (done.returncode, 'pip install "intentmatch[distill]"' in done.stderr) == (5, True), done.stderr
    assert "Traceback" not in done.stderr
