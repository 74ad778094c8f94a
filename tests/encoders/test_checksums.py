"""`SHA256SUMS` in a model's folder."""

import os
import shutil
import subprocess

import pytest

from intentmatch.core.errors import ModelUnavailableError
from intentmatch.encoders.checksums import CHECKSUMS, check_checksums, write_checksums
from intentmatch.encoders.hub import model_folder


@pytest.fixture
def model(tmp_path):
    folder = tmp_path / "model"
    (folder / "1_Pooling").mkdir(parents=True)
    (folder / "model.safetensors").write_bytes(bytes(range(256)))
    (folder / "1_Pooling" / "config.json").write_text("{}")
    (folder / "README.md").write_text("a card")
    write_checksums(folder)
    return folder


def flip(file):
    content = bytearray(file.read_bytes())
    content[len(content) // 2] ^= 1
    file.write_bytes(content)


def test_folder_as_it_was_written_is_accepted(model):
    check_checksums(model)

    assert model_folder(str(model)) == model


@pytest.mark.parametrize("name", ["model.safetensors", "1_Pooling/config.json"])
def test_flipped_bit_is_noticed(model, name):
    flip(model / name)

    with pytest.raises(ModelUnavailableError, match=f"{name} differs from its digest in {CHECKSUMS}; copy or make"):
        model_folder(str(model))


def test_missing_file_is_noticed(model):
    (model / "model.safetensors").unlink()

    with pytest.raises(ModelUnavailableError, match=r"has no model\.safetensors, which its SHA256SUMS names"):
        check_checksums(model)


def test_card_and_measured_languages_may_change(model):
    (model / "README.md").write_text("another card")
    (model / "translations.safetensors").write_bytes(b"sealed by itself")

    check_checksums(model)


def test_name_outside_of_the_folder_is_not_read(model):
    (model / CHECKSUMS).write_text(f"{'0' * 64}  ../../../dev/zero\n")

    with pytest.raises(ModelUnavailableError, match="has no"):
        check_checksums(model)


@pytest.mark.parametrize("line", ["", "abc  model.safetensors", "0" * 64, "\x00\xff"])
def test_line_of_another_kind_is_named(model, line):
    (model / CHECKSUMS).write_text(f"{(model / CHECKSUMS).read_text()}{line}\n", encoding="latin-1")

    with pytest.raises(ModelUnavailableError, match=rf"{CHECKSUMS}:3: not a SHA-256 digest"):
        check_checksums(model)


def test_folder_without_digests_is_accepted(model):
    (model / CHECKSUMS).unlink()
    flip(model / "model.safetensors")

    check_checksums(model)


@pytest.mark.skipif(shutil.which("sha256sum") is None, reason="needs sha256sum")
def test_sha256sum_reads_it(model):
    done = subprocess.run(
        ["sha256sum", "-c", CHECKSUMS],
        cwd=model,
        env={**os.environ, "LC_ALL": "C"},
        capture_output=True,
        text=True,
        check=True,
    )

    assert done.stdout == "1_Pooling/config.json: OK\nmodel.safetensors: OK\n"
