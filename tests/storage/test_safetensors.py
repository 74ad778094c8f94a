"""Tensors as views of a safetensors file."""

from __future__ import annotations

import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays
from safetensors.numpy import save

from intentmatch.storage.safetensors import tensors_within

KINDS = [np.dtype(name) for name in ("f2", "f4", "f8", "i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "?")]
ARRAYS = st.sampled_from(KINDS).flatmap(lambda kind: arrays.arrays(kind, arrays.array_shapes(min_dims=0, min_side=0)))


def within(content: bytes) -> dict[str, np.ndarray]:
    return dict(tensors_within(np.frombuffer(content, np.uint8)))


@given(st.dictionaries(st.text(st.characters(exclude_categories=["Cs"])).filter(lambda n: n != "__metadata__"), ARRAYS))
def test_saved_tensors_are_read_back(tensors: dict[str, np.ndarray]) -> None:
    """With name, dtype, shape and bytes; metadata is ignored."""
    found = within(save(tensors, {"note": "metadata"}))

    assert sorted(found) == sorted(tensors)
    for name, array in tensors.items():
        assert (found[name].dtype, found[name].shape) == (array.dtype, array.shape)
        assert found[name].tobytes() == array.tobytes()


def test_tensors_share_memory_with_the_content() -> None:
    content = np.frombuffer(save({"a": np.arange(1000)}), np.uint8)

    assert np.shares_memory(tensors_within(content)["a"], content)


def test_unsupported_dtype_is_named() -> None:
    header = json.dumps({"a": {"dtype": "BF16", "shape": [1], "data_offsets": [0, 2]}}).encode()

    with pytest.raises(ValueError, match="dtype BF16"):
        within(len(header).to_bytes(8, "little") + header + b"\0\0")


@pytest.mark.parametrize("kept", [0.3, 0.999])
def test_truncated_file_is_an_error(kept: float) -> None:
    content = save({"a": np.arange(1000)})

    with pytest.raises(ValueError, match=r"."):
        within(content[: int(len(content) * kept)])


@pytest.mark.parametrize(
    "head",
    [
        b"[]",
        b"7",
        b'{"a": 7}',
        b'{"a": {"dtype": "F32"}}',
        b'{"a": {"dtype": [], "shape": [1], "data_offsets": [0, 4]}}',
        b'{"a": {"dtype": "F32", "shape": [9e99], "data_offsets": [0, 4]}}',
        b'{"a": {"dtype": "F32", "shape": [' + b"9" * 40 + b'], "data_offsets": [0, 4]}}',
        b'{"a": {"dtype": "F32", "shape": [1], "data_offsets": ["0", "4"]}}',
        b'{"a": {"dtype": "F32", "shape": [1], "data_offsets": [0, 4, 0]}}',
        b"\xff",
        b"[" * 100_000,
    ],
)
def test_invalid_header_is_an_error(head: bytes) -> None:
    with pytest.raises(ValueError, match=r"."):
        within(len(head).to_bytes(8, "little") + head + b"\0" * 4)
