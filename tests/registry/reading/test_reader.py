"""The reader: values and positions of valid files, all problems of invalid ones, and never anything else."""

from __future__ import annotations

import json
import os
import socket
import time
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from rule_ids import rules_in

from intentmatch import registry
from intentmatch.core.errors import RegistryError
from intentmatch.core.types import Case, Intent, Registry, Rule, Slot, Utterance
from intentmatch.registry import check, examine, is_yaml, read_registry
from intentmatch.registry.reading import nodes, reader
from intentmatch.registry.templates.syntax import escape

DATA = Path(__file__).parents[1] / "data"
VALID = sorted((DATA / "valid").glob("*.yaml"))
INVALID = sorted((DATA / "invalid").glob("*.yaml"))

# Rules that no single file of text can break; each has a test of its own here or in the tests of names.
OF_MANY_FILES = {"setting-redefined", "slot-redefined", "ambiguous-slot", "ambiguous-rule"}
TESTED_HERE = {"unreadable", "no-files", "encoding", *OF_MANY_FILES}


def as_plain(found: Registry) -> dict:
    """The registry as the JSON twins write it."""

    def place(thing: Utterance | Intent | Slot | Rule | Case) -> str:
        return f"{thing.location.line}:{thing.location.column}"

    def lines(utterances: tuple[Utterance, ...]) -> list:
        return [
            [
                u.language,
                u.text,
                place(u),
                *([u.template, *([m.slot, m.start, m.end] for m in u.marks)] * bool(u.template)),
            ]
            for u in utterances
        ]

    def slots(some: tuple[Slot, ...]) -> dict:
        return {
            slot.name: {
                "kind": slot.kind,
                "values": {value.value: lines(value.synonyms) for value in slot.values},
                "patterns": slot.patterns,
                "examples": lines(slot.examples),
                "required": slot.required,
                "questions": dict(slot.questions),
                "location": place(slot),
            }
            for slot in some
        }

    def said(**values: object) -> dict:
        return {key: value for key, value in values.items() if value}

    return {
        "settings": dict(found.settings),
        "intents": {
            intent.name: {
                "title": intent.title,
                "description": intent.description,
                "utterances": lines(intent.utterances),
                "negatives": lines(intent.negatives),
                "threshold": intent.threshold,
                "responses": dict(intent.responses),
                "metadata": dict(intent.metadata),
                "location": place(intent),
                **said(slots=slots(intent.slots), when=intent.when, titles=dict(intent.titles)),
            }
            for intent in found
        },
        **said(
            tests=[[c.text, c.expected, c.language, place(c)] for c in found.tests],
            slots=slots(found.slots),
            rules=[[rule.name, dict(rule.templates), place(rule)] for rule in found.rules],
        ),
    }


def places(problems: list) -> list[str]:
    """`LINE:COLUMN rule` of each problem, sorted."""
    return [f"{p.location.line}:{p.location.column} {p.rule}" for p in sorted(problems)]


def in_file(folder: Path, text: str | bytes, name: str = "bot.yaml") -> Path:
    file = folder / name
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(text if isinstance(text, bytes) else text.encode("utf-8", "surrogatepass"))
    return file


@pytest.mark.parametrize("file", VALID, ids=lambda file: file.stem)
def test_a_valid_file_gives_what_its_twin_says(file: Path):
    """Every value and every position of a valid file is the one in the JSON beside it."""
    expected = json.loads(file.with_suffix(".json").read_text(encoding="utf-8"))

    found, problems = examine(file)

    assert problems == []
    assert json.loads(json.dumps(as_plain(found))) == expected
    assert list(found.settings) == list(found.setting_locations)


@pytest.mark.parametrize("file", INVALID, ids=lambda file: file.stem)
def test_an_invalid_file_gives_exactly_the_expected_problems(file: Path):
    """Every departure is found at its line and column, and nothing else is."""
    first_line = file.read_text(encoding="utf-8").partition("\n")[0]
    expected = first_line.removeprefix("# expect: ").split("; ")

    _, problems = examine(file)

    assert sorted(places(problems)) == sorted(expected)


