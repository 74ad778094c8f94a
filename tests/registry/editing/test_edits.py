"""Edits of a registry change the right lines of the right files, and nothing else."""

from __future__ import annotations

from pathlib import Path

import pytest

from intentmatch.core.errors import InputError
from intentmatch.registry.editing.edits import (
    AddIntent,
    AddTest,
    AddUtterance,
    Edit,
    MoveUtterance,
    RemoveIntent,
    RemoveUtterance,
    RenameIntent,
    RewordUtterance,
)
from intentmatch.registry.editing.plan import plan

BARE = "language: en\nintents:\n  a:\n    utterances:\n      - one  # 1\n      - 'two'\n  b:\n    utterances: [three]\n"
CODES = (
    "intents:\n  a:\n    utterances: {en: [one], de: [eins]}\n  b:\n    utterances: {en: [two]}\n    not: {en: [no]}\n"
)
TESTS = BARE + "tests:\n  - {text: x, intent: a}\n  - text: y\n    intent: [b, 'a']  # both\n"


def folder(tmp_path: Path, **texts: str) -> Path:
    for name, text in texts.items():
        (tmp_path / f"{name}.yaml").write_text(text, encoding="utf-8", newline="")
    return tmp_path


def edited(path: Path, *edits: Edit) -> dict[str, str]:
    """Return the new texts of the changed files by name without suffix."""
    return {change.path.stem: change.new for change in plan(path, edits).files}


@pytest.mark.parametrize(
    ("text", "edit", "old", "new"),
    [
        pytest.param(BARE, RewordUtterance("one", "uno"), "- one  # 1", "- uno  # 1", id="reworded beside its comment"),
        pytest.param(BARE, RewordUtterance("two", "it's 2"), "'two'", "'it''s 2'", id="reworded in its quotes"),
        pytest.param(CODES, RewordUtterance("eins", "1 [a]", "a", "de"), "[eins]", '["1 \\\\[a\\\\]"]', id="literal"),
        pytest.param(CODES, RewordUtterance("no", "nope", "b", None, True), "[no]", "[nope]", id="a negative reworded"),
        pytest.param(BARE, AddUtterance("a", "x"), "'two'\n", "'two'\n      - x\n", id="the language of the file"),
        pytest.param(BARE, AddUtterance("a", "x", "EN"), "'two'\n", "'two'\n      - x\n", id="the same by its code"),
        pytest.param(CODES, AddUtterance("b", "x"), "[two]", "[two, x]", id="the only language"),
        pytest.param(CODES, AddUtterance("a", "x", "de"), "[eins]", "[eins, x]", id="one of several languages"),
        pytest.param(CODES, AddUtterance("a", "x", "pt_br"), "[eins]", "[eins], pt-BR: [x]", id="a new language"),
        pytest.param(CODES, AddUtterance("b", "x", "en", negative=True), "[no]", "[no, x]", id="a negative"),
        pytest.param(
            CODES, AddUtterance("a", "x", "en", negative=True), "[eins]}\n", "[eins]}\n    not: {en: [x]}\n",
            id="the first negative",
        ),
        pytest.param(
            BARE, AddUtterance("b", "x", negative=True), "[three]\n", "[three]\n    not: [x]\n",
            id="the first negative in the language of the file",
        ),
        pytest.param(
            BARE, AddUtterance("b", "x", "de"), "utterances: [three]\n",
            "utterances:\n      en: [three]\n      de: [x]\n", id="a second language beside a bare list",
        ),
        pytest.param(
            BARE, AddUtterance("a", "x", "de"), "      - one  # 1\n      - 'two'\n",
            "      en:\n        - one  # 1\n        - 'two'\n      de:\n        - x\n",
            id="a second language below a bare list",
        ),
        pytest.param(BARE, AddUtterance("b", "a (b|c)"), "[three]", r"[three, a \(b\|c\)]", id="to the letter"),
        pytest.param(BARE, AddUtterance("b", "x [b]", template=True), "[three]", '[three, "x [b]"]', id="a template"),
        pytest.param(BARE, AddUtterance("b", "x :)"), "[three]", '[three, x :)]', id="a face is no mark"),
        pytest.param(BARE, AddIntent("c", "x"), "[three]\n", "[three]\n  c:\n    utterances:\n      - x\n", id="new"),
        pytest.param(
            CODES, AddIntent(" c ", "x", "de"), "[no]}\n", "[no]}\n  c:\n    utterances:\n      de:\n        - x\n",
            id="a new intent with a language",
        ),
        pytest.param(
            BARE, AddIntent("c", description="what: x"), "[three]\n",
            '[three]\n  c:\n    description: "what: x"\n', id="only a description",
        ),
        pytest.param("version: 1\n", AddIntent("c", "x"), "1\n", "1\nintents:\n  c:\n    utterances:\n      - x\n"),
        pytest.param("", AddIntent("c", "x"), "", "intents:\n  c:\n    utterances:\n      - x\n", id="the very first"),
        pytest.param(
            CODES, MoveUtterance("eins", "b"), ", de: [eins]}\n  b:\n    utterances: {en: [two]}",
            "}\n  b:\n    utterances: {en: [two], de: [eins]}", id="moved with its language",
        ),
        pytest.param(
            BARE, MoveUtterance("two", "b"), "      - 'two'\n  b:\n    utterances: [three]",
            "  b:\n    utterances: [three, 'two']", id="moved with its quotes",
        ),
        pytest.param(
            BARE, MoveUtterance("one", "b", "a"), "      - one  # 1\n      - 'two'\n  b:\n    utterances: [three]",
            "      - 'two'\n  b:\n    utterances:\n      - three\n      - one  # 1", id="moved with its comment",
        ),
        pytest.param(CODES, RemoveUtterance("eins"), ", de: [eins]", "", id="removed"),
        pytest.param(CODES, RemoveUtterance("No!", negative=True), "    not: {en: [no]}\n", "", id="but for signs"),
        pytest.param(BARE, RemoveIntent("b"), "  b:\n    utterances: [three]\n", "", id="an intent removed"),
        pytest.param(TESTS, RenameIntent("b", "yes"), "b", '"yes"', id="renamed"),
    ],
)  # fmt: skip
def test_edit_changes_one_line_in_the_style_of_its_neighbours(
    tmp_path: Path, text: str, edit: Edit, old: str, new: str
) -> None:
    wanted = text.replace(old, new) if old else text + new
    if isinstance(edit, RenameIntent):
        wanted = text.replace("  b:", '  "yes":').replace("[b,", '["yes",')

    assert edited(folder(tmp_path, f=text), edit) == {"f": wanted}


