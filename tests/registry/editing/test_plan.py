"""Plans: edits are computed and validated first, and written only if no file has changed."""

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


def test_plan_shows_texts_diff_registry_and_problems_without_writing(shop: Path) -> None:
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


def test_write_writes_exactly_the_planned_files(shop: Path) -> None:
    changes = plan(shop, [MoveUtterance("one", "c"), AddIntent("d", "x", "en", shop / "h.yaml")])
    changes.write()

    assert content(shop) == {change.path.name: change.new for change in changes.files}
    assert read_registry(shop).fingerprint == changes.registry.fingerprint
    assert "/dev/null" in changes.diff


def test_plan_without_changes_writes_nothing(shop: Path) -> None:
    changes = plan(shop, [])
    (shop / "f.yaml").unlink()

    changes.write()

    assert changes.files == ()
    assert changes.diff == ""


def test_new_errors_prevent_writing(shop: Path) -> None:
    """They are located in the files as they would be."""
    before = content(shop)
    changes = plan(shop, [AddUtterance("c", "One"), AddUtterance("c", "three four")])

    assert [f"{p.location.line} {p.rule}" for p in changes.errors] == ["3 conflicting-utterance"]
    with pytest.raises(RegistryError, match="“One” already belongs to 'a'"):
        changes.write()
    assert content(shop) == before


def test_existing_errors_do_not_prevent_writing(shop: Path) -> None:
    file = shop / "f.yaml"
    file.write_text(f"{TEXT}    utterance: [typo]\n  e:\n    utterances: [one]\n", encoding="utf-8")

    renamed = plan(shop, [RenameIntent("a", "z")])
    mended = plan(shop, [RemoveUtterance("one", "a")])

    assert [problem.rule for problem in renamed.problems] == ["unknown-key", "conflicting-utterance"]
    assert renamed.errors == ()
    assert [problem.rule for problem in mended.problems] == ["unknown-key"]
    mended.write()


def test_warnings_are_reported_and_do_not_prevent_writing(shop: Path) -> None:
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
def test_unreadable_file_prevents_all_edits(shop: Path, raw: bytes, rule: str) -> None:
    (shop / "h.yaml").write_bytes(raw)

    with pytest.raises(RegistryError, match=rf"h\.yaml.*{rule}"):
        plan(shop, [AddUtterance("a", "x")])


EDITS = [
    AddUtterance("a", "x"), AddUtterance("a", "x", "de", negative=True), AddIntent("new", "x", "de"),
    MoveUtterance("one", "b"), RemoveUtterance("one"), RemoveIntent("a"), RenameIntent("a", "c"), Format(),
]  # fmt: skip


@pytest.mark.parametrize("edit", EDITS, ids=lambda edit: type(edit).__name__)
def test_edits_of_test_data_raise_only_own_errors(edit: Edit) -> None:
    raised = {}
    for file in sorted(DATA.glob("*/*.yaml")):
        try:
            with suppress(InputError):
                plan(file, [edit])
        except Exception as error:  # noqa: BLE001 - the test says what it was, of all files
            raised[file.name] = error
    assert raised == {}


@given(
    st.text("intents: abone-\n  []{}#&*'\"|>?!%@,\r\t", max_size=60),
    st.sampled_from(
        ["", "intents:\n  a:\n    utterances: ", "intents:\n  a: {utterances: [one, ", "intents:\n- a:\n  "]
    ),
    st.sampled_from(EDITS),
)
def test_edits_of_any_text_raise_only_own_errors(text: str, before: str, edit: Edit) -> None:
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "f.yaml").write_bytes((before + text).encode())
        with suppress(InputError):
            plan(folder, [edit])


def test_artefact_cannot_be_edited(tmp_path: Path) -> None:
    built = tmp_path / "shop.intentmatch"
    built.write_bytes(b"\xff")

    with pytest.raises(InputError, match="is not YAML: edit the folder that it was built from"):
        plan(built, [AddUtterance("a", "x")])


