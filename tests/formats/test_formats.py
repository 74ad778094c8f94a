"""Tests for recognising formats, reporting unread files, and writing files."""

from __future__ import annotations

import re
import sys
import zipfile
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import pytest
from contracts.format import FEATURES, bare, put_files

from intentmatch import formats
from intentmatch.core.errors import InputError, MissingExtraError, UnknownNameError
from intentmatch.core.types import Intent, Registry, Rule, Slot, SlotValue, Utterance
from intentmatch.formats.kit import losses
from intentmatch.registry.templates.expansion import expand

CSV = "text,intent\nhello,greet\n"
PATTERNS = '{"intents": [{"tag": "leave", "patterns": ["bye"]}]}'
REGISTRY = Registry((Intent("greet", (Utterance("hello"),)),))


def test_format_is_recognised_by_content(tmp_path: Path) -> None:
    put_files(tmp_path, {"a.txt": CSV, "b.dat": PATTERNS, "c": '{"text": "hello", "intent": "greet"}\n'})

    assert [formats.read(file).format for file in sorted(tmp_path.iterdir())] == ["csv", "patterns", "jsonl"]


def test_ambiguous_format_raises_and_names_candidates(tmp_path: Path) -> None:
    put_files(tmp_path, {"a.csv": CSV, "b.json": PATTERNS})

    with pytest.raises(InputError, match=r"could be csv or patterns\. Name one with --format"):
        formats.read(tmp_path)
    assert [intent.name for intent in formats.read(tmp_path, "csv").registry] == ["greet"]
    assert [intent.name for intent in formats.read(tmp_path, "patterns").registry] == ["leave"]


@pytest.mark.parametrize(
    ("files", "expected"),
    [
        ({}, r"unknown format\. It contains no files\."),
        ({"a.txt": "hello"}, r"unknown format\. Files found: a\.txt\. Known formats: .*rasa"),
        ({"a.json": '{"foo": 1, "bar": 2}'}, r"a\.json has the keys foo, bar\."),
        ({"a.json": '{"foo": }'}, r"a\.json:1:9: error \[json-syntax\]"),
        ({"a.yml": "nlu: ["}, r"a\.yml:2:1: error \[yaml-syntax\]"),
        ({"intents.yaml": "intents:\n  a:\n    utterances: [x]\n"}, "looks like intentmatch YAML and needs no import"),
    ],
)
def test_unknown_format_error_describes_the_files(tmp_path: Path, files: dict[str, str], expected: str) -> None:
    with pytest.raises(InputError, match=expected):
        formats.read(put_files(tmp_path, files))


def test_named_format_reports_what_is_missing(tmp_path: Path) -> None:
    put_files(tmp_path, {"a.csv": "one,two\nx,y\n"})

    (problem,) = formats.read(tmp_path / "a.csv", "csv").problems
    assert problem.rule == "no-column"
    assert "one, two" in problem.message


def test_unknown_read_only_and_write_only_formats_raise(tmp_path: Path) -> None:
    with pytest.raises(UnknownNameError, match=r"unknown format 'raza': known are .*Did you mean 'rasa'"):
        formats.read(put_files(tmp_path, {"a.csv": CSV}), "raza")
    with pytest.raises(InputError, match="intentmatch cannot be read, only written"):
        formats.read(tmp_path, "intentmatch")
    with pytest.raises(
        InputError, match=r"json cannot be written, only read. Formats that can be written: intentmatch, rasa"
    ):
        formats.write(REGISTRY, "json", tmp_path / "x")


def test_unread_files_are_reported(tmp_path: Path) -> None:
    """Together in one note; broken files are reported separately."""
    put_files(tmp_path, {"a.csv": CSV, "README.md": "# Bot", "LICENSE": "free", "b.json": "{"})
    problems = {problem.rule: problem for problem in formats.read(tmp_path).problems}

    assert set(problems) == {"unread-file", "json-syntax"}
    assert problems["unread-file"].severity == "info"
    assert "LICENSE, README.md, b.json" in problems["unread-file"].message
    assert problems["json-syntax"].location.path == str(tmp_path / "b.json")


def test_links_out_of_the_folder_are_reported_and_not_followed(tmp_path: Path) -> None:
    folder = put_files(tmp_path / "bot", {"a.csv": CSV})
    (folder / "b.csv").symlink_to(put_files(tmp_path, {"b.csv": "text,intent\nsecret,b\n"}) / "b.csv")
    found = formats.read(folder)

    assert [intent.name for intent in found.registry] == ["greet"]
    assert "symbolic links that point outside of the folder are not followed: b.csv" in found.problems[0].message


