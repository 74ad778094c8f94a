"""Mutated YAML files: a registry or the library's own error, with positions inside the file."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from intentmatch import read_registry
from intentmatch.core.errors import RegistryError
from intentmatch.registry import starters

FILES = [Path(__file__).with_name("every_slot.yaml"), *sorted(Path(starters.__file__).parent.glob("*.yaml"))]
SEED = 21
TOKENS = (
    *("intents:", "utterances:", "slots:", "values:", "pattern:", "include:", "version: 1", "type:", "ask:", "when:"),
    *("- ", "? ", ": ", "|", ">", "|2-", "&a", "*a", "<<: *a", "!!python/object:os.system", "!!binary", "%YAML 1.2"),
    *("---", "...", "{", "}", "[", "]", "(", ")", "{size}", "{{", '"', "'", "#", "\\", "\t", "\0", "\ufeff", "\u2028"),
    *("\x85", "😀", "null", "true", "1e400", "0x10", "2026-11-23", "~", "[" * 99, "{a: {a: {a:", "((a|b)|(c|d))" * 9),
    *("(a+)+$", " " * 300),
)


def mutated(text: str, chosen: random.Random) -> bytes:
    """Return other content: changed lines, characters, tokens, indentation or bits."""
    for _ in range(chosen.randint(1, 4)):
        place = chosen.randrange(len(text) + 1)
        match chosen.randrange(4):
            case 0:
                text = text[:place] + chosen.choice(TOKENS) + text[place:]
            case 1:
                text = text[:place] + text[place + chosen.randint(1, 30) :]
            case 2:
                letter = chr(chosen.choice([chosen.randrange(256), chosen.randrange(0xD800)]))
                text = text[:place] + letter + text[place:]
            case _:
                text = "\n".join(changed_lines(text.split("\n"), chosen))
    content = bytearray(text.encode("utf-8"))
    if content and chosen.random() < 0.2:
        content[chosen.randrange(len(content))] ^= 1 << chosen.randrange(8)
    return bytes(content)


def changed_lines(lines: list[str], chosen: random.Random) -> list[str]:
    """Return lines of which one was moved, repeated, indented, deleted or given another value."""
    line, other = chosen.randrange(len(lines)), chosen.randrange(len(lines))
    match chosen.randrange(5):
        case 0:
            lines[line], lines[other] = lines[other], lines[line]
        case 1:
            lines.insert(other, lines[line])
        case 2:
            lines[line] = " " * chosen.randint(0, 9) + lines[line].lstrip()
        case 3:
            del lines[line]
        case _:
            lines[line] = f"{lines[line].partition(':')[0]}: {chosen.choice(TOKENS)}"
    return lines


@pytest.mark.rounds(400, 60_000)
def test_mutated_files_are_read_or_refused_with_positions_inside(tmp_path: Path, rounds: int) -> None:
    originals = [text for file in FILES if len(text := file.read_text(encoding="utf-8")) < 6000]
    file = tmp_path / "bot.yaml"
    chosen = random.Random(SEED)
    refused = 0
    for _ in range(rounds):
        content = mutated(chosen.choice(originals), chosen)
        file.write_bytes(content)
        try:
            read_registry(file)
        except RegistryError as error:
            refused += 1
            lines = content.decode("utf-8", "replace").splitlines() or [""]
            for problem in error.problems:
                place = problem.location
                assert 0 <= place.line <= len(lines) + 1, (problem, content)
                assert place.column >= 0, (problem, content)
    assert 0.2 * rounds < refused < rounds
