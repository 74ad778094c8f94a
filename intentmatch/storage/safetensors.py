"""Read the tensors of a safetensors file as views of its bytes, without copies."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

_KINDS = {
    **{f"F{bits}": f"<f{bits // 8}" for bits in (16, 32, 64)},
    **{f"{sign}{bits}": f"<{sign.lower()}{bits // 8}" for sign in "IU" for bits in (8, 16, 32, 64)},
    "BOOL": "?",
}


def tensors_within(content: NDArray[np.uint8]) -> Mapping[str, NDArray[Any]]:
    """Return the tensors of a file by name, as views of `content`. The file must have been checked with `safe_open`.

    Raises `ValueError` for a dtype that numpy lacks, or if the header is invalid because the file has changed since.
    """
    begin = 8 + int.from_bytes(content[:8].tobytes(), "little")
    try:
        header = json.loads(content[8:begin].tobytes())
        header.pop("__metadata__", None)
        return {name: _tensor(content[begin:], **place) for name, place in header.items()}
    except (AttributeError, TypeError, OverflowError, RecursionError) as error:
        raise ValueError(f"its header is not a safetensors header: {error}") from error


def _tensor(content: NDArray[np.uint8], dtype: str, shape: list[int], data_offsets: list[int]) -> NDArray[Any]:
    if dtype not in _KINDS:
        raise ValueError(f"its dtype {dtype} is not supported by numpy")
    return content[slice(*data_offsets)].view(_KINDS[dtype]).reshape(shape)
