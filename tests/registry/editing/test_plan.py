"""Plans: what edits would change is worked out on what was read, examined, and written only if that is still so."""

from __future__ import annotations

import subprocess
import sys
import tempfile
import threading
from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from intentmatch.core.errors import ChangedMeanwhileError, InputError, RegistryError
from intentmatch.registry import read_registry
from intentmatch.registry.editing.edits import (
    AddIntent,
    AddUtterance,
    Edit,
    MoveUtterance,
    RemoveIntent,
    RemoveUtterance,
    RenameIntent,
)
from intentmatch.registry.editing.formatting import Format
from intentmatch.registry.editing.plan import Changes, plan, plan_utterances, unified

DATA = Path(__file__).parents[1] / "data"
TEXT = "language: en\nintents:\n  a:\n    utterances: [one, other]\n  b:\n    utterances: [two]\n"
MORE = "intents:\n  c:\n    utterances: {en: [three]}\n"


@pytest.fixture
def shop(tmp_path: Path) -> Path:
    folder = tmp_path / "shop"
    folder.mkdir()
    (folder / "f.yaml").write_text(TEXT, encoding="utf-8")
    (folder / "g.yaml").write_text(MORE, encoding="utf-8")
    return folder


def content(folder: Path) -> dict[str, str]:
    return {file.name: file.read_text(encoding="utf-8") for file in folder.iterdir()}


def test_nothing_is_written_before_it_is_asked_for(shop: Path) -> None:
    """A plan holds all there is to show: texts, diff, the registry, its problems."""
    before = content(shop)

    changes = plan(shop, [AddUtterance("a", "x"), AddUtterance("c", "y")])

    assert content(shop) == before
    assert [change.path.name for change in changes.files] == ["f.yaml", "g.yaml"]
    assert [change.old for change in changes.files] == [TEXT, MORE]
    assert [line.text for line in changes.registry["a"].utterances] == ["one", "other", "x"]
    assert (changes.problems, changes.brought) == ((), ())
    assert changes.diff.splitlines() == [
        f"--- {shop}/f.yaml",
        f"+++ {shop}/f.yaml",
        "@@ -1,6 +1,6 @@",
        " language: en",
        " intents:",
        "   a:",
        "-    utterances: [one, other]",
        "+    utterances: [one, other, x]",
        "   b:",
        "     utterances: [two]",
        f"--- {shop}/g.yaml",
        f"+++ {shop}/g.yaml",
        "@@ -1,3 +1,3 @@",
        " intents:",
        "   c:",
        "-    utterances: {en: [three]}",
        '+    utterances: {en: [three, "y"]}',
    ]


def test_what_is_written_is_what_was_planned(shop: Path) -> None:
    """All files, new ones too, and nothing beside them."""
    changes = plan(shop, [MoveUtterance("one", "c"), AddIntent("d", "x", "en", shop / "h.yaml")])
    changes.write()

    assert content(shop) == {change.path.name: change.new for change in changes.files}
    assert read_registry(shop).fingerprint == changes.registry.fingerprint
    assert "/dev/null" in changes.diff


def test_edits_that_change_nothing_write_nothing(shop: Path) -> None:
    """There is nothing to be in the way of, either."""
    changes = plan(shop, [])
    (shop / "f.yaml").unlink()

    changes.write()

    assert changes.files == ()
    assert changes.diff == ""


def test_new_errors_are_not_written(shop: Path) -> None:
    """Their places are those in the files as they would be."""
    before = content(shop)
    changes = plan(shop, [AddUtterance("c", "One"), AddUtterance("c", "three four")])

    assert [f"{p.location.line} {p.rule}" for p in changes.errors] == ["3 conflicting-utterance"]
    with pytest.raises(RegistryError, match="“One” already belongs to 'a'"):
        changes.write()
    assert content(shop) == before


def test_errors_that_were_there_are_not_in_the_way(shop: Path) -> None:
    """An edit may be what mends them, and need not mend all of them."""
    file = shop / "f.yaml"
    file.write_text(f"{TEXT}    utterance: [typo]\n  e:\n    utterances: [one]\n", encoding="utf-8")

    renamed = plan(shop, [RenameIntent("a", "z")])
    mended = plan(shop, [RemoveUtterance("one", "a")])

    assert [problem.rule for problem in renamed.problems] == ["unknown-key", "conflicting-utterance"]
    assert renamed.errors == ()
    assert [problem.rule for problem in mended.problems] == ["unknown-key"]
    mended.write()


