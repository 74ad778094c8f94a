"""Sealed files: equal content gives equal bytes, and every changed byte is noticed."""

from __future__ import annotations

import hashlib
from pathlib import Path

import numpy as np
import pytest
from safetensors import SafetensorError
from safetensors.numpy import load_file, save_file

from intentmatch.storage import sealed
from intentmatch.storage.sealed import DamagedError, read_sealed, seal

TENSORS = {"b": np.arange(6, dtype=np.float32).reshape(2, 3), "a": np.array([1, 2, 3], dtype=np.uint8)}
METADATA = {"note": '{"sha256":"not this one"}', "name": "é"}


@pytest.mark.parametrize("mapped_from", [0, 1 << 26])
def test_sealed_content_is_read_back(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, mapped_from: int) -> None:
    monkeypatch.setattr(sealed, "_MAPPED_FROM", mapped_from)
    file = tmp_path / "file"
    file.write_bytes(seal(TENSORS, METADATA))

    found = read_sealed(file)

    assert {name: array.tolist() for name, array in found.tensors.items()} == {
        name: array.tolist() for name, array in TENSORS.items()
    }
    assert {name: found.metadata[name] for name in METADATA} == METADATA
    assert found.signature is None
    assert load_file(file).keys() == TENSORS.keys()


def test_equal_content_gives_equal_bytes() -> None:
    turned = dict(reversed(METADATA.items()))
    assert len({seal(TENSORS, METADATA) for _ in range(5)}) == 1
    assert seal(TENSORS, turned) != b""


def test_every_flipped_byte_is_noticed(tmp_path: Path) -> None:
    whole = seal(TENSORS, METADATA)
    file = tmp_path / "file"
    for position in range(len(whole)):
        for bit in (1, 128):
            file.write_bytes(whole[:position] + bytes([whole[position] ^ bit]) + whole[position + 1 :])
            try:
                found = read_sealed(file)
            except (DamagedError, SafetensorError, ValueError):
                continue  # a flipped bit of the length, or of JSON, is noticed by safetensors
            # A damaged signature is noticed where one is required.
            assert found.signature is not None
            assert whole.index(b"0" * 128) <= position < whole.index(b"0" * 128) + 128


def test_signature_is_of_the_digest_of_all_other_bytes(tmp_path: Path) -> None:
    signed: list[bytes] = []

    def sign(message: bytes) -> bytes:
        signed.append(message)
        return b"s" * 64

    file = tmp_path / "file"
    file.write_bytes(seal(TENSORS, METADATA, sign))

    found = read_sealed(file)

    assert found.signature == b"s" * 64
    assert signed == [found.digest]
    plain = seal(TENSORS, METADATA)
    zeros = plain.replace(found.digest.hex().encode(), b"0" * 64)
    assert hashlib.sha256(zeros).digest() == found.digest


def test_file_without_a_digest_is_refused(tmp_path: Path) -> None:
    save_file(TENSORS, tmp_path / "file", {"sha256": "0"})
    with pytest.raises(DamagedError, match="no digest"):
        read_sealed(tmp_path / "file")
