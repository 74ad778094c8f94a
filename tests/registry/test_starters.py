"""Starting sets of `intentmatch init`."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml
from click.testing import CliRunner, Result

from intentmatch import Dialogue, Matcher
from intentmatch.cli.commands import cli
from intentmatch.core.errors import UnknownNameError
from intentmatch.registry import read_registry
from intentmatch.registry.starters import LANGUAGES, STARTERS, starter

CONVERSATIONS = yaml.safe_load(Path(__file__).with_name("conversations.yaml").read_text(encoding="utf-8"))
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
        assert {*intent.titles} == {*languages}
        assert all({*slot.questions} == {*languages} for slot in intent.slots)
    assert {case.language for case in registry.tests} == {*languages}


@pytest.mark.parametrize("name", STARTERS)
def test_answers_its_own_tests(tmp_path: Path, name: str):
    matcher = Matcher.load(written(tmp_path, name, LANGUAGES))

    wrong = {case.text for case in matcher.registry.tests if matcher.match(case.text).intent != case.expected}
    assert not wrong


@pytest.mark.parametrize("conversation", CONVERSATIONS, ids=lambda one: one["messages"][0])
def test_understands_the_answers_to_its_questions(tmp_path, conversation):
    dialogue = Dialogue(Matcher.load(written(tmp_path, conversation["starter"], LANGUAGES)))
    language = conversation["language"]
    *before, last = (dialogue.take(message, "anna", language=language) for message in conversation["messages"])

    assert all(turn.asks_for for turn in before)
    assert (last.intent, last.slots) == (conversation["intent"], conversation["slots"])


@pytest.mark.parametrize("name", [name for name in STARTERS if name != "empty"])
def test_no_reply_asks_what_no_slot_is_for(tmp_path, name):
    for intent in read_registry(written(tmp_path, name, LANGUAGES)):
        assert not any("?" in text for text in intent.responses.values()), intent.name


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
