"""Starting sets of `intentmatch init`."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from intentmatch import Matcher
from intentmatch.cli.commands import cli
from intentmatch.core.errors import UnknownNameError
from intentmatch.registry import read_registry
from intentmatch.registry.starters import LANGUAGES, STARTERS, starter

CHOICES = [(name, languages) for name in STARTERS for languages in (*((code,) for code in LANGUAGES), LANGUAGES)]


def run(*words: str) -> Result:
    return CliRunner().invoke(cli, words, catch_exceptions=False)


def written(folder: Path, name: str, languages: tuple[str, ...]) -> str:
    (folder / "bot.yaml").write_text(starter(name, languages), encoding="utf-8")
    return str(folder)


@pytest.mark.parametrize(("name", "languages"), CHOICES)
def test_holds_every_intent_and_test_in_each_language(tmp_path: Path, name: str, languages: tuple[str, ...]):
    registry = read_registry(written(tmp_path, name, languages))

    for intent in registry:
        assert {utterance.language for utterance in intent.utterances} == {*languages}
        assert {*intent.responses} == {*languages}
    assert {case.language for case in registry.tests} == {*languages}


@pytest.mark.parametrize("name", STARTERS)
def test_answers_its_own_tests(tmp_path: Path, name: str):
    matcher = Matcher.load(written(tmp_path, name, LANGUAGES))

    wrong = {case.text for case in matcher.registry.tests if matcher.match(case.text).intent != case.expected}
    assert not wrong


@pytest.mark.parametrize("name", STARTERS)
def test_needs_no_formatting_and_has_no_lint_warning(tmp_path: Path, name: str):
    folder = written(tmp_path, name, LANGUAGES)

    assert run("format", "--check", "-i", folder).exit_code == 0
    assert run("lint", "--fail-on", "warning", folder).exit_code == 0


def test_uses_english_for_languages_it_is_not_written_in(tmp_path: Path):
    registry = read_registry(written(tmp_path, "shop", ("sv", "nb")))

    assert {utterance.language for utterance in registry.utterances} == {"en"}


def test_an_unknown_name_is_an_error_with_the_names_that_exist():
    with pytest.raises(UnknownNameError, match="voice"):
        starter("pizza")
