"""Tests for files, folders and zips as the source of an import."""

from __future__ import annotations

import codecs
import os
import stat
import zipfile
from collections.abc import Mapping
from pathlib import Path

import pytest

from intentmatch.core.errors import InputError, Location, RegistryError
from intentmatch.formats.kit import archive, source
from intentmatch.formats.kit.source import Source


def zipped(path: Path, files: Mapping[str, str | bytes]) -> Path:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as out:
        for name, content in files.items():
            out.writestr(name, content)
    return path


def with_entry(path: Path, **changes: int) -> Path:
    """Return a zip with one entry whose header fields are overwritten."""
    with zipfile.ZipFile(path, "w") as out:
        entry = zipfile.ZipInfo("a.txt")
        for name, value in changes.items():
            setattr(entry, name, value)
        out.writestr(entry, "target")
    return path


def test_file_source_has_one_file(tmp_path: Path) -> None:
    (tmp_path / "a.json").write_text('{"x": 1}')
    (found,) = Source(tmp_path / "a.json")

    assert (found.path, found.name, found.suffix) == ("a.json", "a.json", ".json")
    assert found.location == Location(str(tmp_path / "a.json"))
    assert found.root["x"].integer() == 1


def test_folder_source_lists_files_sorted_without_hidden_ones(tmp_path: Path) -> None:
    for name in ("b/z.txt", "a.txt", "b/a.txt", ".git/x.txt", "node_modules/x.txt", ".hidden", "B.txt"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text("x")

    assert [file.path for file in Source(tmp_path)] == ["B.txt", "a.txt", "b/a.txt", "b/z.txt"]


def test_zip_source_lists_files_without_writing_to_disk(tmp_path: Path) -> None:
    path = zipped(
        tmp_path / "agent.zip", {"intents/x.json": '{\n  "a": [1, }', "b\\c.txt": "hi", "__MACOSX/y": "", "d/": ""}
    )
    files = {file.path: file for file in Source(path)}

    assert sorted(files) == ["b/c.txt", "intents/x.json"]
    assert files["b/c.txt"].text == "hi"
    with pytest.raises(RegistryError, match=r"agent\.zip/intents/x\.json:2:12: error \[json-syntax\]"):
        _ = files["intents/x.json"].nodes
    assert list(tmp_path.iterdir()) == [path]


def test_missing_path_raises(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="gone: no such file or folder"):
        Source(tmp_path / "gone")


@pytest.mark.parametrize(
    ("data", "text"),
    [
        (b"\xef\xbb\xbfhi", "hi"),
        (codecs.BOM_UTF16_LE + "größe 你".encode("utf-16-le"), "größe 你"),
        (codecs.BOM_UTF16_BE + "größe 你".encode("utf-16-be"), "größe 你"),
        (codecs.BOM_UTF32_LE + "hi".encode("utf-32-le"), "hi"),
        (b"", ""),
    ],
)
def test_byte_order_marks_are_decoded(tmp_path: Path, data: bytes, text: str) -> None:
    (tmp_path / "a.txt").write_bytes(data)

    assert next(iter(Source(tmp_path))).text == text


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        (b"abc\nd\xe4f", r"a\.txt:2:2: error \[encoding\] byte 0xE4 is not valid UTF-8"),
        (b"\x89PNG\0\0", r"a\.txt:1:1: error \[encoding\] this is not a text file"),
        (b"x" * 5000 + b"\n\0", r"a\.txt:2:1: error \[encoding\] this is not a text file"),
        (codecs.BOM_UTF16_LE + b"a", r"\[encoding\] byte 0x61 is not valid UTF-16"),
    ],
)
def test_non_text_is_refused_with_its_location(tmp_path: Path, data: bytes, expected: str) -> None:
    """Recognition sees an empty file."""
    (tmp_path / "a.txt").write_bytes(data)
    file = next(iter(Source(tmp_path)))

    assert file.lines == []
    assert not file.root
    with pytest.raises(RegistryError, match=expected):
        _ = file.text


def test_yaml_documents_have_separate_anchors(tmp_path: Path) -> None:
    (tmp_path / "a.yaml").write_text("---\na: &x 1\n---\nb: 2\n")
    file = next(iter(Source(tmp_path)))

    assert len(file.nodes) == 2
    assert file.root["a"].text() == "1"


@pytest.mark.parametrize(
    "path", ["../x.txt", "b/../../x.txt", "/etc/passwd", "C:/x.txt", "..\\x.txt", "a\0b", "link.txt"]
)
def test_paths_and_links_cannot_leave_the_source(tmp_path: Path, path: str) -> None:
    (tmp_path / "x.txt").write_text("secret")
    folder = tmp_path / "bot"
    folder.mkdir()
    (folder / "a.txt").write_text("x")
    (folder / "link.txt").symlink_to(tmp_path / "x.txt")

    for found in (Source(folder), Source(folder / "a.txt")):
        assert next(iter(found)).resolve_reference(path) is None
    assert Source(folder).links == ["link.txt"]