def test_write_refuses_a_file_changed_since_the_plan(shop: Path) -> None:
    changes = plan(shop, [AddUtterance("a", "x")])
    script = "import pathlib, sys; file = pathlib.Path(sys.argv[1]); file.write_text(file.read_text() + '# mine')"
    subprocess.run([sys.executable, "-c", script, str(shop / "f.yaml")], check=True)
    before = content(shop)

    with pytest.raises(ChangedMeanwhileError, match=r"f\.yaml was changed by someone else .* nothing was written"):
        changes.write()
    assert content(shop) == before


@pytest.mark.parametrize("name", ["g.yaml", "new.yaml"])
def test_write_refuses_if_another_file_has_changed(shop: Path, name: str) -> None:
    changes = plan(shop, [AddUtterance("a", "x")])
    (shop / name).write_text("intents: {d: {utterances: [x]}}", encoding="utf-8")
    before = content(shop)

    with pytest.raises(ChangedMeanwhileError, match=name):
        changes.write()
    assert content(shop) == before


def test_write_refuses_a_file_deleted_since_the_plan(shop: Path) -> None:
    changes = plan(shop, [AddUtterance("a", "x")])
    (shop / "f.yaml").unlink()

    with pytest.raises(ChangedMeanwhileError, match=r"f\.yaml"):
        changes.write()
    assert list(content(shop)) == ["g.yaml"]


def test_write_refuses_a_new_file_that_exists_by_now(shop: Path) -> None:
    changes = plan(shop, [AddIntent("d", "x", "en", shop / "h.yaml")])
    (shop / "h.yaml").write_text("", encoding="utf-8")

    with pytest.raises(ChangedMeanwhileError, match=r"h\.yaml"):
        changes.write()
    assert (shop / "h.yaml").read_text(encoding="utf-8") == ""


def test_write_accepts_a_newer_file_with_the_same_content(shop: Path) -> None:
    changes = plan(shop, [AddUtterance("a", "x")])
    (shop / "f.yaml").write_text(TEXT, encoding="utf-8")

    changes.write()

    assert "other, x]" in (shop / "f.yaml").read_text(encoding="utf-8")


def test_concurrent_writes_to_different_files_exclude_each_other(shop: Path, monkeypatch: pytest.MonkeyPatch) -> None:
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

    assert "is being edited by process" in refused[0]
    assert content(shop)["g.yaml"] == MORE


def test_concurrent_writers_with_retries_lose_no_line(shop: Path) -> None:
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


def test_write_keeps_symbolic_links_and_file_modes(shop: Path, tmp_path: Path) -> None:
    target = tmp_path / "real.yaml"
    (shop / "f.yaml").rename(target)
    target.chmod(0o640)
    (shop / "f.yaml").symlink_to(target)

    plan(shop, [AddUtterance("a", "x")]).write()

    assert (shop / "f.yaml").is_symlink()
    assert "other, x]" in target.read_text(encoding="utf-8")
    assert target.stat().st_mode & 0o777 == 0o640


