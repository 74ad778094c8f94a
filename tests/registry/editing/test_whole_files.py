"""Replace, add and remove whole files."""

from __future__ import annotations

from pathlib import Path

import pytest

from intentmatch.core.errors import InputError, RegistryError, UnknownNameError
from intentmatch.registry.editing.edits import AddUtterance
from intentmatch.registry.editing.plan import plan
from intentmatch.registry.editing.whole_files import RemoveFile, ReplaceFile

ONE = "intents:\n  a:\n    utterances: {en: [one]}\n"
TWO = "intents:\n  b:\n    utterances: {en: [two]}\n"


@pytest.fixture
def bot(tmp_path: Path) -> Path:
    folder = tmp_path / "bot"
    folder.mkdir()
    (folder / "a.yaml").write_text(ONE, encoding="utf-8")
    (folder / "b.yaml").write_text(TWO, encoding="utf-8")
    return folder


def test_files_are_replaced_added_and_removed_together(bot: Path) -> None:
    text = "# mine\n" + ONE
    edits = [ReplaceFile(bot / "a.yaml", text), ReplaceFile(bot / "more" / "c.yaml", TWO), RemoveFile(bot / "b.yaml")]

    changes = plan(bot, edits)
    changes.write()

    assert [intent.name for intent in changes.registry] == ["a", "b"]
    assert "+++ /dev/null" in changes.diff
    assert (bot / "a.yaml").read_text(encoding="utf-8") == text
    assert (bot / "more" / "c.yaml").read_text(encoding="utf-8") == TWO
    assert not (bot / "b.yaml").exists()
    assert sorted(file.name for file in bot.iterdir()) == ["a.yaml", "more"]


def test_edits_before_and_after_a_replacement_apply_in_order(bot: Path) -> None:
    edits = [AddUtterance("a", "lost"), ReplaceFile(bot / "a.yaml", ONE), AddUtterance("a", "kept")]

    changes = plan(bot, edits)

    assert [line.text for line in changes.registry["a"].utterances] == ["one", "kept"]


def test_broken_file_can_be_replaced_or_removed_but_not_edited(bot: Path) -> None:
    (bot / "a.yaml").write_text("intents: [\n", encoding="utf-8")

    with pytest.raises(RegistryError):
        plan(bot, [AddUtterance("b", "too")])
    plan(bot, [ReplaceFile(bot / "a.yaml", ONE)]).write()
    assert (bot / "a.yaml").read_text(encoding="utf-8") == ONE
    (bot / "a.yaml").write_bytes(b"\xff\xfe broken")
    assert [intent.name for intent in plan(bot, [RemoveFile(bot / "a.yaml")]).registry] == ["b"]


def test_invalid_text_names_its_line(bot: Path) -> None:
    with pytest.raises(RegistryError) as caught:
        plan(bot, [ReplaceFile(bot / "a.yaml", "intents:\n  a: [\n")])

    assert all(problem.location.path == str(bot / "a.yaml") for problem in caught.value.problems)
    assert caught.value.problems[0].location.line is not None


@pytest.mark.parametrize(
    "name",
    ["../out.yaml", "notes.txt", ".hidden.yaml", ".git/x.yaml", "a\0.yaml", "a\nb.yaml", "\u202ea.yaml", "\x1b/a.yaml"],
)
def test_file_outside_of_the_registry_is_refused(bot: Path, name: str) -> None:
    with pytest.raises(InputError):
        plan(bot, [ReplaceFile(bot / name, ONE)])
    with pytest.raises(InputError, match="lone surrogate"):
        plan(bot, [ReplaceFile(bot / "a.yaml", "\ud800")])


def test_unknown_file_is_not_removed(bot: Path) -> None:
    with pytest.raises(UnknownNameError, match=r"a\.yaml"):
        plan(bot, [RemoveFile(bot / "aa.yaml")])


@pytest.mark.parametrize("names", [("a.yaml/x.yaml",), ("x.yaml", "x.yaml/y.yaml"), ("x.yaml/y.yaml", "x.yaml")])
def test_file_below_a_file_is_refused(bot: Path, names: tuple[str, ...]) -> None:
    with pytest.raises(InputError, match=r"cannot be there|cannot both be there") as caught:
        plan(bot, [ReplaceFile(bot / name, TWO) for name in names])
    assert caught.value.__cause__ is None