@pytest.mark.parametrize(("language", "lines"), [(None, ["- x"]), ("en", ["- x"]), ("de", ["de:", "  - x"])])
def test_utterance_is_added_below_an_empty_key(tmp_path: Path, language: str | None, lines: list[str]) -> None:
    text = "language: en\nintents:\n  a:\n    utterances:\n    title: A\n"

    found = edited(folder(tmp_path, f=text), AddUtterance("a", "x", language))["f"].splitlines()

    assert found == [*text.splitlines()[:4], *(f"      {line}" for line in lines), "    title: A"]


@pytest.mark.parametrize("utterances", ["one", "{de: one}", "{de: {x: y}}"])
def test_utterances_that_are_not_a_list_are_refused(tmp_path: Path, utterances: str) -> None:
    path = folder(tmp_path, f=f"language: en\nintents:\n  a: {{utterances: {utterances}}}\n")

    with pytest.raises(InputError, match=r"f\.yaml:3 cannot be edited automatically: it is not a (list|mapping)"):
        plan(path, [AddUtterance("a", "x", "de")])


def test_removing_an_intent_removes_the_comments_right_above_it(tmp_path: Path) -> None:
    """Comments after a blank line, and those above a single utterance, remain."""
    text = (
        "# top\nintents:\n  # group\n\n  # about a\n  a:\n    utterances: [one]\n"
        "  # about b\n  b:\n    utterances:\n      # rest\n      - two\n      - three\n"
    )
    path = folder(tmp_path, f=text)

    assert edited(path, RemoveIntent("a")) == {"f": text.replace("  # about a\n  a:\n    utterances: [one]\n", "")}
    assert edited(path, RemoveUtterance("two")) == {"f": text.replace("      - two\n", "")}


def test_utterance_goes_to_the_file_with_its_language(tmp_path: Path) -> None:
    """Otherwise to the file declared in that language, otherwise to the first description of the intent."""
    english = "language: en\nintents:\n  a:\n    title: A\n    utterances: [one]\n"
    german = "language: de\nintents:\n  a:\n    utterances: [eins]\n"
    spanish = "language: es\nintents:\n  a:\n    response: Hola\n"
    path = folder(tmp_path, en=english, de=german, es=spanish)

    assert edited(path, AddUtterance("a", "x", "de")) == {"de": german.replace("[eins]", "[eins, x]")}
    assert edited(path, AddUtterance("a", "x", "es")) == {"es": spanish + "    utterances:\n      - x\n"}
    assert edited(path, AddUtterance("a", "x", "en")) == {"en": english.replace("[one]", "[one, x]")}
    new = german.replace(" [eins]", "\n      de: [eins]\n      tr: [x]")
    assert edited(path, AddUtterance("a", "x", "tr")) == {"de": new}