def test_warnings_are_told_and_written(shop: Path) -> None:
    """They are the author's to judge."""
    changes = plan(shop, [AddUtterance("a", "a [b", template=True)])

    assert [problem.rule for problem in changes.brought] == ["unbalanced-template"]
    changes.write()
    assert "a [b" in (shop / "f.yaml").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("raw", "rule"),
    [
        (b"intents: [", "yaml-syntax"),
        (b"\xff", "encoding"),
        ((DATA / "invalid" / "alias-bomb.yaml").read_bytes(), "alias-expansion"),
    ],
)
def test_what_cannot_be_read_is_not_edited(shop: Path, raw: bytes, rule: str) -> None:
    """Nor are the other files: what the intents are is not known."""
    (shop / "h.yaml").write_bytes(raw)

    with pytest.raises(RegistryError, match=rf"h\.yaml.*{rule}"):
        plan(shop, [AddUtterance("a", "x")])


EDITS = [
    AddUtterance("a", "x"), AddUtterance("a", "x", "de", negative=True), AddIntent("new", "x", "de"),
    MoveUtterance("one", "b"), RemoveUtterance("one"), RemoveIntent("a"), RenameIntent("a", "c"), Format(),
]  # fmt: skip


@pytest.mark.parametrize("file", sorted(DATA.glob("*/*.yaml")), ids=lambda file: file.stem)
@pytest.mark.parametrize("edit", EDITS, ids=lambda edit: type(edit).__name__)
def test_whatever_is_there_is_edited_or_refused(file: Path, edit: Edit) -> None:
    """Nothing but our own errors ever comes out."""
    with suppress(InputError):
        plan(file, [edit])


@given(
    st.text("intents: abone-\n  []{}#&*'\"|>?!%@,\r\t", max_size=60),
    st.sampled_from(
        ["", "intents:\n  a:\n    utterances: ", "intents:\n  a: {utterances: [one, ", "intents:\n- a:\n  "]
    ),
    st.sampled_from(EDITS),
)
def test_any_text_at_all_is_edited_or_refused(text: str, before: str, edit: Edit) -> None:
    """However broken, or oddly written."""
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "f.yaml").write_bytes((before + text).encode())
        with suppress(InputError):
            plan(folder, [edit])


def test_a_built_registry_is_not_edited(tmp_path: Path) -> None:
    """What it was built from is."""
    built = tmp_path / "shop.intentmatch"
    built.write_bytes(b"\xff")

    with pytest.raises(InputError, match="is not YAML: edit the folder that it was built from"):
        plan(built, [AddUtterance("a", "x")])


def test_a_file_that_was_changed_meanwhile_is_not_overwritten(shop: Path) -> None:
    """Whoever did it, and however long it took; the message says which file."""
    changes = plan(shop, [AddUtterance("a", "x")])
    script = "import pathlib, sys; file = pathlib.Path(sys.argv[1]); file.write_text(file.read_text() + '# mine')"
    subprocess.run([sys.executable, "-c", script, str(shop / "f.yaml")], check=True)
    before = content(shop)

    with pytest.raises(ChangedMeanwhileError, match=r"f\.yaml was changed by someone else .* nothing was written"):
        changes.write()
    assert content(shop) == before


@pytest.mark.parametrize("name", ["g.yaml", "new.yaml"])
def test_other_files_count_too(shop: Path, name: str) -> None:
    """What was examined was the registry as a whole."""
    changes = plan(shop, [AddUtterance("a", "x")])
    (shop / name).write_text("intents: {d: {utterances: [x]}}", encoding="utf-8")
    before = content(shop)

    with pytest.raises(ChangedMeanwhileError, match=name):
        changes.write()
    assert content(shop) == before


def test_a_file_that_is_gone_is_not_written_anew(shop: Path) -> None:
    """Somebody may have moved it."""
    changes = plan(shop, [AddUtterance("a", "x")])
    (shop / "f.yaml").unlink()

    with pytest.raises(ChangedMeanwhileError, match=r"f\.yaml"):
        changes.write()
    assert list(content(shop)) == ["g.yaml"]


def test_a_new_file_that_is_there_already_is_not_overwritten(shop: Path) -> None:
    """Even where the reader would not read it."""
    changes = plan(shop, [AddIntent("d", "x", "en", shop / "h.yaml")])
    (shop / "h.yaml").write_text("", encoding="utf-8")

    with pytest.raises(ChangedMeanwhileError, match=r"h\.yaml"):
        changes.write()
    assert (shop / "h.yaml").read_text(encoding="utf-8") == ""


def test_saving_without_a_change_is_none(shop: Path) -> None:
    """What counts is what a file holds, not when it was written."""
    changes = plan(shop, [AddUtterance("a", "x")])
    (shop / "f.yaml").write_text(TEXT, encoding="utf-8")

    changes.write()

    assert "other, x]" in (shop / "f.yaml").read_text(encoding="utf-8")


