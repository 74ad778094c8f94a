"""Settings written into YAML: only what is meant changes, and only if the file still reads the same."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml

from intentmatch.errors import InputError
from intentmatch.registry.settings_edit import Setting, unified, with_settings, write_settings

VALUES = {"encoder": Setting("static", "worth it"), "scorer": Setting("cosine")}
INTENTS = "intents:\n  a:\n    utterances: [one, 'two']   # as it is\n"
BLOCK = "settings:\n  encoder: static  # t: worth it\n  scorer: cosine\n"


@pytest.mark.parametrize(
    ("before", "after"),
    [
        pytest.param(
            "version: 1  # of the grammar\n\n# About us\n" + INTENTS,
            "version: 1  # of the grammar\n" + BLOCK + "\n# About us\n" + INTENTS,
            id="below the version",
        ),
        pytest.param(
            "# The shop\n\n# About us\n" + INTENTS,
            "# The shop\n\n" + BLOCK + "# About us\n" + INTENTS,
            id="above the first key and its comments",
        ),
        pytest.param(INTENTS, BLOCK + INTENTS, id="at the top"),
        pytest.param(
            INTENTS + "version: 1",
            INTENTS + "version: 1\n" + BLOCK,
            id="without a line break at the end",
        ),
        pytest.param(
            "settings:\n    scorer: \"head\"  # mine\n    # and this\n    encoder:   'x'\n    margin: 0.1\n",
            'settings:\n    scorer: "cosine"  # mine\n    # and this\n'
            "    encoder:   'static'  # t: worth it\n    margin: 0.1\n",
            id="quotes, order, comments and indentation stay",
        ),
        pytest.param(
            "settings:\n  scorer: head  # t: told before\n  encoder: static # t: told before\n",
            "settings:\n  scorer: cosine\n  encoder: static  # t: worth it\n",
            id="our own comments are told anew",
        ),
        pytest.param(
            "settings:\n  threshold:\n    de: 0.4  # strict\n\n# next\n" + INTENTS,
            "settings:\n  threshold:\n    de: 0.4  # strict\n"
            + BLOCK.removeprefix("settings:\n")
            + "\n# next\n"
            + INTENTS,
            id="below what is there",
        ),
        pytest.param(
            "settings: {scorer: head, margin: 0.1}  # short\n",
            "settings: {scorer: cosine, margin: 0.1, encoder: static}  # short\n",
            id="in one line",
        ),
        pytest.param("settings: {margin: 0.1, }\n", "settings: {margin: 0.1, encoder: static, scorer: cosine}\n"),
        pytest.param(
            "settings:\n  encoder:\n  scorer: head",
            "settings:\n  encoder: static  # t: worth it\n  scorer: cosine",
            id="an empty value",
        ),
        pytest.param(
            "\ufeffversion: 1\r\nintents: {}\r\n",
            "\ufeffversion: 1\r\nsettings:\r\n  encoder: static  # t: worth it\r\n  scorer: cosine\r\nintents: {}\r\n",
            id="byte order mark and line ends",
        ),
        pytest.param("", BLOCK, id="of nothing"),
    ],
)
def test_nothing_else_changes(before: str, after: str) -> None:
    """To the last space; and a second time changes nothing at all."""
    assert with_settings(before, VALUES, "t: ") == after
    assert with_settings(after, VALUES, "t: ") == after


@pytest.mark.parametrize(
    "value", ["a b", "x: y", "#1", "null", "007", "it's", 'say "x"', "C:\\new", "{a}", "*a", "- a"]
)
@pytest.mark.parametrize("quote", ["", "'", '"'])
def test_whatever_the_value_it_is_read_as_it_is(value: str, quote: str) -> None:
    """In any quotes."""
    text = with_settings(f"settings:\n  encoder: {quote}x{quote}\n", {"encoder": Setting(value)})

    assert yaml.load(text, Loader=yaml.BaseLoader) == {"settings": {"encoder": value}}


@pytest.mark.parametrize(
    "text",
    [
        "{intents: {}}\n",
        "- a\n",
        "settings:\n",
        "settings: {}\n",
        "settings:\n  margin: &m head\n  scorer: *m\n",
        "settings:\n  scorer: |\n    head\n",
    ],
)
def test_what_cannot_be_edited_is_said(text: str) -> None:
    """Rather than guessed at."""
    with pytest.raises(InputError, match="by hand"):
        with_settings(text, VALUES)


def test_the_change_is_shown() -> None:
    """As `diff -u` does, whole lines only."""
    shown = unified("a\nb", "a\nc", "x.yaml")

    assert shown.splitlines() == ["--- x.yaml", "+++ x.yaml", "@@ -1,2 +1,2 @@", " a", "-b", "+c"]


@pytest.fixture
def file(tmp_path: Path) -> Path:
    file = tmp_path / "shop.yaml"
    file.write_text(INTENTS, encoding="utf-8")
    file.chmod(0o640)
    return file


def test_a_file_is_replaced_whole(file: Path, tmp_path: Path) -> None:
    """With its mode, through a link, and with nothing left beside it."""
    link = tmp_path / "link.yaml"
    link.symlink_to(file)
    text = with_settings(INTENTS, VALUES)

    write_settings(link, text, VALUES)

    assert file.read_text(encoding="utf-8") == text
    assert link.is_symlink()
    assert file.stat().st_mode & 0o777 == 0o640
    assert sorted(found.name for found in tmp_path.iterdir()) == ["link.yaml", "shop.yaml"]


@pytest.mark.parametrize(
    "text",
    [
        INTENTS,
        with_settings(INTENTS.replace("one", "other"), VALUES),
        with_settings(INTENTS, {"encoder": Setting("x"), "scorer": Setting("cosine")}),
        with_settings(INTENTS, VALUES) + "unknown: 1\n",
        "{",
    ],
)
def test_what_would_not_read_the_same_is_not_written(file: Path, tmp_path: Path, text: str) -> None:
    """The file stays as it was, and nothing is left beside it."""
    with pytest.raises(InputError, match="is left as it was"):
        write_settings(file, text, VALUES)

    assert file.read_text(encoding="utf-8") == INTENTS
    assert list(tmp_path.iterdir()) == [file]


def test_a_failure_at_the_last_moment_leaves_the_old_file(
    file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Written aside and swapped, or not at all."""

    def refuse(_self: Path, _target: Path) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "replace", refuse)

    with pytest.raises(InputError, match="cannot be written: No space left"):
        write_settings(file, with_settings(INTENTS, VALUES), VALUES)

    assert file.read_text(encoding="utf-8") == INTENTS
    assert list(tmp_path.iterdir()) == [file]