def test_missing_extra_names_the_pip_command(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    formats.write(REGISTRY, "xlsx", tmp_path / "a.xlsx")
    monkeypatch.setitem(sys.modules, "openpyxl", None)

    for call in (lambda: formats.read(tmp_path), lambda: formats.write(REGISTRY, "xlsx", tmp_path / "b.xlsx")):
        with pytest.raises(MissingExtraError, match=r'pip install "intentmatch\[spreadsheets\]"'):
            call()


def test_single_file_is_written_to_path_or_into_folder(tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    formats.write(REGISTRY, "csv", tmp_path / "new" / "a.csv")
    formats.write(REGISTRY, "csv", tmp_path / "folder")

    assert (tmp_path / "new" / "a.csv").read_text() == CSV.replace("intent", "intent,language").replace(
        "greet", "greet,"
    )
    assert [file.name for file in (tmp_path / "folder").iterdir()] == ["intents.csv"]


def test_several_files_are_written_as_folder_or_zip(tmp_path: Path) -> None:
    formats.write(REGISTRY, "rasa", tmp_path / "bot")
    formats.write(REGISTRY, "rasa", tmp_path / "bot.zip")

    assert sorted(zipfile.ZipFile(tmp_path / "bot.zip").namelist()) == ["data/nlu.yml", "domain.yml"]
    assert (
        bare(formats.read(tmp_path / "bot").registry) == bare(formats.read(tmp_path / "bot.zip").registry) == REGISTRY
    )


def test_existing_files_are_kept_without_force(tmp_path: Path) -> None:
    put_files(tmp_path, {"a.csv": "mine", "bot/notes.txt": "mine"})

    for format_, path in (("csv", tmp_path / "a.csv"), ("rasa", tmp_path / "bot")):
        with pytest.raises(InputError, match="already exists"):
            formats.write(REGISTRY, format_, path)
        formats.write(REGISTRY, format_, path, force=True)
    assert (tmp_path / "a.csv").read_text() != "mine"
    assert (tmp_path / "bot" / "notes.txt").read_text() == "mine"


@pytest.mark.parametrize("name", ["../evil.txt", "/etc/evil.txt", "a/../../evil.txt", "nul\0.txt"])
def test_put_refuses_paths_outside_of_the_folder(tmp_path: Path, name: str) -> None:
    with pytest.raises(InputError, match=r"is not a valid file name|cannot be written"):
        formats.put({"fine.txt": "x", name: "x"}, tmp_path / "bot")
    assert not (tmp_path / "evil.txt").exists()


@pytest.mark.parametrize("form", [name for name, found in formats.formats().items() if found.write])
@pytest.mark.parametrize("name", ["../../evil", "/evil", "..", "a/b", "con\0", "x" * 300, "C:\\evil", "\ud800"])
def test_no_intent_name_escapes_the_output_folder(tmp_path: Path, form: str, name: str) -> None:
    lines = (Utterance("hello", "en"), Utterance("\ud800 there", "en"))
    with suppress(InputError):
        formats.write(Registry((Intent(name, lines), *REGISTRY.intents)), form, tmp_path / "a" / "b")
    assert {file.relative_to(tmp_path).parts[:2] for file in tmp_path.rglob("*") if file.is_file()} <= {("a", "b")}


def test_invalid_language_code_raises(tmp_path: Path) -> None:
    put_files(tmp_path, {"a.csv": CSV})

    assert formats.read(tmp_path, language="PT_br").registry.languages == ("pt-BR",)
    with pytest.raises(InputError, match="'klingonese' is not a language code"):
        formats.read(tmp_path, language="klingonese")


def test_unwritable_path_raises(tmp_path: Path) -> None:
    put_files(tmp_path, {"file": ""})

    with pytest.raises(InputError, match=r"file/x/a\.csv cannot be written"):
        formats.write(REGISTRY, "csv", tmp_path / "file" / "x" / "a.csv")


@pytest.mark.parametrize("feature", FEATURES)
def test_unsupported_feature_is_removed_and_reported(feature: str) -> None:
    registry = FEATURES[feature]
    kept, problems = losses.without_unsupported(registry, set())

    assert kept != registry
    assert problems
    assert all(problem.rule == "not-expressed" for problem in problems)
    assert losses.without_unsupported(registry, set(FEATURES)) == (registry, [])


def test_rules_are_replaced_by_their_text_for_formats_without_rules() -> None:
    rules = (Rule("polite", {"": "please|<very>"}), Rule("very", {"en": "pretty please", "": "would you"}))
    lines = tuple(Utterance(text, code, None, text) for text, code in (("go [<polite>]", "en"), ("<very> go", "de")))
    registry = Registry((Intent("go", lines),), rules=rules)
    kept, problems = losses.without_unsupported(registry, {"templates", "blanks", "languages"})

    assert [line.text for line in kept["go"].utterances] == ["go [(please|pretty please)]", "would you go"]
    assert [line.text for line in expand(kept)[0].utterances] == [line.text for line in expand(registry)[0].utterances]
    assert [problem.message for problem in problems] == ["rules are replaced by their text"]


def test_exponentially_growing_rules_are_refused() -> None:
    rules = tuple(Rule(f"r{n}", {"": f"<r{n - 1}> or <r{n - 1}>" if n else "x"}) for n in range(20))
    registry = Registry((Intent("a", (Utterance("<r19>", None, None, "<r19>"),)),), rules=rules)

    with pytest.raises(InputError, match="expands to more than 10,000 characters"):
        losses.without_unsupported(registry, {"templates", "blanks"})


def test_conflicting_slot_definitions_are_reported() -> None:
    slots = [Slot("city", "list", (SlotValue(value),)) for value in ("Rome", "Oslo")]
    intents = [replace(REGISTRY.intents[0], name=slot.values[0].value, slots=(slot,)) for slot in slots]
    _, problems = losses.without_unsupported(Registry(tuple(intents)), {"lists"})

    assert [problem.message for problem in problems] == [
        "this format cannot express a definition of the slot 'city' for 'Oslo' alone"
    ]


GUIDE = (Path(__file__).parents[2] / "intentmatch" / "guide" / "import-export.md").read_text(encoding="utf-8")


def rows(header: str) -> list[list[str]]:
    """The cells of a table of the guide."""
    table = GUIDE.split(f"{header}\n|---|", 1)[1].split("\n", 1)[1].split("\n\n")[0]
    return [[cell.strip() for cell in row.strip("|").split("|")] for row in table.splitlines()]


def test_guide_lists_every_format_with_its_directions() -> None:
    """Each by name, and the written ones of a row where those are not all."""
    listed: dict[str, tuple[bool, bool]] = {}
    for names, _, read, written in rows("| format | what it is | read | written |"):
        for name in (known := re.findall(r"`([\w-]+)`", names)):
            some = re.findall(r"`([\w-]+)`", written)
            assert set(some) <= set(known)
            listed[name] = (read == "yes", name in some if some else written == "yes")

    assert listed == {name: (f.read is not None, f.write is not None) for name, f in formats.formats().items()}


def test_guide_names_what_each_written_format_carries() -> None:
    """By the names that the code has for it."""
    listed = {
        name: set(re.findall(r"`(\w+)`", carries))
        for names, carries in rows("| format | carries |")
        for name in re.findall(r"`([\w-]+)`", names)
    }

    written = {name: set(f.says) for name, f in formats.formats().items() if f.write is not None}
    del written["intentmatch"]
    assert listed == written


@pytest.mark.parametrize(
    ("form", "path", "needed"),
    [
        ("padatious", "bot.intent", "greet.intent"),
        ("padatious", "bot.txt", "greet.intent"),
        ("botpress", "bot.json", "intents/greet.json"),
        ("hassil", "bot.yaml", "en.yaml, de.yaml"),
        ("rasa", "bot.YML", "data/nlu.yml, domain.yml"),
        ("rasa", "mine", "data/nlu.yml, domain.yml"),
    ],
)
def test_export_to_one_file_is_refused_if_the_format_needs_a_folder(
    tmp_path: Path, form: str, path: str, needed: str
) -> None:
    """Whether the file exists or not, and with `force` too. Padatious and Botpress name intents by their files."""
    put_files(tmp_path, {"mine": "mine"})
    lines = (Utterance("hello", "en"), Utterance("hallo", "de")) if form == "hassil" else REGISTRY.utterances
    registry = Registry((Intent("greet", lines),))

    with pytest.raises(InputError, match=f"{path} is one file, but {form} needs a folder for {needed}; name a folder"):
        formats.write(registry, form, tmp_path / path, force=True)
    assert [file.name for file in tmp_path.iterdir()] == ["mine"]
    assert (tmp_path / "mine").read_text() == "mine"


@pytest.mark.parametrize(("form", "file"), [("padatious", "greet.intent"), ("botpress", "intents/greet.json")])
def test_single_file_with_a_name_that_matters_is_written_to_a_folder(tmp_path: Path, form: str, file: str) -> None:
    """A dot in the name of a folder is no suffix of a file."""
    formats.write(REGISTRY, form, tmp_path / "bot.v2")
    formats.write(REGISTRY, form, tmp_path / "bot.zip")

    assert (tmp_path / "bot.v2" / file).is_file()
    assert zipfile.ZipFile(tmp_path / "bot.zip").namelist() == [file]


def test_single_file_of_hassil_is_enough_for_one_language(tmp_path: Path) -> None:
    formats.write(REGISTRY, "hassil", tmp_path / "bot.yaml")

    assert formats.read(tmp_path / "bot.yaml").format == "hassil"
