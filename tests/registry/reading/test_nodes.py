"""YAML text: syntax errors, encodings, line endings, and limits on nesting and aliases."""

from __future__ import annotations

import time
from pathlib import Path

import pytest
from registry_files import in_file, places

from intentmatch.registry import examine, read_registry


@pytest.mark.parametrize(
    ("text", "place", "hint"),
    [
        ("\ta: 1", "1:1", "replace the tab by spaces"),
        ("# 😀 é\na:\n  - é\n\t- b", "4:1", "replace the tab by spaces"),
        ("a: @b", "1:4", 'put the text in double quotes: `a: "@b"`'),
        ("a: 'b\n\n\n", "1:4", 'put the text in double quotes: `a: "\'b"`'),
        ("a: [b\nc: d", "1:4", "write a `]` at the end of the list"),
        ("a: [b c]\nb: {c: [d, e", "2:8", "a bracket is never closed, or a comma is missing"),
        ("a: {b: c\n\n", "1:4", "write a `}` at the end of the list"),
        ("a: [*b*]", "1:7", "put a text that starts with * or & in double quotes"),
        ("a: *b", "1:4", 'put the text in double quotes: `a: "*b"`'),
        ('a: "\\q"', "1:5", "write two backslashes for one, or use single quotes"),
        ("a: 1\n b: 1", "2:2", "`b` belongs one column further left"),
        ("a: b: c", "1:5", 'put the text in double quotes: `a: "b: c"`'),
        ("a:\n  - b\n c: 1", "3:2", "`c` belongs one column further left"),
        ('a: "b" c\n', "1:4", "put the text in single quotes: `a: '\"b\" c'`"),
        ("a: - b", "1:4", "begin the list on the next line"),
        ("a: 1\n---\nb: 1", "2:1", "remove the --- line"),
        ("a: \x07", "1:4", "remove the character"),
    ],
)
def test_syntax_error_is_located_at_its_start_with_a_hint(tmp_path: Path, text, place, hint):
    _, problems = examine(in_file(tmp_path, text))

    assert [(places([problem]), problem.hint) for problem in problems] == [([f"{place} yaml-syntax"], hint)]


@pytest.mark.parametrize(
    ("raw", "place", "byte"),
    [
        (b"\xff", "1:1", "0xFF"),
        (b"intents:\n  a: \xe9", "2:6", "0xE9"),
        ("intents:\n  größe: ".encode() + b"\xe4", "2:10", "0xE4"),
        ("# 😀\r\n# 注\xc3".encode() + b"\x80\xc0", "2:5", "0x80"),
        (b"\xef\xbb\xbfintents:\n  a: \xff", "2:6", "0xFF"),
        (b"\xef\xbb\xbf\x80", "1:1", "0x80"),
        (b"a: \xed\xa0\x80", "1:4", "0xED"),
        ("intents".encode("utf-16"), "1:1", "0xFF"),
        (b"intents:\n  a: \xc3", "2:6", "0xC3"),
    ],
)
def test_invalid_utf8_is_located_in_characters(tmp_path: Path, raw, place, byte):
    _, problems = examine(in_file(tmp_path, raw))

    assert places(problems) == [f"{place} encoding"]
    assert problems[0].message == f"byte {byte} is not UTF-8"


@pytest.mark.parametrize(
    ("text", "place", "character"),
    [
        ("\0", "1:1", "U+0000"),
        ("intents:\n  a: x\0", "2:7", "U+0000"),
        ("# größe 😀\nintents: 注文\x07", "2:12", "U+0007"),
        ("\ufeffé\x7f", "1:2", "U+007F"),
        ("# é\r\na: \x1b[31m", "2:4", "U+001B"),
        ("a: é\ufffe", "1:5", "U+FFFE"),
    ],
)
def test_forbidden_characters_are_named_and_located(tmp_path: Path, text, place, character):
    _, problems = examine(in_file(tmp_path, text))

    assert places(problems) == [f"{place} yaml-syntax"]
    assert problems[0].message == f"character {character} is not allowed in YAML"


@pytest.mark.parametrize("mark", ["", "\ufeff"])
@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_line_endings_and_byte_order_marks_do_not_matter(tmp_path: Path, mark, end):
    lines = ["intents:", "  a:", "    utterances:", "      - one", "      - two"]

    found, problems = examine(in_file(tmp_path, mark + end.join(lines) + end))

    assert problems == []
    assert [(u.text, u.location.line, u.location.column) for u in found["a"].utterances] == [
        ("one", 4, 9),
        ("two", 5, 9),
    ]


