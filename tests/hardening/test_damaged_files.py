"""Damage of stored files: an error or a warning and time, never another answer."""

from __future__ import annotations

import random
import shutil
from pathlib import Path

import pytest

from intentmatch import Matcher, load_artefact, save_artefact
from intentmatch.core.errors import ArtefactError
from intentmatch.registry import starters

SHOP = Path(starters.__file__).parent / "shop.yaml"
MESSAGES = ["where is my parcel", "cancel my order please", "what a lovely day", "ich will mein Geld zurück", "no"]
SEED = 21


def damaged(content: bytes, chosen: random.Random) -> bytes:
    """Return other bytes: flipped bits, overwritten blocks, a lost end, or two blocks swapped."""
    changed = bytearray(content)
    where = chosen.randrange(len(changed))
    kind = chosen.choice(["bit", "bit", "block", "zeros", "end", "swap"])
    size = chosen.choice([1, 8, 512, 4096])
    if kind == "bit":
        changed[where] ^= 1 << chosen.randrange(8)
    elif kind == "end":
        del changed[where:]
    elif kind == "swap":
        other = chosen.randrange(len(changed))
        changed[where : where + size], changed[other : other + size] = (
            changed[other : other + size],
            changed[where : where + size],
        )
    else:
        block = bytes(size) if kind == "zeros" else chosen.randbytes(size)
        changed[where : where + size] = block[: len(changed) - where]
    return bytes(changed)


@pytest.mark.rounds(2000, 10_000)
def test_damaged_artefact_is_refused_or_answers_alike(tmp_path: Path, rounds: int) -> None:
    matcher = Matcher.load(SHOP, cache="off")
    file = tmp_path / "shop.intentmatch"
    save_artefact(matcher.artefact, file)
    whole, expected = file.read_bytes(), [matcher.match(message) for message in MESSAGES]
    chosen = random.Random(SEED)
    refused = 0
    for _ in range(rounds):
        content = damaged(whole, chosen)
        file.write_bytes(content)
        try:
            load_artefact(file)
        except ArtefactError:
            refused += 1
        else:
            assert [Matcher.load(file).match(message) for message in MESSAGES] == expected
    assert refused > 0.9 * rounds


@pytest.mark.rounds(12, 300)
def test_damaged_cache_costs_time_only(tmp_path: Path, rounds: int) -> None:
    cache = tmp_path / "cache"
    matcher = Matcher.load(SHOP, cache=str(cache))
    expected = [matcher.match(message) for message in MESSAGES]
    files = [file for file in sorted(cache.rglob("*")) if file.is_file()]
    assert {file.suffix for file in files} == {".safetensors", ".sqlite"}
    shutil.copytree(cache, tmp_path / "whole")
    chosen = random.Random(SEED)
    for number in range(rounds):
        file = files[number % len(files)]
        whole = (tmp_path / "whole" / file.relative_to(cache)).read_bytes()
        file.write_bytes(damaged(whole, chosen))

        again = Matcher.load(SHOP, cache=str(cache))

        for message, before in zip(MESSAGES, expected, strict=True):
            found = again.match(message)
            assert (found.verdict, found.intent) == (before.verdict, before.intent)
            # Vectors that are made anew in another block differ in the last digits.
            assert found.confidence == pytest.approx(before.confidence, rel=1e-5)
            assert found.score == pytest.approx(before.score, rel=1e-5)
        shutil.rmtree(cache)
        shutil.copytree(tmp_path / "whole", cache)
