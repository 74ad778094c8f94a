"""The cache: never a wrong vector, never an exception, whatever happens to its files."""

from __future__ import annotations

import hashlib
import logging
import shutil
import signal
import sqlite3
import subprocess
import sys
import time
from contextlib import closing
from pathlib import Path

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


def filled(folder: Path, texts: list[str] = TEXTS, kind: str = "utterance") -> Path:
    """The one file of a cache that holds the vectors of some texts."""
    encoder = WordHashEncoder()
    VectorCache(folder).put(encoder, texts, encoder.encode(texts), kind)
    (file,) = folder.iterdir()
    return file


def found_rightly(folder: Path, texts: list[str] = TEXTS) -> int:
    """How many of the texts are in the cache; each of them with its right vector."""
    encoder = WordHashEncoder()
    found = VectorCache(folder).get(encoder, texts)
    for position, vector in found.items():
        assert np.array_equal(vector, encoder.encode([texts[position]])[0])
    return len(found)


def built_rightly(folder: Path) -> bool:
    """Whether encoding through the cache gives what encoding without it gives."""
    through = encode_all(WordHashEncoder(), TEXTS, "utterance", VectorCache(folder))
    return np.array_equal(through, WordHashEncoder().encode(TEXTS))


def registry(*texts: str) -> Registry:
    return Registry((Intent("a", tuple(map(Utterance, texts))),))


def test_what_was_put_is_got(tmp_path: Path):
    """A vector comes back to the last digit, at each position of its text."""
    filled(tmp_path)

    found = VectorCache(tmp_path).get(WordHashEncoder(), ["hello", "unknown", "thank you", "hello"])

    assert sorted(found) == [0, 2, 3]
    assert np.array_equal(found[0], WordHashEncoder().encode(["hello"])[0])
    assert found[0].dtype == np.float32
    assert np.array_equal(found[0], found[3])


def test_thousands_of_texts_are_got_at_once(tmp_path: Path):
    """There is no limit on how many texts may be asked for in one go."""
    texts = [f"text {number}" for number in range(2500)]
    filled(tmp_path, texts)

    assert found_rightly(tmp_path, texts) == 2500


def test_editing_one_line_encodes_one_line(tmp_path: Path):
    """The second build asks the encoder for what is new, and gives what a build without a cache gives."""
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
def test_another_encoder_or_kind_shares_nothing(tmp_path: Path, encoder, kind):
    """A vector belongs to one fingerprint and one kind of text."""
    filled(tmp_path)

    assert VectorCache(tmp_path).get(encoder, TEXTS, kind) == {}


def test_kinds_of_one_encoder_live_side_by_side(tmp_path: Path):
    """The vector of a text as a query does not replace its vector as an utterance."""
    encoder = WordHashEncoder()
    cache = VectorCache(tmp_path)
    cache.put(encoder, ["hello"], encoder.encode(["hello"]), "utterance")
    cache.put(encoder, ["hello"], encoder.encode(["goodbye"]), "query")

    assert np.array_equal(cache.get(encoder, ["hello"], "utterance")[0], encoder.encode(["hello"])[0])
    assert np.array_equal(cache.get(encoder, ["hello"], "query")[0], encoder.encode(["goodbye"])[0])


def test_vectors_lie_close_together(tmp_path: Path):
    """A file takes little more than its vectors, so that few pages are read for them."""
    texts = [f"text {number}" for number in range(2000)]

    assert filled(tmp_path, texts).stat().st_size < 1.5 * WordHashEncoder().encode(texts).nbytes


def test_a_file_with_other_pages_goes_on_being_used(tmp_path: Path):
    """One that was made in another layout is no damaged one: what it holds is got, and more is put there."""
    file = filled(tmp_path)
    with closing(sqlite3.connect(file)) as database, database:
        rows = database.execute("SELECT key, vector FROM vectors").fetchall()
    file.unlink()
    with closing(sqlite3.connect(file)) as database, database:
        database.execute("CREATE TABLE vectors (key BLOB PRIMARY KEY, vector BLOB) WITHOUT ROWID")
        database.executemany("INSERT INTO vectors VALUES (?, ?)", rows)

    assert found_rightly(tmp_path) == len(TEXTS)
    filled(tmp_path, ["something new", *TEXTS])
    assert found_rightly(tmp_path, ["something new", *TEXTS]) == 1 + len(TEXTS)