def test_failed_write_raises_input_error_and_restores_all_files(shop: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    changes = plan(shop, [AddUtterance("a", "x"), AddUtterance("c", "x y")])
    before = content(shop)

    def refuse(_self: Path, target: Path) -> None:
        raise OSError(28, "No space left on device", str(target))

    monkeypatch.setattr(Path, "replace", refuse)
    with pytest.raises(InputError, match=r"cannot be written: No space left on device"):
        changes.write()
    assert content(shop) == before


def test_included_file_outside_the_folder_is_edited(shop: Path, tmp_path: Path) -> None:
    (tmp_path / "common.yaml").write_text("intents:\n  e:\n    utterances: {en: [five]}\n", encoding="utf-8")
    (shop / "g.yaml").write_text(f"include: ../common.yaml\n{MORE}", encoding="utf-8")

    plan(shop, [AddUtterance("e", "x")]).write()

    assert "[five, x]" in (tmp_path / "common.yaml").read_text(encoding="utf-8")


def test_diff_shows_whole_lines_without_final_line_ending() -> None:
    assert unified("a\nb", "a\nc", "x.yaml").splitlines() == [
        "--- x.yaml",
        "+++ x.yaml",
        "@@ -1,2 +1,2 @@",
        " a",
        "-b",
        "+c",
    ]


def test_plan_utterances_equals_single_edits(shop: Path) -> None:
    old = plan_utterances(shop, "c", ["y", "z"], language="de", negative=True)
    new = plan_utterances(shop, "d", ["v", "(w)"], language="en", new=True, file=shop / "h.yaml")

    assert old.diff == plan(shop, [AddUtterance("c", text, "de", negative=True) for text in "yz"]).diff
    assert [line.text for line in new.registry["d"].utterances] == ["v", "(w)"]
    assert [change.path.name for change in new.files] == ["h.yaml"]
    assert not plan_utterances(shop, "d", [], new=True).files


@pytest.mark.parametrize(
    ("utterances", "options", "message"),
    [
        ("x", {}, "must be a list of texts"),
        ([7], {}, r"utterances\[0\] must be text, not 7"),
        (["x"], {"new": True, "file": "a\0b.yaml"}, "is not a valid file name"),
        (["x"], {"new": True, "file": f"{'a' * 5000}.yaml"}, "is not a valid file name"),
        (["x"], {"new": True, "file": "\ud800.yaml"}, "is not a valid file name"),
        (["x"], {"new": True, "negative": True}, "cannot start with a negative"),
        (["x"], {"file": "f.yaml"}, "only a new intent"),
        (["x"], {}, "unknown intent 'd'"),
    ],
)
def test_plan_utterances_rejects_invalid_arguments(shop: Path, utterances, options, message) -> None:
    with pytest.raises(InputError, match=message):
        plan_utterances(shop, "d", utterances, **options)


SHARING = """language: en
intents:
  order_yes: {when: ordering, utterances: ["yes", do it]}
  close_yes: {when: closing, utterances: ["yes", go on]}
  agree: {utterances: [quite so]}
  fine: {utterances: [all right]}
"""


@pytest.fixture
def sharing(tmp_path: Path) -> Path:
    file = tmp_path / "bot.yaml"
    file.write_text(SHARING, encoding="utf-8")
    return file


def test_a_line_is_added_or_moved_beside_the_same_one_if_tags_tell_the_intents_apart(sharing: Path) -> None:
    changes = plan(sharing, [AddUtterance("agree", "Yes!"), MoveUtterance("do it", "close_yes")])

    assert changes.errors == ()
    assert [line.text for line in changes.registry["agree"].utterances] == ["quite so", "Yes!"]
    again = plan(sharing, [AddUtterance("agree", "yes"), AddUtterance("fine", "yes")])
    assert [problem.message for problem in again.errors] == [f"“yes” already belongs to 'agree' ({sharing}:5)"]


def test_a_shared_line_is_moved_or_removed_from_the_intent_that_is_named(sharing: Path) -> None:
    with pytest.raises(InputError, match=r"occurs more than once: .*Specify the intent"):
        plan(sharing, [RemoveUtterance("yes")])
    with pytest.raises(InputError, match=r"occurs more than once: .*Specify the intent"):
        plan(sharing, [MoveUtterance("yes", "agree")])

    moved = plan(sharing, [MoveUtterance("yes", "agree", "close_yes"), RenameIntent("order_yes", "yes_order")])
    removed = plan(sharing, [RemoveUtterance("yes", "order_yes")])

    assert (moved.errors, removed.errors) == ((), ())
    assert [line.text for line in moved.registry["agree"].utterances] == ["quite so", "yes"]
    assert [line.text for line in removed.registry["order_yes"].utterances] == ["do it"]
    assert [line.text for line in removed.registry["close_yes"].utterances] == ["yes", "go on"]


def test_moving_a_shared_line_to_an_intent_that_has_it_is_refused(sharing: Path) -> None:
    with pytest.raises(InputError, match="“yes” is already at"):
        plan(sharing, [MoveUtterance("yes", "order_yes", "close_yes")])
