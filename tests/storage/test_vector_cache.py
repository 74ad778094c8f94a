"""The vector cache: no wrong vector and no exception, whatever happens to its files."""

from __future__ import annotations

import hashlib
import locale
import logging
import shutil
import signal
import sqlite3
import subprocess
import sys
import time
from contextlib import closing
from pathlib import Path
from typing import Any

import numpy as np
import platformdirs
import pytest
from fakes import WordHashEncoder

from intentmatch.artefact.build import build
from intentmatch.core.types import Intent, Registry, Utterance
from intentmatch.encoders.encode import encode_all
from intentmatch.storage.vector_cache import VectorCache

TEXTS = ["hello", "good morning", "thank you", "où est mon colis", "注文はどこですか"]
TESTS = Path(__file__).parents[1]


def fill_cache(folder: Path, texts: list[str] = TEXTS, kind: str = "utterance") -> Path:
    """Create a cache with the vectors of some texts; return its file."""
    encoder = WordHashEncoder()
    VectorCache(folder).put(encoder, texts, encoder.encode(texts), kind)
    (file,) = folder.iterdir()
    return file


def count_found(folder: Path, texts: list[str] = TEXTS) -> int:
    """Return how many texts are in the cache; check that each has its own vector."""
    encoder = WordHashEncoder()
    found = VectorCache(folder).get(encoder, texts)
    for position, vector in found.items():
        assert np.array_equal(vector, encoder.encode([texts[position]])[0])
    return len(found)


def encodes_correctly(folder: Path) -> bool:
    """Return whether encoding with the cache gives the same vectors as without it."""
    through = encode_all(WordHashEncoder(), TEXTS, "utterance", VectorCache(folder))
    return np.array_equal(through, WordHashEncoder().encode(TEXTS))


def registry(*texts: str) -> Registry:
    return Registry((Intent("a", tuple(map(Utterance, texts))),))


def test_get_returns_exactly_what_was_put(tmp_path: Path):
    """At each position of a repeated text."""
    fill_cache(tmp_path)

    found = VectorCache(tmp_path).get(WordHashEncoder(), ["hello", "unknown", "thank you", "hello"])

    assert sorted(found) == [0, 2, 3]
    assert np.array_equal(found[0], WordHashEncoder().encode(["hello"])[0])
    assert found[0].dtype == np.float32
    assert np.array_equal(found[0], found[3])


def test_thousands_of_texts_can_be_read_in_one_call(tmp_path: Path):
    texts = [f"text {number}" for number in range(2500)]
    fill_cache(tmp_path, texts)

    assert count_found(tmp_path, texts) == 2500


def test_editing_one_line_encodes_one_line(tmp_path: Path):
    """The second build gives what a build without a cache gives."""
    cache, first, second = VectorCache(tmp_path), WordHashEncoder(), WordHashEncoder()
    build(registry("hello", "good morning", "hi there"), first, cache=cache)

    artefact = build(registry("hello", "good evening", "hi there"), second, cache=cache)

    assert len(first.encoded) == 3 + len(["what the intent is called"])
    assert second.encoded == ["good evening"]
    assert np.array_equal(artefact.vectors, WordHashEncoder().encode(["hello", "good evening", "hi there"]))


@pytest.mark.parametrize(
    ("encoder", "kind"),
    [
        (WordHashEncoder(fingerprint="word-hash-2"), "utterance"),
        (WordHashEncoder(name="other", fingerprint="word-hash-1"), "utterance"),
        (WordHashEncoder(), "query"),
    ],
    ids=["fingerprint", "name", "kind"],
)
def test_other_encoders_and_kinds_find_nothing(tmp_path: Path, encoder, kind):
    fill_cache(tmp_path)

    assert VectorCache(tmp_path).get(encoder, TEXTS, kind) == {}


