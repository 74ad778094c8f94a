"""What a safetensors file holds, as it stands there: arrays that are parts of the file's bytes, and no copies."""

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
    """The tensors in all bytes of a file that `safe_open` has found to be sound.

    Raises `ValueError` for numbers of a kind that numpy does not have, and where the file is another one by now.
    """
    begin = 8 + int.from_bytes(content[:8].tobytes(), "little")
    try:
        header = json.loads(content[8:begin].tobytes())
        header.pop("__metadata__", None)
        return {name: _tensor(content[begin:], **place) for name, place in header.items()}
    except (AttributeError, TypeError, OverflowError, RecursionError) as error:
        raise ValueError(f"its head is not that of a safetensors file: {error}") from error


def _tensor(content: NDArray[np.uint8], dtype: str, shape: list[int], data_offsets: list[int]) -> NDArray[Any]:
    if dtype not in _KINDS:
        raise ValueError(f"numbers of the kind {dtype}, which numpy does not have")
    return content[slice(*data_offsets)].view(_KINDS[dtype]).reshape(shape)
