"""Sizes beyond 31, 32 and 63 bits in stored files, and registries of very many lines."""

from __future__ import annotations

import hashlib
import json
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from fakes import WordHashEncoder

from intentmatch import Matcher, load_artefact, save_artefact
from intentmatch.core.errors import ArtefactError

SEED = 21
SIZES = (2**31 - 1, 2**31, 2**32, 2**32 + 1, 2**53 + 1, 2**62, 2**63 - 1, 2**63, 2**64 - 1, 2**64, 10**30, -1, -(2**31))


@pytest.fixture(scope="module")
def content(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    folder = tmp_path_factory.mktemp("built")
    (folder / "bot.yaml").write_text(
        "intents: {greet: {utterances: [hello there]}, leave: {utterances: [goodbye then]}}\n", encoding="utf-8"
    )
    file = folder / "bot.intentmatch"
    save_artefact(Matcher.load(folder / "bot.yaml", encoder=WordHashEncoder(), cache="off").artefact, file)
    return file.read_bytes()


def resealed(content: bytes, change: Callable[[dict[str, Any]], None]) -> bytes:
    """Return the file with a changed header and the right digest, as a forger would write it."""
    end = 8 + int.from_bytes(content[:8], "little")
    header = json.loads(content[8:end])
    header["__metadata__"]["sha256"] = "0" * 64
    change(header)
    text = json.dumps(header, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)
    head = len(text).to_bytes(8, "little") + text
    digest = hashlib.sha256(head + content[end:]).hexdigest().encode()
    return head.replace(b'"sha256":"' + b"0" * 64, b'"sha256":"' + digest) + content[end:]


def test_forged_file_without_a_change_is_read(content: bytes, tmp_path: Path) -> None:
    """Otherwise the refusals below would say nothing."""
    file = tmp_path / "forged.intentmatch"
    file.write_bytes(resealed(content, lambda header: None))
    assert len(load_artefact(file).registry) == 2


@pytest.mark.rounds(300, 10_000)
def test_huge_sizes_in_a_header_are_refused(content: bytes, tmp_path: Path, rounds: int) -> None:
    """Shapes whose product overflows to the right size, offsets beyond the file, and counts that are no sizes."""
    chosen = random.Random(SEED)
    file = tmp_path / "forged.intentmatch"
    for _ in range(rounds):

        def change(header: dict[str, Any]) -> None:
            name = chosen.choice([name for name in header if name != "__metadata__"])
            place, size = header[name], chosen.choice(SIZES)
            kind = chosen.randrange(4)
            if kind == 0:
                place["shape"] = [size, *place["shape"][1:]]
            elif kind == 1:
                place["shape"] = [2**32, 2**32, *place["shape"]]
            elif kind == 2:
                place["data_offsets"] = [place["data_offsets"][0], size]
            else:
                place["data_offsets"] = [size, size + chosen.choice([0, 4])]

        file.write_bytes(resealed(content, change))
        with pytest.raises(ArtefactError):
            load_artefact(file)


@pytest.mark.parametrize("size", [size for size in SIZES if 0 <= size < 2**64])
def test_huge_length_of_the_header_is_refused(content: bytes, tmp_path: Path, size: int) -> None:
    file = tmp_path / "forged.intentmatch"
    file.write_bytes(size.to_bytes(8, "little") + content[8:])
    with pytest.raises(ArtefactError):
        load_artefact(file)


@pytest.mark.rounds(2_000, 200_000)
def test_registry_of_many_lines_is_loaded_saved_and_matched(tmp_path: Path, rounds: int) -> None:
    """Of templates, in twenty intents; the artefact answers as the YAML does."""
    intents, sentences = 20, 64
    templates = rounds // (intents * sentences)
    lines = ["intents:"]
    for topic in range(intents):
        lines += [f"  topic{topic}:", "    utterances:"]
        for template in range(templates):
            numbers = "|".join(f"n{template}x{number}" for number in range(sentences // 4))
            lines.append(f"      - (show|cancel|change|explain) my topic{topic} ({numbers})")
    (tmp_path / "bot.yaml").write_text("\n".join([*lines, ""]), encoding="utf-8")
    matcher = Matcher.load(tmp_path / "bot.yaml", encoder=WordHashEncoder(), cache="off")
    assert len(matcher.registry.utterances) == intents * templates * sentences
    save_artefact(matcher.artefact, tmp_path / "bot.intentmatch")
    saved = Matcher.load(tmp_path / "bot.intentmatch", encoder=WordHashEncoder())
    for topic in range(intents):
        message = f"cancel my topic{topic} n{templates - 1}x15"
        assert matcher.match(message).intent == saved.match(message).intent == f"topic{topic}"
        other = f"please explain my topic{topic} at once"
        assert matcher.match(other).intent == saved.match(other).intent