def test_query_and_utterance_vectors_of_a_text_are_separate(tmp_path: Path):
    encoder = WordHashEncoder()
    cache = VectorCache(tmp_path)
    cache.put(encoder, ["hello"], encoder.encode(["hello"]), "utterance")
    cache.put(encoder, ["hello"], encoder.encode(["goodbye"]), "query")

    assert np.array_equal(cache.get(encoder, ["hello"], "utterance")[0], encoder.encode(["hello"])[0])
    assert np.array_equal(cache.get(encoder, ["hello"], "query")[0], encoder.encode(["goodbye"])[0])


def test_file_is_little_larger_than_its_vectors(tmp_path: Path):
    texts = [f"text {number}" for number in range(2000)]

    assert fill_cache(tmp_path, texts).stat().st_size < 1.5 * WordHashEncoder().encode(texts).nbytes


def test_file_with_another_page_size_is_used(tmp_path: Path):
    file = fill_cache(tmp_path)
    with closing(sqlite3.connect(file)) as database, database:
        rows = database.execute("SELECT key, vector FROM vectors").fetchall()
    file.unlink()
    with closing(sqlite3.connect(file)) as database, database:
        database.execute("CREATE TABLE vectors (key BLOB PRIMARY KEY, vector BLOB) WITHOUT ROWID")
        database.executemany("INSERT INTO vectors VALUES (?, ?)", rows)

    assert count_found(tmp_path) == len(TEXTS)
    fill_cache(tmp_path, ["something new", *TEXTS])
    assert count_found(tmp_path, ["something new", *TEXTS]) == 1 + len(TEXTS)


def test_vector_of_another_dimension_is_ignored(tmp_path: Path, caplog):
    fill_cache(tmp_path)
    larger = WordHashEncoder()
    larger.dim = 128

    assert VectorCache(tmp_path).get(larger, TEXTS) == {}
    assert "damaged" in caplog.text


def test_any_encoder_name_gives_a_file_in_the_cache_folder(tmp_path: Path):
    names = ["static:/home/me/../модель", "a" * 500, "sentence_transformer:org/model", "..", "", "nul\0"]

    for number, name in enumerate(names):
        encoder = WordHashEncoder(name=name, fingerprint=f"print-{number}")
        VectorCache(tmp_path).put(encoder, TEXTS, encoder.encode(TEXTS))
        assert len(VectorCache(tmp_path).get(encoder, TEXTS)) == len(TEXTS)

    assert len(list(tmp_path.iterdir())) == len(names)


@pytest.mark.parametrize("share", [0.0, 0.1, 0.5, 0.9, 0.99])
def test_truncated_file_gives_no_wrong_vector_and_is_repaired(tmp_path: Path, share):
    file = fill_cache(tmp_path)
    content = file.read_bytes()
    file.write_bytes(content[: int(share * len(content))])

    count_found(tmp_path)

    assert encodes_correctly(tmp_path)
    assert encodes_correctly(tmp_path)
    assert count_found(tmp_path) == len(TEXTS)


@pytest.mark.parametrize(
    "garbage", [b"this is no database\n" * 500, b"\0" * 5000, b"SQLite format 3\0" + b"\xff" * 9000]
)
def test_file_of_garbage_is_created_again_with_a_warning(tmp_path: Path, caplog, garbage):
    file = fill_cache(tmp_path)
    file.write_bytes(garbage)

    assert count_found(tmp_path) == 0
    assert "was damaged and is created again" in caplog.text
    assert encodes_correctly(tmp_path)
    assert count_found(tmp_path) == len(TEXTS)


def test_damaged_file_that_cannot_be_removed_gives_a_warning(tmp_path: Path, caplog):
    class ReadOnlyPath(type(tmp_path)):
        """A path in a folder of which nothing can be removed."""

        def unlink(self, missing_ok=False):
            raise PermissionError(13, "Permission denied")

    fill_cache(tmp_path).write_bytes(b"this is no database\n" * 500)

    assert count_found(ReadOnlyPath(tmp_path)) == 0
    assert "cannot be used" in caplog.text
    assert encodes_correctly(ReadOnlyPath(tmp_path))