@pytest.mark.parametrize("file", INVALID, ids=lambda file: file.stem)
def test_reading_raises_exactly_when_there_is_an_error(file: Path):
    """Errors raise with every problem, warnings and notes alone raise nothing."""
    _, problems = examine(file)

    if all(problem.severity != "error" for problem in problems):
        assert len(read_registry(file)) > 0
    else:
        with pytest.raises(RegistryError) as caught:
            read_registry(file)
        assert list(caught.value.problems) == problems


def test_every_rule_has_a_case():
    """Each rule id in the source occurs in the invalid files, or is tested here by name; and no other does."""
    in_source = {rule for rule, _ in rules_in(Path(registry.__file__).parent)}
    in_data = {p.rule for file in INVALID for p in examine(file)[1]}

    assert in_source == in_data | TESTED_HERE
    assert not in_data & TESTED_HERE


@pytest.mark.parametrize(
    ("text", "line", "hint"),
    [
        ("langauge: en", "1:1: error [unknown-key] unknown key 'langauge' in a file", "did you mean `language`?"),
        (
            "xyz: x",
            "1:1: error [unknown-key] unknown key 'xyz' in a file",
            "known keys: version, language, include, settings, rules, slots, intents, tests",
        ),
        ("settings: {zzz: 1}", "1:12: error [setting] unknown setting 'zzz': known are aggregation, band,", None),
        (
            "settings: {treshold: 1}",
            "1:12: error [setting] unknown setting 'treshold': did you mean 'threshold'?",
            None,
        ),
        ("settings: {margin: 2}", "1:12: error [setting] setting 'margin' cannot be '2': it must be a number", None),
        (
            "version: 9",
            "1:10: error [version] unsupported grammar version '9'",
            "write `version: 1`, or upgrade intentmatch",
        ),
        ("language: pt_br", "1:11: error [language-code] 'pt_br' is not a language code", "write pt-BR"),
        (
            "language: x",
            "1:11: error [language-code] 'x' is not a language code",
            "use a BCP-47 code such as en, pt-BR or zh-Hant",
        ),
        (
            "intents: {}\nintents: {}",
            "2:1: error [duplicate-key] duplicate key 'intents' in a file",
            "the first one is on line 1; merge the two or rename one",
        ),
        (
            "intents: {a: {utterances: [hi], not: x}}",
            "1:38: error [wrong-type] `not` must be a list",
            "start each line with `- `",
        ),
        (
            "intents: {a: {utterances: [hi, [x]]}}",
            "1:32: error [wrong-type] an utterance must be text",
            'put the whole line in double quotes: ": ", and [ or { at its start, have a meaning in YAML',
        ),
        (
            "intents: {a: {utterances: [hi, Hi!]}}",
            "1:32: warning [duplicate-utterance] “Hi!” is already at bot.yaml:1",
            "remove one of the two",
        ),
        (
            "intents: {a: {}}",
            "1:11: error [no-utterances] intent 'a' has no utterances",
            "list example messages below `utterances:`",
        ),
    ],
)
def test_a_problem_says_where_what_and_how_to_fix_it(tmp_path: Path, monkeypatch, text, line, hint):
    """For people a problem reads path:line:column: severity [rule] message, with the way out below it."""
    monkeypatch.chdir(in_file(tmp_path, text).parent)

    _, problems = examine("bot.yaml")

    said = str(problems[0]).splitlines()
    assert said[0].startswith(f"bot.yaml:{line}")
    assert said[1:] == ([] if hint is None else [f"  hint: {hint}"])