def test_utterance_needs_a_language_if_the_intent_has_several(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="'a' has utterances in de, en: specify the language of this one"):
        plan(folder(tmp_path, f=CODES), [AddUtterance("a", "x")])

    text = f"language: de\n{CODES}"
    assert edited(folder(tmp_path, f=text), AddUtterance("a", "x")) == {"f": text.replace("[eins]", "[eins, x]")}


def test_intent_is_renamed_and_removed_in_all_files_and_tests(tmp_path: Path) -> None:
    path = folder(tmp_path, f=BARE, g=TESTS, h="tests:\n  - {text: z, intent: a}\n")

    assert edited(path, RenameIntent("a", "c")) == {
        "f": BARE.replace("  a:", "  c:"),
        "g": TESTS.replace("  a:", "  c:").replace("intent: a", "intent: c").replace("'a'", "'c'"),
        "h": "tests:\n  - {text: z, intent: c}\n",
    }
    with pytest.raises(InputError, match=r"tests expect 'a' at .*g\.yaml:10, .*g\.yaml:12, .*h\.yaml:2: change"):
        plan(path, [RemoveIntent("a")])


def test_each_edit_sees_the_result_of_the_previous_one(tmp_path: Path) -> None:
    edits = [AddIntent("c", "x", "de"), AddUtterance("c", "z"), RenameIntent("c", "d"), MoveUtterance("x", "b", "d")]

    found = edited(folder(tmp_path, f=CODES), *edits)["f"]

    assert (
        found
        == CODES.replace("{en: [two]}", "{en: [two], de: [x]}") + "  d:\n    utterances:\n      de:\n        - z\n"
    )


def test_new_intent_goes_to_the_chosen_file(tmp_path: Path) -> None:
    """The file and its folder may be new."""
    path = folder(tmp_path, f=BARE, g=CODES)
    new = tmp_path / "sub" / "new.yaml"

    assert edited(path, AddIntent("c", "x", "de", path / "." / "g.yaml"))["g"].startswith(CODES)
    changes = plan(path, [AddIntent("c", "x", "de", new), AddUtterance("c", "z")])
    assert [(change.path, change.old) for change in changes.files] == [(new, None)]
    assert changes.files[0].new == "version: 1\nintents:\n  c:\n    utterances:\n      de:\n        - x\n        - z\n"
    assert plan(tmp_path / "none", [AddIntent("c", "x", file=tmp_path / "none" / "a.yml")]).registry["c"].utterances


@pytest.mark.parametrize(
    ("edit", "message"),
    [
        (AddUtterance("c", "x"), "unknown intent 'c': known are a, b"),
        (AddUtterance("a", "One!"), r"“One!” is already at .*f\.yaml:5"),
        (AddUtterance("a", "x", "english"), "'english' is not a language code"),
        (AddUtterance("a", " ?"), "' \\?' has no words"),
        (AddUtterance("a", "\ud800x"), "a lone surrogate"),
        (AddIntent("c"), "the new intent 'c' needs an utterance or a description"),
        (AddIntent("c", description="?!"), "the description of 'c' has no words"),
        (AddIntent("a", "x"), r"the intent 'a' already exists at .*f\.yaml:3"),
        (AddIntent("out_of_scope", "x"), "'out_of_scope' is not a valid intent name"),
        (AddIntent(" ", "x"), "' ' is not a valid intent name"),
        (AddIntent("c", "x", file=Path("elsewhere.yaml")), "elsewhere.yaml is not part of the registry"),
        (MoveUtterance("one", "c"), "unknown intent 'c'"),
        (MoveUtterance("one", "b", "c"), "unknown intent 'c'"),
        (MoveUtterance("one", "a"), "“one” is already in 'a'"),
        (MoveUtterance("four", "a"), "“four” is not among the utterances$"),
        (MoveUtterance("one", "a", "b"), "“one” is not among the utterances of 'b'"),
        (RemoveUtterance("one", language="de"), "“one” is not among the utterances in de"),
        (RemoveUtterance("one", negative=True), "“one” is not among the negatives"),
        (RemoveUtterance("one", "c"), "unknown intent 'c'"),
        (RenameIntent("a", "b"), r"the intent 'b' already exists at .*f\.yaml:7"),
        (RenameIntent("c", "d"), "unknown intent 'c'"),
        (RemoveIntent("c"), "unknown intent 'c'"),
    ],
)
def test_impossible_edits_raise_input_errors(tmp_path: Path, edit: Edit, message: str) -> None:
    with pytest.raises(InputError, match=message):
        plan(folder(tmp_path, f=BARE), [edit])