@pytest.mark.parametrize("place", [0, 3, 255, 256, 263])
def test_flipped_bit_is_detected(tmp_path: Path, caplog, place):
    """Only the damaged row is encoded again."""
    file = fill_cache(tmp_path)
    change_rows(file, lambda key, blob: flipped(blob, place), only_first=True)
    encoder = WordHashEncoder()

    vectors = encode_all(encoder, TEXTS, "utterance", VectorCache(tmp_path))

    assert len(encoder.encoded) == 1
    assert "is damaged; computing it again" in caplog.text
    assert np.array_equal(vectors, WordHashEncoder().encode(TEXTS))
    assert count_found(tmp_path) == len(TEXTS)


@pytest.mark.parametrize(
    "blob",
    [None, b"", b"short", b"\0" * 264, "text", 5, 1.5],
    ids=["null", "empty", "short", "zeros", "text", "whole", "broken"],
)
def test_row_with_other_content_is_ignored(tmp_path: Path, blob):
    change_rows(fill_cache(tmp_path), lambda key, old: blob)

    assert count_found(tmp_path) == 0
    assert encodes_correctly(tmp_path)


def test_swapped_rows_are_detected(tmp_path: Path):
    with sqlite3.connect(fill_cache(tmp_path)) as database:
        rows = database.execute("SELECT key, vector FROM vectors").fetchall()
        swapped = [(rows[number - 1][1], key) for number, (key, _) in enumerate(rows)]
        database.executemany("UPDATE vectors SET vector = ? WHERE key = ?", swapped)
    database.close()

    assert count_found(tmp_path) == 0


def test_table_with_other_columns_gives_a_warning_and_is_unchanged(tmp_path: Path, caplog):
    file = fill_cache(tmp_path)
    file.unlink()
    with sqlite3.connect(file) as database:
        database.execute("CREATE TABLE vectors (other TEXT)")
    database.close()

    assert count_found(tmp_path) == 0
    assert encodes_correctly(tmp_path)
    assert "cannot be used" in caplog.text