@pytest.mark.parametrize(
    ("text", "place", "hint"),
    [
        ("\ta: 1", "1:1", "indent with spaces; YAML does not allow tabs"),
        ("# 😀 é\na:\n  - é\n\t- b", "4:1", "indent with spaces; YAML does not allow tabs"),
        ("a: @b", "1:4", "put a text that starts with this character in double quotes"),
        ("a: 'b\n\n\n", "1:4", "the quote opened here is never closed"),
        ("a: [b\nc: d", "2:2", "a bracket is never closed, or a comma is missing"),
        ("a: [b c]\nb: {c: [d, e", "2:8", "a bracket is never closed, or a comma is missing"),
        ("a: {b: c\n\n", "1:4", "a bracket is never closed, or a comma is missing"),
        ("a: [*b*]", "1:7", "put a text that starts with * or & in double quotes"),
        ("a: *b", "1:4", "put a text that starts with * in double quotes"),
        ('a: "\\q"', "1:5", "write two backslashes for one, or use single quotes"),
        ("a: 1\n b: 1", "2:3", 'put a text that contains ": " in double quotes'),
        ("a: b: c", "1:5", 'put a text that contains ": " in double quotes'),
        ("a:\n  - b\n c: 1", "3:2", "check the indentation and the quotes of this line and the one above it"),
        ('a: "b" c\n', "1:8", "check the indentation and the quotes of this line and the one above it"),
        ("a: - b", "1:4", "start the list on a line of its own"),
        ("a: 1\n---\nb: 1", "2:1", "remove the --- line"),
        ("a: \x07", "1:4", "remove the character"),
    ],
)
def test_a_syntax_error_is_shown_where_it_begins_with_the_way_out(tmp_path: Path, text, place, hint):
    """The usual slips of people who write YAML by hand are placed where they are, and each has its hint."""
    _, problems = examine(in_file(tmp_path, text))

    assert [(places([problem]), problem.hint) for problem in problems] == [([f"{place} yaml-syntax"], hint)]


def test_a_missing_path_is_a_problem(tmp_path: Path):
    """Neither file nor folder: not-found, at the path."""
    with pytest.raises(RegistryError, match=r"nowhere:1:1: error \[not-found\] there is no such file or folder"):
        read_registry(tmp_path / "nowhere")


@pytest.mark.parametrize("path", ["a\0b", "x" * 5000])
def test_a_path_that_cannot_be_is_a_problem(path):
    """What the operating system refuses as a path raises nothing else."""
    with pytest.raises(RegistryError):
        read_registry(path)


def test_a_folder_without_yaml_is_a_problem(tmp_path: Path):
    """A folder without YAML files: no-files."""
    in_file(tmp_path, "hello", "notes.txt")

    _, problems = examine(tmp_path)

    assert [(problem.location.path, problem.rule) for problem in problems] == [(str(tmp_path), "no-files")]


def test_an_unreadable_file_is_a_problem_and_the_others_are_read(tmp_path: Path):
    """A link that leads nowhere is reported at its own path, and the rest of the folder is read."""
    (tmp_path / "a.yaml").symlink_to(tmp_path / "gone.yaml")
    in_file(tmp_path, "intents: {b: {utterances: [hi]}}", "b.yaml")

    found, problems = examine(tmp_path)

    assert [(Path(problem.location.path).name, problem.rule) for problem in problems] == [("a.yaml", "unreadable")]
    assert "b" in found


def test_an_unreadable_folder_is_a_problem_and_the_others_are_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """A subfolder that may not be looked into is reported at its own path, and the rest is read."""
    (tmp_path / "closed").mkdir()
    in_file(tmp_path, "intents: {a: {utterances: [hi]}}", "a.yaml")
    scandir = os.scandir

    def guarded(path: str):
        if str(path).endswith("closed"):
            raise PermissionError(13, "Permission denied", str(path))
        return scandir(path)

    monkeypatch.setattr(os, "scandir", guarded)
    found, problems = examine(tmp_path)

    assert [str(problem).split(": ", 1) for problem in problems] == [
        [f"{tmp_path / 'closed'}:1:1", "error [unreadable] Permission denied"]
    ]
    assert "a" in found


