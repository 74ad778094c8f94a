"""Edits of a registry: the right line of the right file, exactly what was asked for, and nothing besides."""

from __future__ import annotations

import tempfile
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from intentmatch.core.errors import InputError
from intentmatch.core.types import Registry, Utterance
from intentmatch.registry import examine
from intentmatch.registry.editing.document import Document
from intentmatch.registry.editing.edits import (
    AddIntent,
    AddUtterance,
    Edit,
    MoveUtterance,
    RemoveIntent,
    RemoveUtterance,
    RenameIntent,
)
from intentmatch.registry.editing.layout import Part
from intentmatch.registry.editing.plan import plan
from intentmatch.registry.templates.syntax import labelled

DATA = sorted((Path(__file__).parents[1] / "data").glob("valid/*.yaml"))
SHIPPED = sorted((Path(__file__).parents[3] / "intents").glob("*.yaml"))

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
    """The files that change, by name without suffix."""
    return {change.path.stem: change.new for change in plan(path, edits).files}


@pytest.mark.parametrize(
    ("text", "edit", "old", "new"),
    [
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
def test_the_right_line_changes(tmp_path: Path, text: str, edit: Edit, old: str, new: str) -> None:
    """As its neighbours are written, and no other."""
    wanted = text.replace(old, new) if old else text + new
    if isinstance(edit, RenameIntent):
        wanted = text.replace("  b:", '  "yes":').replace("[b,", '["yes",')

    assert edited(folder(tmp_path, f=text), edit) == {"f": wanted}


@pytest.mark.parametrize(("language", "lines"), [(None, ["- x"]), ("en", ["- x"]), ("de", ["de:", "  - x"])])
def test_a_key_without_lines_is_a_place(tmp_path: Path, language: str | None, lines: list[str]) -> None:
    """An author may have begun it."""
    text = "language: en\nintents:\n  a:\n    utterances:\n    title: A\n"

    found = edited(folder(tmp_path, f=text), AddUtterance("a", "x", language))["f"].splitlines()

    assert found == [*text.splitlines()[:4], *(f"      {line}" for line in lines), "    title: A"]


@pytest.mark.parametrize("utterances", ["one", "{de: one}", "{de: {x: y}}"])
def test_what_is_no_list_is_refused(tmp_path: Path, utterances: str) -> None:
    """It is an error already, which only its author can mend."""
    path = folder(tmp_path, f=f"language: en\nintents:\n  a: {{utterances: {utterances}}}\n")

    with pytest.raises(InputError, match=r"f\.yaml:3 cannot be edited automatically: it is not a (list|mapping)"):
        plan(path, [AddUtterance("a", "x", "de")])


def test_comments_above_an_intent_go_with_it(tmp_path: Path) -> None:
    """They are about it; what a blank line sets apart, and what stands above a single line, stays."""
    text = (
        "# top\nintents:\n  # group\n\n  # about a\n  a:\n    utterances: [one]\n"
        "  # about b\n  b:\n    utterances:\n      # rest\n      - two\n      - three\n"
    )
    path = folder(tmp_path, f=text)

    assert edited(path, RemoveIntent("a")) == {"f": text.replace("  # about a\n  a:\n    utterances: [one]\n", "")}
    assert edited(path, RemoveUtterance("two")) == {"f": text.replace("      - two\n", "")}


def test_the_file_with_the_language_is_taken(tmp_path: Path) -> None:
    """Otherwise the one that is in it, and otherwise the one where the intent is first described."""
    english = "language: en\nintents:\n  a:\n    title: A\n    utterances: [one]\n"
    german = "language: de\nintents:\n  a:\n    utterances: [eins]\n"
    spanish = "language: es\nintents:\n  a:\n    response: Hola\n"
    path = folder(tmp_path, en=english, de=german, es=spanish)

    assert edited(path, AddUtterance("a", "x", "de")) == {"de": german.replace("[eins]", "[eins, x]")}
    assert edited(path, AddUtterance("a", "x", "es")) == {"es": spanish + "    utterances:\n      - x\n"}
    assert edited(path, AddUtterance("a", "x", "en")) == {"en": english.replace("[one]", "[one, x]")}
    new = german.replace(" [eins]", "\n      de: [eins]\n      tr: [x]")
    assert edited(path, AddUtterance("a", "x", "tr")) == {"de": new}


def test_a_language_must_be_said_where_there_are_several(tmp_path: Path) -> None:
    """Unless the file says which one lines are in."""
    with pytest.raises(InputError, match="'a' has utterances in de, en: specify the language of this one"):
        plan(folder(tmp_path, f=CODES), [AddUtterance("a", "x")])

    text = f"language: de\n{CODES}"
    assert edited(folder(tmp_path, f=text), AddUtterance("a", "x")) == {"f": text.replace("[eins]", "[eins, x]")}


def test_an_intent_is_renamed_and_removed_in_every_file(tmp_path: Path) -> None:
    """Tests of other files too."""
    path = folder(tmp_path, f=BARE, g=TESTS, h="tests:\n  - {text: z, intent: a}\n")

    assert edited(path, RenameIntent("a", "c")) == {
        "f": BARE.replace("  a:", "  c:"),
        "g": TESTS.replace("  a:", "  c:").replace("intent: a", "intent: c").replace("'a'", "'c'"),
        "h": "tests:\n  - {text: z, intent: c}\n",
    }
    with pytest.raises(InputError, match=r"tests expect 'a' at .*g\.yaml:10, .*g\.yaml:12, .*h\.yaml:2: change"):
        plan(path, [RemoveIntent("a")])


def test_edits_follow_one_another(tmp_path: Path) -> None:
    """Each sees what those before it have done."""
    edits = [AddIntent("c", "x", "de"), AddUtterance("c", "z"), RenameIntent("c", "d"), MoveUtterance("x", "b", "d")]

    found = edited(folder(tmp_path, f=CODES), *edits)["f"]

    assert (
        found
        == CODES.replace("{en: [two]}", "{en: [two], de: [x]}") + "  d:\n    utterances:\n      de:\n        - z\n"
    )


def test_a_new_intent_goes_into_the_file_that_is_named(tmp_path: Path) -> None:
    """Which may be new, in a folder that is new."""
    path = folder(tmp_path, f=BARE, g=CODES)
    new = tmp_path / "sub" / "new.yaml"

    assert edited(path, AddIntent("c", "x", "de", path / "." / "g.yaml"))["g"].startswith(CODES)
    changes = plan(path, [AddIntent("c", "x", "de", new), AddUtterance("c", "z")])
    assert [(change.path, change.old) for change in changes.files] == [(new, None)]
    assert changes.files[0].new == "version: 1\nintents:\n  c:\n    utterances:\n      de:\n        - x\n        - z\n"
    assert plan(tmp_path / "none", [AddIntent("c", "x", file=tmp_path / "none" / "a.yml")]).registry["c"].utterances


@pytest.mark.parametrize(
    ("edit", "said"),
    [
        (AddUtterance("c", "x"), "unknown intent 'c': known are a, b"),
        (AddUtterance("a", "One!"), r"“One!” is already at .*f\.yaml:5"),
        (AddUtterance("a", "x", "english"), "'english' is not a language code"),
        (AddUtterance("a", " ?"), "' \\?' has no words"),
        (AddUtterance("a", "\ud800x"), "a lone surrogate"),
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
def test_what_cannot_be_done_is_said(tmp_path: Path, edit: Edit, said: str) -> None:
    """With the place, where there is one."""
    with pytest.raises(InputError, match=said):
        plan(folder(tmp_path, f=BARE), [edit])


def test_what_could_be_meant_in_two_ways_is_said(tmp_path: Path) -> None:
    """With both places."""
    path = folder(tmp_path, f=BARE, g=CODES)
    with pytest.raises(InputError, match=r"“one” occurs more than once: .*f\.yaml:5, .*g\.yaml:3\. Specify the"):
        plan(path, [RemoveUtterance("one")])
    with pytest.raises(InputError, match=r"several files could hold the intent 'c': choose .*f\.yaml or .*g\.yaml"):
        plan(path, [AddIntent("c", "x")])
    with pytest.raises(InputError, match="the registry has no file yet: choose a new file"):
        plan(tmp_path / "none", [AddIntent("c", "x")])


@pytest.mark.parametrize("name", ["new.txt", ".hidden.yaml", ".git/new.yaml", "../new.yaml"])
def test_a_file_that_would_not_be_read_is_not_made(tmp_path: Path, name: str) -> None:
    """Whatever the reason."""
    (tmp_path / "shop").mkdir()
    path = folder(tmp_path / "shop", f=BARE)
    with pytest.raises(InputError, match=r"is not part of the registry: choose a \.yaml file in"):
        plan(path, [AddIntent("c", "x", file=path / name)])


def test_lines_in_no_language_are_not_mixed_with_others(tmp_path: Path) -> None:
    """A mapping would have to name theirs."""
    path = folder(tmp_path, f=BARE.removeprefix("language: en\n"))

    assert "- x" in edited(path, AddUtterance("a", "x"))["f"]
    with pytest.raises(InputError, match="language of its lines is not declared; write `language:` at the top"):
        plan(path, [AddUtterance("a", "x", "de")])


# What is said, for the law: an edit changes just that.

Said = dict[str, Any]


def said(registry: Registry) -> Said:
    """Everything but places, and lines as their author wrote them."""
    found: Said = {"lines": Counter(), "intents": {}, "rest": (dict(registry.settings), len(registry.slots))}
    for intent in registry:
        for kind, lines in (("utterances", intent.utterances), ("not", intent.negatives)):
            found["lines"].update((kind, intent.name, line.template or line.text, line.language) for line in lines)
        found["intents"][intent.name] = (
            intent.title, intent.description, intent.threshold, dict(intent.responses), dict(intent.metadata),
            [slot.name for slot in intent.slots], intent.when,
        )  # fmt: skip
    found["tests"] = [(case.text, case.expected, case.language) for case in registry.tests]
    return found


def renamed(found: Said, old: str, new: str) -> Said:
    def name(one: Any) -> Any:
        return tuple(map(name, one)) if isinstance(one, tuple) else new if one == old else one

    return {
        "lines": Counter({(k, name(i), t, c): n for (k, i, t, c), n in found["lines"].items()}),
        "intents": {name(intent): rest for intent, rest in found["intents"].items()},
        "tests": [(text, name(expected), language) for text, expected, language in found["tests"]],
        "rest": found["rest"],
    }


def meant(found: Said, edit: Edit, language: str | None) -> Said:
    """What is said after an edit, worked out on the values; a line without a language may be given one."""
    lines, intents = Counter(found["lines"]), dict(found["intents"])
    if isinstance(edit, RenameIntent):
        return renamed(found, edit.old, edit.new)
    if isinstance(edit, AddUtterance):
        lines["not" if edit.negative else "utterances", edit.intent, labelled(edit.text), language] += 1
    elif isinstance(edit, AddIntent):
        lines["utterances", edit.name, labelled(edit.text), language] += 1
        intents[edit.name] = (None, None, None, {}, {}, [], ())
    elif isinstance(edit, RemoveUtterance):
        lines["not" if edit.negative else "utterances", edit.intent, edit.text, edit.language] -= 1
    elif isinstance(edit, MoveUtterance):
        kind = "not" if edit.negative else "utterances"
        lines[kind, edit.source, edit.text, edit.language] -= 1
        lines[kind, edit.to, edit.text, language] += 1
    elif isinstance(edit, RemoveIntent):
        del intents[edit.name]
        lines = Counter({line: count for line, count in lines.items() if line[1] != edit.name})
    return {**found, "lines": +lines, "intents": intents}


TEXTS = ["something else", "no: that", "[a] {b} (c)", 'it\'s "it"', "# x", "12:34", "- ö 👍", "a, b"]


def some_edit(registry: Registry, draw: Any) -> Edit:
    """Any edit of a registry, of those that say everything."""
    intent = draw(st.sampled_from(registry.intents))
    other = draw(st.sampled_from(registry.intents))
    own: list[tuple[Utterance, bool]] = [(line, False) for line in intent.utterances]
    own += [(line, True) for line in intent.negatives]
    line, negative = draw(st.sampled_from(own))
    authored = line.template or line.text
    text = draw(st.sampled_from(TEXTS))
    language = draw(st.sampled_from([line.language, line.language, "de", "sw"]))
    return draw(
        st.sampled_from(
            [
                AddUtterance(intent.name, text, language, draw(st.booleans())),
                AddIntent("brand new", text, language),
                RemoveUtterance(authored, intent.name, line.language, negative),
                MoveUtterance(authored, other.name, intent.name, line.language, negative),
                RemoveIntent(intent.name),
                RenameIntent(intent.name, draw(st.sampled_from(["other", "true", "a: b", "x y"]))),
            ]
        )
    )


@settings(max_examples=300)
@given(st.data(), st.sampled_from([*DATA, *SHIPPED]), st.sampled_from(["\n", "\r\n"]), st.booleans())
def test_an_edit_changes_what_it_says_and_nothing_else(data: Any, file: Path, ending: str, last: bool) -> None:
    """The registry is the old one with that edit; every line that stays is the same, in the same order."""
    text = file.read_text(encoding="utf-8").replace("\n", ending)
    text = text if last else text.rstrip("\r\n")
    with tempfile.TemporaryDirectory() as name:
        copy = Path(name) / "f.yaml"
        copy.write_bytes(text.encode("utf-8"))
        before, _ = examine(copy, expand=False)
        edit = some_edit(before, data.draw)
        try:
            changes = plan(copy, [edit])
        except InputError:
            # Anchors, a moved line that is there already, a name that is not: all of it among the data files alone.
            assert file in DATA or isinstance(edit, MoveUtterance)
            return
        (change,) = changes.files
        change.path.write_bytes(change.new.encode("utf-8"))
        after, found = examine(copy, expand=False)
        new = said(after)["lines"] - said(before)["lines"]
        language = getattr(edit, "language", None) or next((line[3] for line in new), None)
        assert said(after) == meant(said(before), edit, language)
        if not any(problem.severity == "error" for problem in found):
            assert not changes.errors
        assert not set(change.new.replace(ending, "")) & set("\r\n")
        untouched(text, change.new, edit)


def may_change(document: Document, edit: Edit) -> set[int]:
    """The lines that an edit is about, from 0."""
    intents = document.root.get("intents")
    if isinstance(edit, RenameIntent):
        return {number for number, line in enumerate(document.body.splitlines()) if edit.old.strip() in line}
    if isinstance(edit, AddIntent):
        return lines_of(document, intents, intents) if intents.style else set()
    found: set[int] = set()
    names = {getattr(edit, name, None) for name in ("intent", "source", "to", "name")}
    for name, value in intents.entries:
        if name.text.strip() in names and isinstance(edit, RemoveIntent):
            found |= lines_of(document, name, value)
        for key, lines in value.entries if name.text.strip() in names else ():
            found |= lines_of(document, key, lines) if key.text in ("utterances", "not") else set()
    return found


def lines_of(document: Document, first: Part, last: Part) -> set[int]:
    start, end = document.body.count("\n", 0, first.start), document.body.count("\n", 0, last.end)
    while start and document.body.splitlines()[start - 1].lstrip().startswith("#"):
        start -= 1
    return set(range(start, end + 1))


def untouched(old: str, new: str, edit: Edit) -> None:
    """All other lines are still there, in the same order."""
    allowed = may_change(Document("", old), edit)
    was, now = (text.replace("\r\n", "\n").split("\n") for text in (old, new))
    rest = iter(now)
    for number, line in enumerate(was):
        assert number in allowed or line in rest, line
    assert len(now) - len(was) <= 6