def test_an_encoder_of_another_size_gets_nothing(tmp_path: Path, caplog):
    """A vector of the wrong length is no vector, even under the right fingerprint."""
    filled(tmp_path)
    larger = WordHashEncoder()
    larger.dim = 128

    assert VectorCache(tmp_path).get(larger, TEXTS) == {}
    assert "damaged" in caplog.text


def test_names_become_file_names(tmp_path: Path):
    """An encoder may be named after a folder, or in any script; its file lies in the cache all the same."""
    names = ["static:/home/me/../модель", "a" * 500, "sentence_transformer:org/model", "..", "", "nul\0"]

    for number, name in enumerate(names):
        encoder = WordHashEncoder(name=name, fingerprint=f"print-{number}")
        VectorCache(tmp_path).put(encoder, TEXTS, encoder.encode(TEXTS))
        assert len(VectorCache(tmp_path).get(encoder, TEXTS)) == len(TEXTS)

    assert len(list(tmp_path.iterdir())) == len(names)


@pytest.mark.parametrize("share", [0.0, 0.1, 0.5, 0.9, 0.99])
def test_a_truncated_file_costs_time_and_nothing_else(tmp_path: Path, share):
    """A file that was cut short gives no wrong vector, and is whole again after the next build."""
    file = filled(tmp_path)
    content = file.read_bytes()
    file.write_bytes(content[: int(share * len(content))])

    found_rightly(tmp_path)

    assert built_rightly(tmp_path)
    assert built_rightly(tmp_path)
    assert found_rightly(tmp_path) == len(TEXTS)


@pytest.mark.parametrize(
    "garbage", [b"this is no database\n" * 500, b"\0" * 5000, b"SQLite format 3\0" + b"\xff" * 9000]
)
def test_a_file_of_garbage_is_begun_anew_with_a_warning(tmp_path: Path, caplog, garbage):
    """A file that is none of ours is replaced, and the log says so."""
    file = filled(tmp_path)
    file.write_bytes(garbage)

    assert found_rightly(tmp_path) == 0
    assert "was damaged and is begun anew" in caplog.text
    assert built_rightly(tmp_path)
    assert found_rightly(tmp_path) == len(TEXTS)


def test_a_damaged_file_that_cannot_be_removed_is_a_warning(tmp_path: Path, caplog):
    """Where not even the removal of a damaged file is allowed, there is no cache and no exception."""

    class ReadOnlyPath(type(tmp_path)):
        """A path in a folder of which nothing can be removed."""

        def unlink(self, missing_ok=False):
            raise PermissionError(13, "Permission denied")

    filled(tmp_path).write_bytes(b"this is no database\n" * 500)

    assert found_rightly(ReadOnlyPath(tmp_path)) == 0
    assert "is not usable" in caplog.text
    assert built_rightly(ReadOnlyPath(tmp_path))


@pytest.mark.parametrize("place", [0, 3, 255, 256, 263])
def test_a_flipped_bit_in_a_row_is_noticed(tmp_path: Path, caplog, place):
    """A row whose numbers or checksum changed is encoded again; its neighbours are not."""
    file = filled(tmp_path)
    change_rows(file, lambda key, blob: flipped(blob, place), only_first=True)
    encoder = WordHashEncoder()

    vectors = encode_all(encoder, TEXTS, "utterance", VectorCache(tmp_path))

    assert len(encoder.encoded) == 1
    assert "is damaged; computing it again" in caplog.text
    assert np.array_equal(vectors, WordHashEncoder().encode(TEXTS))
    assert found_rightly(tmp_path) == len(TEXTS)


@pytest.mark.parametrize(
    "blob",
    [None, b"", b"short", b"\0" * 264, "text", 5, 1.5],
    ids=["null", "empty", "short", "zeros", "text", "whole", "broken"],
)
def test_a_row_of_anything_else_is_no_vector(tmp_path: Path, blob):
    """Whatever stands in a row, only what was put there comes out."""
    change_rows(filled(tmp_path), lambda key, old: blob)

    assert found_rightly(tmp_path) == 0
    assert built_rightly(tmp_path)


def test_rows_that_were_swapped_are_noticed(tmp_path: Path):
    """A vector filed under another text is not that text's, though it is whole."""
    with sqlite3.connect(filled(tmp_path)) as database:
        rows = database.execute("SELECT key, vector FROM vectors").fetchall()
        swapped = [(rows[number - 1][1], key) for number, (key, _) in enumerate(rows)]
        database.executemany("UPDATE vectors SET vector = ? WHERE key = ?", swapped)
    database.close()

    assert found_rightly(tmp_path) == 0