def test_sockets_and_pipes_do_not_stop_the_reader(tmp_path: Path):
    """A pipe named like a YAML file is not waited for, and a socket is reported."""
    in_file(tmp_path, "intents: {a: {utterances: [hi]}}", "a.yaml")
    os.mkfifo(tmp_path / "b.yaml")
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(tmp_path / "c.yaml"))

        found, problems = examine(tmp_path)

    assert "a" in found
    assert [(Path(problem.location.path).name, problem.rule) for problem in problems] == [("c.yaml", "unreadable")]


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
def test_bytes_that_are_no_utf8_are_shown_where_they_stand(tmp_path: Path, raw, place, byte):
    """encoding: the line and column, in characters, of the first byte that cannot be read."""
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
def test_characters_that_yaml_forbids_are_shown_where_they_stand(tmp_path: Path, text, place, character):
    """yaml-syntax: NUL and other controls are named and placed, whatever stands before them."""
    _, problems = examine(in_file(tmp_path, text))

    assert places(problems) == [f"{place} yaml-syntax"]
    assert problems[0].message == f"character {character} is not allowed in YAML"


@pytest.mark.parametrize("mark", ["", "\ufeff"])
@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_line_ends_and_byte_order_marks_change_nothing(tmp_path: Path, mark, end):
    """Files from Windows, old Macs and Notepad read like any other, positions included."""
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
def test_a_bomb_is_refused_at_once(tmp_path: Path, text):
    """No nesting and no repetition takes the process down, or holds it up."""
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


@pytest.mark.parametrize("text", ALIAS_BOMBS.values(), ids=ALIAS_BOMBS.keys())
def test_an_alias_bomb_is_refused_at_once(tmp_path: Path, text):
    """Aliases that multiply or deepen a file without end are one problem, wherever they are used."""
    file = in_file(tmp_path, text)

    started = time.process_time()
    _, problems = examine(file)
    seconds = time.process_time() - started

    assert [problem.rule for problem in problems if problem.rule != "unknown-key"] == ["alias-expansion"]
    assert seconds < 10.0  # a bomb that goes off takes minutes; a busy machine is no bomb


def test_a_number_that_no_double_holds_stays_text(tmp_path: Path):
    """Metadata never holds infinity, nor a number too long to read."""
    long = "9" * 5000
    file = in_file(
        tmp_path, f"intents: {{a: {{utterances: [hi], metadata: {{long: {long}, broken: 0.{long}, big: 1e999}}}}}}"
    )

    metadata = read_registry(file)["a"].metadata

    assert metadata == {"long": long, "broken": f"0.{long}", "big": "1e999"}


def test_an_intent_may_be_spread_over_files(tmp_path: Path):
    """Files of one folder and its subfolders add up: utterances, languages, responses and metadata."""
    in_file(
        tmp_path,
        "language: en\nintents: {a: {title: A, utterances: [hello], response: Hi, metadata: {x: 1}}}",
        "en.yaml",
    )
    in_file(tmp_path, "language: de\nintents: {a: {utterances: [hallo], not: [tschüss], response: Hallo}}", "de/de.yml")
    in_file(
        tmp_path, "intents: {a: {utterances: {fr: [bonjour]}, threshold: 0.4, metadata: {y: 2}}}", "fr/deeper/fr.YAML"
    )

    found = read_registry(tmp_path)

    assert len(found) == 1
    assert [(u.language, u.text) for u in found["a"].utterances] == [
        ("de", "hallo"),
        ("en", "hello"),
        ("fr", "bonjour"),
    ]
    assert [u.text for u in found["a"].negatives] == ["tschüss"]
    assert dict(found["a"].responses) == {"de": "Hallo", "en": "Hi"}
    assert dict(found["a"].metadata) == {"x": 1, "y": 2}
    assert (found["a"].title, found["a"].threshold) == ("A", 0.4)
    assert found.languages == ("de", "en", "fr")


