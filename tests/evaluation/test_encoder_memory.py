"""Memory of an encoder, measured in a process of its own."""

from __future__ import annotations

import subprocess
import sys
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context

import pytest

from intentmatch.core.settings import Settings
from intentmatch.evaluation import encoder_memory
from intentmatch.evaluation.encoder_memory import megabytes_of, peak_megabytes


@pytest.mark.skipif(sys.platform == "win32", reason="Windows does not say what the measurement needs")
def test_embedded_encoder_takes_its_table_and_little_more() -> None:
    """Its table has 24.9 MB; the memory of this process does not count."""
    ballast = bytearray(200_000_000)
    found = megabytes_of(Settings(), ["where is my parcel"])

    assert found is not None
    assert 15 < found < 150
    assert len(ballast) == 200_000_000


def test_encoder_that_does_not_load_has_no_number() -> None:
    assert megabytes_of(Settings(encoder="onnx:/nowhere"), ["a"]) is None


def test_process_that_hangs_or_says_nothing_has_no_number(monkeypatch: pytest.MonkeyPatch) -> None:
    def hangs(*words: object, **options: object) -> object:
        raise subprocess.TimeoutExpired("python", 1)

    monkeypatch.setattr(encoder_memory.subprocess, "run", hangs)
    assert megabytes_of(Settings(), ["a"]) is None

    silent = subprocess.CompletedProcess([], 0, stdout="", stderr="")
    monkeypatch.setattr(encoder_memory.subprocess, "run", lambda *words, **options: silent)
    assert megabytes_of(Settings(), ["a"]) is None


def peaks() -> tuple[float | None, float]:
    """Return the peak before and after there is more in memory than ever."""
    before = peak_megabytes()
    more = bytearray(b"\1") * (round((before or 0) * 1_048_576) + 50_000_000)
    return before, (peak_megabytes() or 0) * more[0]


@pytest.mark.skipif(sys.platform == "win32", reason="Windows does not say")
def test_peak_grows_with_what_is_kept() -> None:
    """In a process of its own: to pass the peak of this one may take all of the memory."""
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
        before, after = pool.submit(peaks).result()

    assert before is not None
    assert after > before + 20