def test_references_are_resolved_relative_to_the_file(tmp_path: Path) -> None:
    (tmp_path / "b").mkdir()
    (tmp_path / "b" / "a.txt").write_text("x")
    (tmp_path / "c.txt").write_text("named")
    path = zipped(tmp_path / "z.zip", {"b/a.txt": "x", "c.txt": "named"})

    for found in (Source(tmp_path), Source(path)):
        named = found.find("b/a.txt").resolve_reference("../c.txt")
        assert named.text == "named"
        assert "c.txt" in found.referenced
    alone = Source(tmp_path / "c.txt")
    assert [file.path for file in alone] == ["c.txt"]
    assert next(iter(alone)).resolve_reference("b/a.txt").text == "x"


@pytest.mark.parametrize("name", ["../evil.txt", "a/../../evil.txt", "/etc/evil.txt", "C:\\evil.txt", "..\\evil.txt"])
def test_zip_with_path_traversal_is_refused(tmp_path: Path, name: str) -> None:
    with pytest.raises(InputError, match=r"is refused: its entry .* points outside of the archive"):
        Source(zipped(tmp_path / "a.zip", {"fine.txt": "x", name: "x"}))


def test_zip_with_a_link_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"its entry 'a\.txt' is a link"):
        Source(with_entry(tmp_path / "a.zip", external_attr=(stat.S_IFLNK | 0o777) << 16))


def test_encrypted_zip_is_refused(tmp_path: Path) -> None:
    path = with_entry(tmp_path / "a.zip")
    data = bytearray(path.read_bytes())
    for sign in (b"PK\x03\x04", b"PK\x01\x02"):
        data[data.index(sign) + (6 if sign[2] == 3 else 8)] |= 1
    path.write_bytes(data)

    with pytest.raises(InputError, match="is protected by a password; unpack it"):
        Source(path)


def test_zip_bomb_is_refused_before_unpacking(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"its entry 'a\.txt' has a suspiciously high compression ratio"):
        Source(zipped(tmp_path / "a.zip", {"a.txt": b"0" * 20_000_000}))


def test_zip_entry_with_a_false_size_is_refused(tmp_path: Path) -> None:
    path = zipped(tmp_path / "a.zip", {"a.txt": b"0" * 100_000})
    data = path.read_bytes().replace((100_000).to_bytes(4, "little"), (10).to_bytes(4, "little"))
    path.write_bytes(data)

    with pytest.raises(InputError, match="cannot be unpacked"):
        _ = next(iter(Source(path))).text


@pytest.mark.parametrize("length", [4, 30, 60, 90])
def test_damaged_zip_is_refused(tmp_path: Path, length: int) -> None:
    path = zipped(tmp_path / "a.zip", {"a.txt": "hello" * 100})
    path.write_bytes(path.read_bytes()[:length])

    with pytest.raises(InputError, match="is not a readable zip"):
        Source(path)


def test_nested_zips_are_not_opened(tmp_path: Path) -> None:
    inner = zipped(tmp_path / "inner.zip", {"a.txt": "x"})
    (found,) = Source(zipped(tmp_path / "a.zip", {"inner.zip": inner.read_bytes()}))

    assert found.path == "inner.zip"
    assert not found.root


def test_too_many_files_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(archive, "MAX_FILES", 2)
    monkeypatch.setattr(source, "MAX_FILES", 2)
    files = {f"{number}.txt": "x" for number in range(3)}
    for name in files:
        (tmp_path / name).write_text("x")

    for path in (tmp_path, zipped(tmp_path / "a.zip", files)):
        with pytest.raises(InputError, match="contains more than 2 files"):
            Source(path)


def test_too_much_data_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """In one file, and in total."""
    monkeypatch.setattr(source, "MAX_FILE_BYTES", 1000)
    monkeypatch.setattr(source, "MAX_TOTAL_BYTES", 1500)
    for name, length in (("a.txt", 900), ("b.txt", 900), ("c.txt", 2000)):
        (tmp_path / name).write_text("x" * length)
    first, second, third = Source(tmp_path)

    assert len(first.text) == 900
    with pytest.raises(InputError, match="contains more than 0 MB"):
        _ = second.text
    with pytest.raises(InputError, match="is larger than 0 MB"):
        _ = third.text
    assert third.problem is not None


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_unreadable_paths_are_reported(tmp_path: Path) -> None:
    """A folder at once, a file on first use."""
    (tmp_path / "a").mkdir(mode=0)

    with pytest.raises(InputError, match="cannot be read: Permission denied"):
        Source(tmp_path)


def test_pipes_are_not_opened(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")

    assert list(Source(tmp_path)) == []
    with pytest.raises(InputError, match="no such file or folder"):
        Source(tmp_path / "pipe")
