"""Test data of a Rasa bot: test stories, and NLU data that is kept for testing. They become `tests:`.

Rasa itself knows test stories by the prefix `test_` of their files. NLU test sets have no fixed name; `rasa data split`
and the tutorials put them into folders and files with "test" in their names.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from itertools import pairwise
from pathlib import PurePosixPath

from intentmatch.core.errors import Location
from intentmatch.formats.kit.source import File
from intentmatch.formats.kit.tree import Value
from intentmatch.formats.rasa.bot import RasaBot
from intentmatch.formats.rasa.marks import Annotation, plain

_TEST = re.compile(r"(?:.*[-_. ])?tests?(?:[-_. ].*)?", re.IGNORECASE)
_TRAIN = re.compile(r"(?:.*[-_. ])?train(?:ing)?(?:[-_. ].*)?", re.IGNORECASE)
# `rasa data split` writes both kinds of data into a folder of this name.
_SPLIT = "train_test_split"
# `* intent: message` or `* form: intent{"slot": "value"}: message`, as in test stories of Rasa 1.
_SAID = re.compile(r"\s*\*\s+(?:form\s*:\s*)?(?P<intent>[^\s:{]+)(?:\{.*?\})?\s*:\s*(?P<text>\S.*?)\s*")
_ACTION = re.compile(r"\s+-\s+[\w./-]+(?:\{.*\})?\s*")
# Title, checkpoint, message, action or event. Other documents have lines of prose.
_STORY = re.compile(r"\s*(?:#+\s.*|>.*|\*\s.*|-\s+[\w./-]+(?:\{.*\})?\s*)?")
_COMMENT = re.compile(r"<!--.*?-->", re.DOTALL)


def is_test_file(file: File) -> bool:
    """Return whether the name of a file, or of a folder that it is in, says that it is for testing."""
    folders = PurePosixPath(file.path).parts[:-1]
    # The nearest name decides: `test/train.yml` is training data.
    for name in (PurePosixPath(file.path).stem, *reversed(folders)):
        if name != _SPLIT and _TRAIN.fullmatch(name):
            return False
        if name != _SPLIT and _TEST.fullmatch(name):
            return True
    return False


def has_test_stories(root: Value) -> bool:
    """Return whether a YAML root has stories with messages of the user."""
    stories = (step for story in root["stories"].items() for step in story["steps"].items())
    return root["stories"].is_list and any("user" in step.keys for step in stories)


def has_markdown_stories(file: File) -> bool:
    """Return whether a file has test stories of Rasa 1: messages of the user, each before an action of the bot."""
    lines = _COMMENT.sub("", "\n".join(file.lines)).split("\n") if file.suffix == ".md" else []
    has_test = any(_SAID.fullmatch(line) and _ACTION.fullmatch(after) for line, after in pairwise(lines))
    return has_test and all(map(_STORY.fullmatch, lines))


def read_stories(root: Value, bot: RasaBot) -> None:
    """Read the messages of `stories:` that have an intent."""
    for story in root["stories"].items():
        for step in story["steps"].items():
            text = step["user"].text()
            intent = step["intent"].text() if text is not None else None
            if intent is not None:
                bot.test(plain(text or ""), intent, step["user"].location)
            elif text is not None:
                bot.draft.not_expressed(step.location, "messages of stories without an intent are not imported")


def read_markdown_stories(file: File, bot: RasaBot) -> None:
    """Read the messages of test stories of Rasa 1."""
    for number, line in enumerate(file.text.splitlines(), 1):
        said = _SAID.fullmatch(line)
        if said is not None:
            bot.test(plain(said["text"]), said["intent"], Location(file.place, number, said.start("text") + 1))


class TestSet(RasaBot):
    """Takes the NLU data of a test file as tests of a bot."""

    # As for `cases.Tests`: pytest would collect it.
    __test__ = False

    def __init__(self, bot: RasaBot) -> None:
        super().__init__(bot.draft)
        self._bot = bot

    def declare(self, intent: str, place: Location, metadata: Value | None = None) -> None:
        """Skip the declaration of an intent: the training data declares it."""

    def labelled(self, intent: str, text: str, annotations: Iterable[Annotation], place: Location) -> None:
        """Add a test; entities are skipped."""
        self._bot.test(text, intent, place)

    def synonyms(self, value: str, synonyms: Sequence[str], place: Location) -> None:
        """Skip synonyms."""
        self._skip(place)

    def patterns(self, name: str, patterns: Sequence[str], place: Location) -> None:
        """Skip regular expressions."""
        self._skip(place)

    def lookup(self, name: str, values: Iterable[str], place: Location) -> None:
        """Skip the values of an entity."""
        self._skip(place)

    def lookup_file(self, name: str, path: str, file: File, place: Location) -> None:
        """Skip the values of an entity in a file."""
        self._skip(place)

    def response(self, action: str, text: str, place: Location) -> None:
        """Add one response text of an action."""
        self._bot.response(action, text, place)

    def _skip(self, place: Location) -> None:
        message = "synonyms, lookup tables and regular expressions of test files are not imported"
        self.draft.note(place, "test-data", message)
