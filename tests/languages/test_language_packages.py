"""Languages of other packages, by the entry-point group `intentmatch.languages`."""

from __future__ import annotations

import logging
from pathlib import Path

import pytest
from click.testing import CliRunner

from intentmatch.cli.languages import languages_
from intentmatch.languages import packages, tables
from intentmatch.languages.tables import Table, codes, read_section, sections_of


@pytest.fixture
def install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """Return a function that installs a package with one language and the text of its file, None for no file."""

    def install(code: str, text: str | None) -> Path:
        (tmp_path / "words_of_ours").mkdir()
        (tmp_path / "words_of_ours" / "__init__.py").write_text("raise RuntimeError('imported')\n")
        file = tmp_path / "words_of_ours" / f"{code}.yaml"
        if text is not None:
            file.write_text(text, encoding="utf-8")
        about = tmp_path / "words_of_ours-1.0.dist-info"
        about.mkdir()
        (about / "METADATA").write_text("Metadata-Version: 2.1\nName: words-of-ours\nVersion: 1.0\n")
        (about / "entry_points.txt").write_text(f"[intentmatch.languages]\n{code} = words_of_ours\n")
        monkeypatch.syspath_prepend(str(tmp_path))
        packages.packaged_languages.cache_clear()
        return file

    yield install
    packages.packaged_languages.cache_clear()


def test_a_package_brings_a_language(install):
    """It is read like a language of ours, and its code is never run."""
    install("qya", "names: quenya\ndegrees: tengwe\n")

    assert "qya" in codes()
    assert sections_of("qya") == ("names", "degrees")
    assert Table[str]("degrees")["qya"] == "tengwe"
    assert read_section("qya", "months") is None


def test_a_package_does_not_replace_a_language_of_ours(install):
    install("pl", "names: mine\n")

    assert read_section("pl", "names") == "polish polski"
    assert "intentmatch has this language" in packages.packaged_languages().left_out["pl"]


def test_the_command_says_which_language_of_a_package_is_left_out(install):
    """Its author runs `intentmatch languages`, and the log may be anywhere."""
    install("Quenya", "names: quenya\n")

    ran = CliRunner().invoke(languages_, [])

    assert ran.exit_code == 0
    assert "warning: the language Quenya of the package words_of_ours is left out: 'Quenya' is no code" in ran.stderr


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("names: quenya\n\nclock: [a]\n", "qya.yaml:3: clock: expected a map"),
        (None, "words_of_ours is left out: the package has no file qya.yaml"),
    ],
)
def test_an_invalid_language_of_a_package_is_left_out_with_a_warning(install, caplog, text, why):
    """A message in that language is matched all the same."""
    install("qya", text)

    with caplog.at_level(logging.WARNING):
        assert "qya" not in codes()

    assert why in caplog.text
    assert Table[str]("degrees").get("qya") is None


def test_languages_of_ours_ask_no_package(monkeypatch):
    """Reading what other packages install takes longer than a message."""
    monkeypatch.setattr(tables, "packaged_languages", lambda: pytest.fail("asked"))

    assert "pl" in Table[str]("degrees")
    assert "pt-BR" not in Table[str]("degrees")
    assert "pl" in set(Table[str]("degrees"))
