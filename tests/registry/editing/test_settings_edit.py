"""Edits of `settings:`: only the settings change, and the file still reads the same."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml

from intentmatch.core.errors import InputError, RegistryError
from intentmatch.registry.editing.plan import plan
from intentmatch.registry.editing.settings_edit import ChangeSettings, Setting, with_settings

CASES = yaml.safe_load(Path(__file__).with_name("settings_edit.yaml").read_text(encoding="utf-8"))
VALUES = {"encoder": Setting("static", "worth it"), "scorer": Setting("cosine")}
INTENTS = "intents:\n  a:\n    utterances: [one, 'two']   # as it is\n"
BLOCK = "settings:\n  encoder: static  # t: worth it\n  scorer: cosine\n"


@pytest.mark.parametrize(("before", "after"), [tuple(case.values()) for case in CASES.values()], ids=CASES)
def test_settings_edit_changes_nothing_else_and_is_idempotent(before: str, after: str) -> None:
    assert with_settings(before, VALUES, "t: ") == after
    assert with_settings(after, VALUES, "t: ") == after


@pytest.mark.parametrize(
    "value", ["a b", "x: y", "#1", "null", "007", "it's", 'say "x"', "C:\\new", "{a}", "*a", "- a"]
)
@pytest.mark.parametrize("quote", ["", "'", '"'])
def test_written_setting_is_read_back(value: str, quote: str) -> None:
    text = with_settings(f"settings:\n  encoder: {quote}x{quote}\n", {"encoder": Setting(value)})

    assert yaml.load(text, Loader=yaml.BaseLoader) == {"settings": {"encoder": value}}


@pytest.mark.parametrize(
    ("before", "value", "after"),
    [
        pytest.param(
            "settings:\n  target: {precision: 0.95, give_up: 0.02}  # ours\n  margin: 0.1\n",
            "precision=0.9",
            "settings:\n  target: {precision: 0.9}  # ours\n  margin: 0.1\n",
            id="in brackets",
        ),
        pytest.param(
            "settings:\n  target:\n    precision: 0.95  # agreed\n  margin: 0.1\n",
            "precision=0.9,give_up=0.01",
            "settings:\n  target:\n    precision: 0.9  # agreed\n    give_up: 0.01\n  margin: 0.1\n",
            id="in lines",
        ),
        pytest.param(
            "settings:\n  target: {precision: 0.95}\n  margin: 0.1\n",
            "balance",
            "settings:\n  target: balance\n  margin: 0.1\n",
            id="by a word",
        ),
    ],
)
def test_mapping_is_changed_by_its_keys(before: str, value: str, after: str) -> None:
    text = with_settings(before, {"target": Setting(value)})

    assert text == after
    assert with_settings(text, {"target": Setting(value)}) == after


@pytest.mark.parametrize(
    "text",
    [
        "- a\n",
        "settings: [a]\n",
        "settings:\n  margin: &m head\n  scorer: *m\n",
        "settings:\n  scorer: |\n    head\n",
    ],
)
def test_settings_that_cannot_be_edited_raise_input_error(text: str) -> None:
    with pytest.raises(InputError, match="by hand"):
        with_settings(text, VALUES)


def test_change_settings_plans_shows_and_writes(tmp_path: Path) -> None:
    file = tmp_path / "shop.yaml"
    file.write_text(INTENTS, encoding="utf-8")

    changes = plan(tmp_path, [ChangeSettings(file, VALUES, "t: ")])
    changes.write()

    assert file.read_text(encoding="utf-8") == BLOCK + INTENTS
    assert changes.registry.settings == {"encoder": "static", "scorer": "cosine"}


def test_invalid_setting_prevents_writing(tmp_path: Path) -> None:
    file = tmp_path / "shop.yaml"
    file.write_text(INTENTS, encoding="utf-8")

    changes = plan(tmp_path, [ChangeSettings(file, {"scorer": Setting("loud")})])

    with pytest.raises(RegistryError, match="scorer"):
        changes.write()
    assert file.read_text(encoding="utf-8") == INTENTS


def test_settings_file_must_belong_to_the_registry(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"other\.yaml is not among the files"):
        plan(tmp_path, [ChangeSettings(tmp_path / "other.yaml", VALUES)])