def test_another_table_of_that_name_is_a_warning(tmp_path: Path, caplog):
    """A database with other columns is not usable, and is left alone."""
    file = filled(tmp_path)
    file.unlink()
    with sqlite3.connect(file) as database:
        database.execute("CREATE TABLE vectors (other TEXT)")
    database.close()

    assert found_rightly(tmp_path) == 0
    assert built_rightly(tmp_path)
    assert "is not usable" in caplog.text


def test_no_damage_anywhere_in_the_file_gives_a_wrong_vector(tmp_path: Path):
    """Of a thousand spots of the file, each overwritten in turn, none makes a wrong vector or an exception."""
    file = filled(tmp_path)
    content = file.read_bytes()

    for start in range(0, len(content), max(1, len(content) // 300)):
        file.write_bytes(content[:start] + b"\xa5\xff\0" + content[start + 3 :])
        found_rightly(tmp_path)
    file.write_bytes(content[:-4] + b"\xa5\xff\0\0")

    assert built_rightly(tmp_path)


@pytest.mark.parametrize("below", [".", "deeper/down"])
def test_a_folder_that_cannot_be_is_a_warning(tmp_path: Path, caplog, below):
    """Where no folder can be made there is no cache, a warning, and the same vectors."""
    (tmp_path / "file").write_text("in the way")
    folder = tmp_path / "file" / below

    assert found_rightly(folder) == 0
    assert built_rightly(folder)
    assert "is not usable" in caplog.text
    assert {record.levelno for record in caplog.records} == {logging.WARNING}


def test_a_folder_where_the_file_should_be_is_a_warning(tmp_path: Path, caplog):
    """What stands in the way of the file is neither used nor removed."""
    file = filled(tmp_path)
    file.unlink()
    file.mkdir()

    assert built_rightly(tmp_path)
    assert file.is_dir()
    assert "is not usable" in caplog.text


def test_off_remembers_nothing_and_writes_nothing(tmp_path: Path, monkeypatch, caplog):
    """`off` is no cache: nothing on disk, nothing in the log."""
    monkeypatch.chdir(tmp_path)
    cache, encoder = VectorCache.at("off"), WordHashEncoder()

    encode_all(encoder, TEXTS, "utterance", cache)
    encode_all(encoder, TEXTS, "utterance", cache)

    assert len(encoder.encoded) == 2 * len(TEXTS)
    assert list(tmp_path.iterdir()) == []
    assert caplog.records == []


def test_the_setting_names_the_folder(tmp_path: Path):
    """`auto` is the user's cache folder; anything else is a folder."""
    assert VectorCache.at("auto").folder == Path(platformdirs.user_cache_dir("intentmatch"))
    assert VectorCache.at(str(tmp_path)).folder == tmp_path
    assert VectorCache.at("off").folder is None


def test_two_processes_can_build_the_same_at_once(tmp_path: Path):
    """Builders that share a cache wait for each other, and agree."""
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
    builders = [started(program, tmp_path) for _ in range(2)]
    for builder in builders:
        assert builder.stdout.readline() == "ready\n"
    for builder in builders:
        builder.stdin.write("go\n")
        builder.stdin.flush()
    finished = [builder.communicate(timeout=60) for builder in builders]

    texts = [f"text number {number}" for number in range(400)]
    expected = hashlib.sha256(WordHashEncoder().encode(texts).tobytes()).hexdigest()
    assert finished == [(expected + "\n", "")] * 2
    assert [builder.returncode for builder in builders] == [0, 0]
    assert found_rightly(tmp_path, texts) == 400


def test_a_writer_that_is_killed_leaves_no_wrong_vector(tmp_path: Path):
    """Whenever a writer dies, everything that can be read afterwards is right, and writing goes on."""
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
        writer = started(program, tmp_path)
        assert writer.stdout.readline() == "ready\n"
        time.sleep(milliseconds / 1000)
        writer.send_signal(signal.SIGKILL)
        writer.communicate(timeout=60)

        assert found_rightly(tmp_path, texts) % 40 == 0
        assert built_rightly(tmp_path)

    assert found_rightly(tmp_path, texts) > 0
    shutil.rmtree(tmp_path)


def started(program: str, folder: Path) -> subprocess.Popen:
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