def test_damage_at_any_position_gives_no_wrong_vector(tmp_path: Path):
    """A thousand positions are overwritten in turn."""
    file = fill_cache(tmp_path)
    content = file.read_bytes()

    for start in range(0, len(content), max(1, len(content) // 300)):
        file.write_bytes(content[:start] + b"\xa5\xff\0" + content[start + 3 :])
        count_found(tmp_path)
    file.write_bytes(content[:-4] + b"\xa5\xff\0\0")

    assert encodes_correctly(tmp_path)


@pytest.mark.parametrize("below", [".", "deeper/down"])
def test_folder_that_cannot_be_created_gives_a_warning(tmp_path: Path, caplog, below):
    (tmp_path / "file").write_text("in the way")
    folder = tmp_path / "file" / below

    assert count_found(folder) == 0
    assert encodes_correctly(folder)
    assert "cannot be used" in caplog.text
    assert {record.levelno for record in caplog.records} == {logging.WARNING}


def test_folder_in_place_of_the_file_gives_a_warning_and_is_unchanged(tmp_path: Path, caplog):
    file = fill_cache(tmp_path)
    file.unlink()
    file.mkdir()

    assert encodes_correctly(tmp_path)
    assert file.is_dir()
    assert "cannot be used" in caplog.text


def test_off_caches_nothing_and_logs_nothing(tmp_path: Path, monkeypatch, caplog):
    monkeypatch.chdir(tmp_path)
    cache, encoder = VectorCache.at("off"), WordHashEncoder()

    encode_all(encoder, TEXTS, "utterance", cache)
    encode_all(encoder, TEXTS, "utterance", cache)

    assert len(encoder.encoded) == 2 * len(TEXTS)
    assert list(tmp_path.iterdir()) == []
    assert caplog.records == []


def test_cache_setting_names_the_folder(tmp_path: Path):
    assert VectorCache.at("auto").folder == Path(platformdirs.user_cache_dir("intentmatch"))
    assert VectorCache.at(str(tmp_path)).folder == tmp_path
    assert VectorCache.at("off").folder is None


def test_two_processes_can_fill_one_cache(tmp_path: Path):
    program = """
import hashlib, sys
from pathlib import Path
from fakes import WordHashEncoder
from intentmatch.encoders import encode
from intentmatch.storage.vector_cache import VectorCache
encode.ENCODE_TEXTS = 20
texts = [f"text number {number}" for number in range(400)]
print("ready", flush=True)
sys.stdin.readline()
vectors = encode.encode_all(WordHashEncoder(), texts, "utterance", VectorCache(Path(sys.argv[1])))
print(hashlib.sha256(vectors.tobytes()).hexdigest())
"""
    builders = [start_program(program, tmp_path) for _ in range(2)]
    for builder in builders:
        assert builder.stdout.readline() == "ready\n"
    for builder in builders:
        builder.stdin.write("go\n")
        builder.stdin.flush()
    finished = [builder.communicate(timeout=300) for builder in builders]

    texts = [f"text number {number}" for number in range(400)]
    expected = hashlib.sha256(WordHashEncoder().encode(texts).tobytes()).hexdigest()
    assert finished == [(expected + "\n", "")] * 2
    assert [builder.returncode for builder in builders] == [0, 0]
    assert count_found(tmp_path, texts) == 400


def test_killed_writer_leaves_no_wrong_vector(tmp_path: Path):
    program = """
import sys
from pathlib import Path
from fakes import WordHashEncoder
from intentmatch.storage.vector_cache import VectorCache
encoder, cache = WordHashEncoder(), VectorCache(Path(sys.argv[1]))
batches = [[f"text {number}" for number in range(start, start + 40)] for start in range(0, 2000, 40)]
vectors = [encoder.encode(batch) for batch in batches]
print("ready", flush=True)
while True:
    for batch, rows in zip(batches, vectors):
        cache.put(encoder, batch, rows)
"""
    texts = [f"text {number}" for number in range(2000)]
    for milliseconds in (3, 11, 23, 41, 73):
        writer = start_program(program, tmp_path)
        assert writer.stdout.readline() == "ready\n"
        time.sleep(milliseconds / 1000)
        writer.send_signal(signal.SIGKILL)
        writer.communicate(timeout=300)

        assert count_found(tmp_path, texts) % 40 == 0
        assert encodes_correctly(tmp_path)

    assert count_found(tmp_path, texts) > 0
    shutil.rmtree(tmp_path)


def start_program(program: str, folder: Path) -> subprocess.Popen:
    return subprocess.Popen(
        [sys.executable, "-c", program, str(folder)],
        cwd=TESTS,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def change_rows(file: Path, change, *, only_first: bool = False) -> None:
    with sqlite3.connect(file) as database:
        rows = database.execute("SELECT key, vector FROM vectors ORDER BY key").fetchall()
        for key, blob in rows[:1] if only_first else rows:
            database.execute("UPDATE vectors SET vector = ? WHERE key = ?", (change(key, blob), key))
    database.close()


def flipped(blob: bytes, place: int) -> bytes:
    return blob[:place] + bytes([blob[place] ^ 1]) + blob[place + 1 :]


def test_writing_is_one_transaction_in_a_turkish_locale(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """Python finds out by letters whether a statement writes, and the small letter of I is another one there."""
    before, told = locale.setlocale(locale.LC_CTYPE), []
    connect = sqlite3.connect

    def traced(*args: Any, **options: Any) -> sqlite3.Connection:
        database = connect(*args, **options)
        database.set_trace_callback(told.append)
        return database

    monkeypatch.setattr(sqlite3, "connect", traced)
    try:
        locale.setlocale(locale.LC_CTYPE, "tr_TR.UTF-8")
    except locale.Error:
        pytest.skip("this machine has no Turkish locale")
    try:
        VectorCache(tmp_path).put(WordHashEncoder(), TEXTS, WordHashEncoder().encode(TEXTS))
    finally:
        locale.setlocale(locale.LC_CTYPE, before)

    written = [statement.split()[0] for statement in told if statement.split()[0] in {"BEGIN", "INSERT", "COMMIT"}]
    assert written == ["BEGIN", *["INSERT"] * len(TEXTS), "COMMIT"]