def test_a_threshold_of_zero_is_kept_when_files_are_joined(tmp_path: Path):
    """0.0 is something said, and an empty response is too."""
    in_file(tmp_path, "intents: {a: {utterances: [hi], threshold: 0.0, response: ''}}", "1.yaml")
    in_file(tmp_path, "intents: {a: {utterances: [ho]}}", "2.yaml")

    found = read_registry(tmp_path)

    assert found["a"].threshold == 0.0
    assert found["a"].response("en") == ""


def test_the_language_of_a_file_ends_with_the_file(tmp_path: Path):
    """`language:` speaks for its own file only, and only where no language is named."""
    in_file(tmp_path, "language: de\nintents: {a: {utterances: [hallo]}, b: {utterances: {en: [bye]}}}", "1.yaml")
    in_file(tmp_path, "intents: {c: {utterances: [ciao]}}", "2.yaml")

    found = read_registry(tmp_path)

    assert [u.language for name in "abc" for u in found[name].utterances] == ["de", "en", None]


def test_saying_something_twice_about_an_intent_is_a_problem(tmp_path: Path):
    """intent-redefined: each thing said twice is named, at the later place, with the earlier one in the hint."""
    in_file(tmp_path, "intents:\n  a: {title: One, threshold: 0.0, utterances: [hi], response: {en: Hi}}", "1.yaml")
    in_file(tmp_path, "intents:\n\n  a: {title: One, threshold: 0.0, response: {en: Hi, de: Hallo}}", "2.yaml")

    _, problems = examine(tmp_path)

    assert [problem.message for problem in problems] == [
        "intent 'a' declares its response en twice",
        "intent 'a' declares its threshold twice",
        "intent 'a' declares its title twice",
    ]
    assert {(Path(p.location.path).name, p.location.line, p.rule) for p in problems} == {
        ("2.yaml", 3, "intent-redefined")
    }
    assert all(
        problem.hint.startswith("the intent is also described at ") and "1.yaml:2" in problem.hint
        for problem in problems
    )


def test_a_setting_stands_in_one_file(tmp_path: Path):
    """setting-redefined: the second file to name a setting is told where the first one is."""
    in_file(tmp_path, "settings: {margin: 0.1, top_k: 3}\nintents: {a: {utterances: [hi]}}", "1.yaml")
    in_file(tmp_path, "settings: {margin: 0.1, fuzzy: 1}", "2.yaml")

    found, problems = examine(tmp_path)

    assert [(Path(p.location.path).name, p.rule) for p in problems] == [("2.yaml", "setting-redefined")]
    assert "1.yaml:1" in problems[0].hint
    assert dict(found.settings) == {"margin": "0.1", "top_k": "3", "fuzzy": "1"}
    assert {name: Path(place.path).name for name, place in found.setting_locations.items()} == {
        "margin": "1.yaml",
        "top_k": "1.yaml",
        "fuzzy": "2.yaml",
    }


def test_conflicts_are_found_across_files(tmp_path: Path):
    """An utterance in two intents is found wherever the two stand, and says where the other is."""
    in_file(tmp_path, "intents:\n  a: {utterances: [hello]}", "1.yaml")
    in_file(tmp_path, "intents:\n  b: {utterances: [Hello!]}", "2.yaml")

    _, problems = examine(tmp_path)

    assert [(Path(p.location.path).name, p.rule) for p in problems] == [("2.yaml", "conflicting-utterance")]
    assert "1.yaml:2" in problems[0].message


def test_hidden_files_and_folders_are_not_read(tmp_path: Path):
    """What begins with a dot belongs to editors and version control."""
    in_file(tmp_path, "intents: {a: {utterances: [hi]}}", "a.yaml")
    in_file(tmp_path, "[[[", ".draft.yaml")
    in_file(tmp_path, "[[[", ".git/config.yaml")
    in_file(tmp_path, "[[[", "notes.txt")

    found, problems = examine(tmp_path)

    assert problems == []
    assert len(found) == 1