def test_someone_who_is_about_to_write_another_file_is_in_the_way(shop: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each has examined what the other is about to change."""
    mine, theirs = plan(shop, [AddUtterance("a", "x")]), plan(shop, [AddUtterance("c", "x")])
    refused = []
    check = Changes._unchanged

    def both_at_the_last_moment(self: Changes) -> None:
        if self is mine:
            with pytest.raises(ChangedMeanwhileError) as caught:
                theirs.write()
            refused.append(str(caught.value))
        check(self)

    monkeypatch.setattr(Changes, "_unchanged", both_at_the_last_moment)
    mine.write()

    assert "f.yaml" in refused[0]
    assert content(shop)["g.yaml"] == MORE


def test_of_many_who_add_at_once_none_loses_a_line(shop: Path) -> None:
    """Who is refused tries again; in the end every line is there."""
    added = [f"line {'xyz'[worker]} {number}" for worker in range(3) for number in range(4)]

    def work(worker: int) -> None:
        for line in added[worker * 4 : worker * 4 + 4]:
            while True:
                try:
                    plan(shop, [AddUtterance("b", line)]).write()
                except ChangedMeanwhileError:
                    continue
                break

    workers = [threading.Thread(target=work, args=(number,)) for number in range(3)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()

    assert {line.text for line in read_registry(shop)["b"].utterances} == {"two", *added}
    assert sorted(content(shop)) == ["f.yaml", "g.yaml"]


def test_a_link_stays_a_link(shop: Path, tmp_path: Path) -> None:
    """And the file behind it keeps its mode."""
    target = tmp_path / "real.yaml"
    (shop / "f.yaml").rename(target)
    target.chmod(0o640)
    (shop / "f.yaml").symlink_to(target)

    plan(shop, [AddUtterance("a", "x")]).write()

    assert (shop / "f.yaml").is_symlink()
    assert "other, x]" in target.read_text(encoding="utf-8")
    assert target.stat().st_mode & 0o777 == 0o640


def test_a_file_that_cannot_be_written_is_said(shop: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """With all files as they were."""
    changes = plan(shop, [AddUtterance("a", "x"), AddUtterance("c", "x y")])
    before = content(shop)

    def refuse(_self: Path, target: Path) -> None:
        raise OSError(28, "No space left on device", str(target))

    monkeypatch.setattr(Path, "replace", refuse)
    with pytest.raises(InputError, match=r"f\.yaml cannot be written: No space left on device"):
        changes.write()
    assert content(shop) == before


def test_includes_are_edited_where_they_are(shop: Path, tmp_path: Path) -> None:
    """Outside the folder, too."""
    (tmp_path / "common.yaml").write_text("intents:\n  e:\n    utterances: {en: [five]}\n", encoding="utf-8")
    (shop / "g.yaml").write_text(f"include: ../common.yaml\n{MORE}", encoding="utf-8")

    plan(shop, [AddUtterance("e", "x")]).write()

    assert "[five, x]" in (tmp_path / "common.yaml").read_text(encoding="utf-8")


def test_a_diff_is_of_whole_lines() -> None:
    """As `diff -u` shows it, also where a file has no line ending at its end."""
    assert unified("a\nb", "a\nc", "x.yaml").splitlines() == [
        "--- x.yaml",
        "+++ x.yaml",
        "@@ -1,2 +1,2 @@",
        " a",
        "-b",
        "+c",
    ]


def test_utterances_are_planned_for_an_intent_old_or_new(shop: Path) -> None:
    """As the edits one by one would have it; a new intent may have a file of its own."""
    old = plan_utterances(shop, "c", ["y", "z"], language="de", negative=True)
    new = plan_utterances(shop, "d", ["v", "(w)"], language="en", new=True, file=shop / "h.yaml")

    assert old.diff == plan(shop, [AddUtterance("c", text, "de", negative=True) for text in "yz"]).diff
    assert [line.text for line in new.registry["d"].utterances] == ["v", "(w)"]
    assert [change.path.name for change in new.files] == ["h.yaml"]
    assert not plan_utterances(shop, "d", [], new=True).files


@pytest.mark.parametrize(
    ("utterances", "options", "said"),
    [
        ("x", {}, "must be a list of texts"),
        ([7], {}, "must be a list of texts"),
        (["x"], {"new": True, "file": "a\0b.yaml"}, "is not a valid file name"),
        (["x"], {"new": True, "file": f"{'a' * 5000}.yaml"}, "is not a valid file name"),
        (["x"], {"new": True, "file": "\ud800.yaml"}, "is not a valid file name"),
        (["x"], {"new": True, "negative": True}, "cannot start with a negative"),
        (["x"], {"file": "f.yaml"}, "only a new intent"),
        (["x"], {}, "unknown intent 'd'"),
    ],
)
def test_what_cannot_be_planned_is_refused(shop: Path, utterances, options, said) -> None:
    """Before anything is written, as an `InputError`."""
    with pytest.raises(InputError, match=said):
        plan_utterances(shop, "d", utterances, **options)