def test_ambiguous_edits_name_all_places(tmp_path: Path) -> None:
    path = folder(tmp_path, f=BARE, g=CODES)
    with pytest.raises(InputError, match=r"“one” occurs more than once: .*f\.yaml:5, .*g\.yaml:3\. Specify the"):
        plan(path, [RemoveUtterance("one")])
    with pytest.raises(InputError, match=r"several files could hold the intent 'c': choose .*f\.yaml or .*g\.yaml"):
        plan(path, [AddIntent("c", "x")])
    with pytest.raises(InputError, match="the registry has no file yet: choose a new file"):
        plan(tmp_path / "none", [AddIntent("c", "x")])


@pytest.mark.parametrize("name", ["new.txt", ".hidden.yaml", ".git/new.yaml", "../new.yaml"])
def test_new_file_outside_the_registry_is_refused(tmp_path: Path, name: str) -> None:
    (tmp_path / "shop").mkdir()
    path = folder(tmp_path / "shop", f=BARE)
    with pytest.raises(InputError, match=r"is not part of the registry: choose a \.yaml file in"):
        plan(path, [AddIntent("c", "x", file=path / name)])


def test_lines_without_a_language_cannot_become_a_language_mapping(tmp_path: Path) -> None:
    path = folder(tmp_path, f=BARE.removeprefix("language: en\n"))

    assert "- x" in edited(path, AddUtterance("a", "x"))["f"]
    with pytest.raises(InputError, match="language of its lines is not declared; write `language:` at the top"):
        plan(path, [AddUtterance("a", "x", "de")])


@pytest.mark.parametrize(
    ("text", "edit", "end"),
    [
        pytest.param(BARE, AddTest("x", "a"), "[three]\ntests:\n  - {text: x, intent: a}\n", id="the first test"),
        pytest.param(
            BARE, AddTest("[x], y", None, "EN"), "tests:\n  - {text: '[x], y', intent: out_of_scope}\n",
            id="out of scope, in the language of the file",
        ),
        pytest.param(
            CODES, AddTest("x", "b", "de"), "tests:\n  - {text: x, intent: b, language: de}\n", id="another language"
        ),
        pytest.param(TESTS, AddTest("z", "a"), "# both\n  - {text: z, intent: a}\n", id="after other tests"),
        pytest.param(
            BARE + "tests: [{text: x, intent: a}]\n", AddTest("w", "b"),
            "tests: [{text: x, intent: a}, {text: w, intent: b}]\n", id="in brackets",
        ),
        pytest.param(BARE + "tests:\n", AddTest("w", "b"), "tests:\n  - {text: w, intent: b}\n", id="an empty list"),
    ],
)  # fmt: skip
def test_test_is_appended(tmp_path: Path, text: str, edit: AddTest, end: str) -> None:
    path = folder(tmp_path, bot=text)

    new = edited(path, edit)["bot"]

    assert new.replace('"', "'").endswith(end)
    assert new.startswith(text.rstrip("]\n"))


def test_tests_go_to_the_file_with_tests_or_the_chosen_one(tmp_path: Path) -> None:
    path = folder(tmp_path, a=BARE, z="tests:\n  - {text: x, intent: a}\n")

    assert edited(path, AddTest("w", "b")).keys() == {"z"}
    assert edited(path, AddTest("w", "b", file=path / "a.yaml")).keys() == {"a"}
    assert edited(path, AddTest("w", "b", file=path / "new.yaml"), AddTest("v", None, file=path / "new.yaml")) == {
        "new": "version: 1\ntests:\n  - {text: w, intent: b}\n  - {text: v, intent: out_of_scope}\n"
    }


@pytest.mark.parametrize(
    ("edit", "message"),
    [
        (AddTest("X!", "b"), "is already a test at"),
        (AddTest("z", "c"), "unknown intent 'c'"),
        (AddTest("?!", "a"), "has no words"),
        (AddTest("z", "a", "no code"), "is not a language code"),
        (AddTest("z", "a", file=Path("elsewhere.yaml")), "is not part of the registry"),
    ],
)
def test_impossible_test_is_refused(tmp_path: Path, edit: AddTest, message: str) -> None:
    with pytest.raises(InputError, match=message):
        edited(folder(tmp_path, bot=TESTS), edit)


def test_file_of_the_first_test_must_be_chosen_among_several(tmp_path: Path) -> None:
    path = folder(tmp_path, a=BARE, b="intents: {c: {utterances: [four]}}\n")

    with pytest.raises(InputError, match="several files could hold the tests"):
        edited(path, AddTest("x", "a"))