def test_a_hidden_folder_that_was_asked_for_is_read(tmp_path: Path):
    """Only what lies below the path can be hidden, not the path itself."""
    in_file(tmp_path, "intents: {a: {utterances: [hi]}}", ".bots/a.yaml")

    assert "a" in read_registry(tmp_path / ".bots")


def test_a_single_file_is_read_whatever_its_suffix(tmp_path: Path):
    """A path to a file is read as YAML."""
    assert "a" in read_registry(in_file(tmp_path, "intents: {a: {utterances: [hi]}}", "intents.txt"))


@pytest.mark.parametrize(
    ("name", "expected"), [("a.yaml", True), ("a.YML", True), ("bot.intentmatch", False), ("folder.intentmatch", True)]
)
def test_is_yaml_tells_registries_from_artefacts(tmp_path: Path, name, expected):
    """Folders, YAML files and what does not exist are for the reader; any other file is not."""
    if name.startswith("folder"):
        (tmp_path / name).mkdir()
    else:
        in_file(tmp_path, "", name)

    assert is_yaml(tmp_path / name) is expected
    assert is_yaml(tmp_path / "nowhere.intentmatch")


def test_all_problems_of_a_folder_come_at_once_sorted_by_place(tmp_path: Path):
    """One run shows everything: syntax, grammar and rules of all files, by path, line and column."""
    in_file(tmp_path, "intents:\n  a: [\n", "1.yaml")
    in_file(tmp_path, "intents:\n  b: {title: x}\n  c: {utterances: [hi, '?'], threshold: 2}\nzzz: 1", "2.yaml")
    in_file(tmp_path, b"\xff", "3.yaml")
    in_file(tmp_path, "intents: {d: {utterances: [hi]}}", "4/4.yaml")

    with pytest.raises(RegistryError) as caught:
        read_registry(tmp_path)

    assert [
        f"{Path(p.location.path).name} {p.location.line}:{p.location.column} {p.rule}" for p in caught.value.problems
    ] == [
        "1.yaml 3:1 yaml-syntax",
        "2.yaml 2:3 no-utterances",
        "2.yaml 3:24 empty-utterance",
        "2.yaml 3:41 threshold",
        "2.yaml 4:1 unknown-key",
        "3.yaml 1:1 encoding",
        "4.yaml 1:28 conflicting-utterance",
    ]


def test_a_broken_file_does_not_hide_what_the_others_hold(tmp_path: Path):
    """What could be read is there beside the problems of what could not."""
    in_file(tmp_path, "intents: [", "1.yaml")
    in_file(tmp_path, "intents: {a: {utterances: [hi]}}", "2.yaml")

    found, problems = examine(tmp_path)

    assert "a" in found
    assert [problem.rule for problem in problems] == ["yaml-syntax"]


def test_a_registry_from_code_obeys_the_same_rules():
    """Rules look at values; without a place in a file they name the registry."""
    found = check(
        Registry((Intent("a", (Utterance("hi"),)), Intent("b", (Utterance("Hi!"), Utterance("?"))), Intent("c", ())))
    )

    assert [(str(problem.location), problem.rule) for problem in found] == [
        ("registry:1:1", "conflicting-utterance"),
        ("registry:1:1", "empty-utterance"),
        ("registry:1:1", "no-utterances"),
    ]


PIECES = st.lists(
    st.one_of(
        st.sampled_from(["intents:", "settings:", "language:", "version:", "utterances:", "not:", "en:", "a:", "b:"]),
        st.sampled_from(
            ["threshold:", "metadata:", "response:", "title:", "hi", "de", "1", "0.5", "1e9", "é", "注", "😀"]
        ),
        st.sampled_from([*"[]{},-?:&*!|>'\"#%@`=~", "&a", "*a", "&b", "*b", "!!int", "---", "...", "<<", "null", ": "]),
        st.sampled_from(["\n", "\n  ", "\n    ", "\n      - ", "\r\n", " ", "\t"]),
        st.sampled_from(["\0", "\x85", "\u2028", "\ufeff", "\ufffe"]),
    ),
    max_size=60,
).map("".join)