@pytest.mark.parametrize(
    "text",
    [
        "[" * 100_000,
        "{" * 100_000,
        "intents: {a: {utterances: [a], metadata: {x: " + "[" * 100_000,
        "- " * 100_000,
        "? " * 100_000,
        "a: " + "&a [" * 100_000,
        "\n".join(" " * depth + "a:" for depth in range(1500)),
        "!" * 100_000,
        "*" * 100_000,
        '"' * 100_000,
        "|\n" * 100_000,
        "%" * 100_000,
        "a: 1\n" * 20_000,
        "---\n" * 20_000,
        "'" + "\n" * 100_000,
        "#" * 100_000,
        ": " * 100_000,
        "intents: {" + ",".join(f"i{n}: {{utterances: ['?']}}" for n in range(5_000)) + "}",
    ],
    ids=lambda text: repr(text[:12]),
)
def test_deep_nesting_is_refused_quickly(tmp_path: Path, text):
    file = in_file(tmp_path, text)

    started = time.process_time()
    _, problems = examine(file)
    seconds = time.process_time() - started

    assert problems
    assert seconds < 10.0  # a bomb that goes off takes minutes; a busy machine is no bomb


LIST = "z: &z [" + "a, " * 1000 + "]\n"
DOUBLING = ["z0: &z0 [lol, lol]", *(f"z{n}: &z{n} [*z{n - 1}, *z{n - 1}]" for n in range(1, 40))]
DEEPENING = ["z0: &z0 x", *(f"z{n}: &z{n} {'[' * 25}*z{n - 1}{']' * 25}" for n in range(1, 40))]
BOMB_IN_METADATA = "\nintents: {a: {utterances: [hi], metadata: {x: *z39}}}"
ALIAS_BOMBS = {
    "doubling inside metadata": "intents: {a: {utterances: [hi], metadata: {\n" + ",\n".join(DOUBLING) + "}}}",
    "doubling under unknown keys": "\n".join(DOUBLING) + BOMB_IN_METADATA,
    "deepening under unknown keys": "\n".join(DEEPENING) + BOMB_IN_METADATA,
    "utterances": LIST + "intents: {" + ", ".join(f"i{n}: {{utterances: *z}}" for n in range(1000)) + "}",
    "intents": "z: &z {utterances: ["
    + "a, " * 1000
    + "]}\nintents: {"
    + ", ".join(f"i{n}: *z" for n in range(1000))
    + "}",
    "tests": LIST.replace("a, a", "a, b")
    + "intents: {a: {utterances: [hi]}}\ntests: ["
    + ", ".join("{text: x, intent: *z}" for _ in range(1000))
    + "]",
    "slots": LIST + "slots: {" + ", ".join(f"s{n}: {{values: *z}}" for n in range(1000)) + "}",
    "examples": LIST + "slots: {" + ", ".join(f"s{n}: {{type: any, examples: *z}}" for n in range(1000)) + "}",
    "patterns": LIST + "slots: {" + ", ".join(f"s{n}: {{pattern: *z}}" for n in range(1000)) + "}",
    "tags": LIST + "intents: {" + ", ".join(f"i{n}: {{when: *z}}" for n in range(1000)) + "}",
    "templates": "z: &z '" + "[a] " * 400 + "'\nintents: {a: {utterances: [" + "*z, " * 1500 + "]}}",
    "rules": "z: &z '" + "[a] " * 400 + "'\nrules: {" + ", ".join(f"r{n}: *z" for n in range(1500)) + "}",
    "languages": LIST + "intents: {a: {utterances: {" + ", ".join(f"en-x{n:05}: *z" for n in range(1000)) + "}}}",
}

# The anchors stand under keys that are none of a file's, or look like an intent there.
IN_A_BOMB = ("unknown-key", "wrong-indentation")


@pytest.mark.parametrize("text", ALIAS_BOMBS.values(), ids=ALIAS_BOMBS.keys())
def test_alias_bomb_is_one_problem(tmp_path: Path, text):
    file = in_file(tmp_path, text)

    started = time.process_time()
    _, problems = examine(file)
    seconds = time.process_time() - started

    assert [problem.rule for problem in problems if problem.rule not in IN_A_BOMB] == ["alias-expansion"]
    assert seconds < 10.0  # a bomb that goes off takes minutes; a busy machine is no bomb


def test_metadata_number_beyond_a_double_remains_text(tmp_path: Path):
    long = "9" * 5000
    file = in_file(
        tmp_path, f"intents: {{a: {{utterances: [hi], metadata: {{long: {long}, broken: 0.{long}, big: 1e999}}}}}}"
    )

    metadata = read_registry(file)["a"].metadata

    assert metadata == {"long": long, "broken": f"0.{long}", "big": "1e999"}