def check_only_problems(file: Path) -> None:
    found, problems = examine(file)

    assert problems == sorted(problems)
    assert all(problem.location.line >= 1 and problem.location.column >= 1 for problem in problems)
    if any(problem.severity == "error" for problem in problems):
        with pytest.raises(RegistryError):
            read_registry(file)
    else:
        assert len(found) > 0
        assert read_registry(file) == found


@given(text=st.text() | PIECES)
@example(text="ääää\0")
@example(text="intents: {a: {utterances: [hi], metadata: {x: &x {y: *x}}}}")
def test_no_text_escapes_as_anything_but_problems(tmp_path_factory, text):
    """Any text at all is either a registry or a list of problems."""
    check_only_problems(in_file(tmp_path_factory.getbasetemp(), text, "fuzz-text.yaml"))


@given(raw=st.binary() | PIECES.map(lambda text: text.encode("utf-16")))
@example(raw=b"\xef\xbb\xbf\xef\xbb\xbf")
def test_no_bytes_escape_as_anything_but_problems(tmp_path_factory, raw):
    """Any bytes at all are either a registry or a list of problems."""
    check_only_problems(in_file(tmp_path_factory.getbasetemp(), raw, "fuzz-bytes.yaml"))


@given(texts=st.lists(st.text(st.characters(codec="utf-8")), min_size=1, max_size=5))
def test_every_quoted_text_comes_back_as_it_was_written(tmp_path_factory, texts):
    """What stands in double quotes is the utterance, character by character; but for marks, that are escaped."""

    def quoted(text: str) -> str:
        return '"' + "".join(f"\\U{ord(character):08X}" for character in text) + '"'

    lines = [quoted(escape(text)) for text in texts]
    text = f"intents: {{a: {{utterances: [{', '.join(lines)}], not: [{lines[0]}], title: {quoted(texts[0])}}}}}"

    found, _ = examine(in_file(tmp_path_factory.getbasetemp(), text, "fuzz-quoted.yaml"))

    assert [u.text for u in found["a"].utterances] == texts
    assert [u.text for u in found["a"].negatives] == texts[:1]
    assert found["a"].title == texts[0]


def test_files_that_hold_what_is_remembered_are_not_taken_apart_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Only those that hold something else are, and what was wrong is told again; files that are gone are forgotten."""
    for name in ("a", "b", "c"):
        in_file(tmp_path, f"intents: {{{name}: {{utterances: [hi {name}, 'hi {name}']}}}}", f"{name}.yaml")
    remembered: reader.Remembered = {}
    first = examine(tmp_path, remembered=remembered)
    parsed: list[str] = []
    parse = nodes.parse

    def parsing(text: str, path: str) -> nodes.Node | None:
        parsed.append(Path(path).name)
        return parse(text, path)

    monkeypatch.setattr(nodes, "parse", parsing)

    assert examine(tmp_path, remembered=remembered) == first
    assert parsed == []
    in_file(tmp_path, "intents: {b: {utterances: [another]}}", "b.yaml")
    (tmp_path / "c.yaml").unlink()
    again = examine(tmp_path, remembered=remembered)
    assert parsed == ["b.yaml"]
    assert again == examine(tmp_path)
    assert {file.name for file in remembered} == {"a.yaml", "b.yaml"}


def test_a_file_that_can_no_longer_be_read_is_not_remembered(tmp_path: Path) -> None:
    """What cannot be seen is said, whatever stood there before."""
    file = in_file(tmp_path, "intents: {a: {utterances: [hi]}}", "a.yaml")
    remembered: reader.Remembered = {}
    examine(file, remembered=remembered)
    file.unlink()
    file.mkdir()

    _, problems = examine(file, remembered=remembered)

    assert [problem.rule for problem in problems] == ["no-files"]
    assert remembered == {}
