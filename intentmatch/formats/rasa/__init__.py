"""Rasa: training data and responses in the YAML, JSON and Markdown forms of all versions."""

from __future__ import annotations

from collections.abc import Sequence

from intentmatch.formats.kit.draft import Draft
from intentmatch.formats.kit.format import Format, Sure
from intentmatch.formats.kit.source import File
from intentmatch.formats.rasa import reading, stories
from intentmatch.formats.rasa.bot import RasaBot
from intentmatch.formats.rasa.writing import SAYS, write


def recognise(file: File) -> Sure:
    """Recognise YAML and JSON by their keys, and Markdown by its headings or its test stories."""
    root = file.root
    if _has_nlu(file) or stories.has_test_stories(root):
        return Sure.CERTAIN
    if root:
        return Sure.LIKELY if reading.is_domain(root) or _is_config(file) else Sure.NO
    return Sure.POSSIBLE if stories.has_markdown_stories(file) else Sure.NO


def read(files: Sequence[File], draft: Draft) -> None:
    """Read all files of a bot. References between files are resolved at the end.

    NLU data in test files becomes tests, unless there is no other NLU data.
    """
    bot = RasaBot(draft)
    # A bot that is named `test` or lies in such a folder has training data all the same.
    only_tests = all(stories.is_test_file(file) for file in files if _has_nlu(file))
    for file in files:
        taker = bot if only_tests or not stories.is_test_file(file) else stories.TestSet(bot)
        if file.root:
            root = draft.root(file)
            if reading.is_json(root):
                reading.read_json(file, root, taker)
            else:
                reading.read_yaml(file, root, taker)
                stories.read_stories(root, bot)
        elif reading.is_markdown(file):
            reading.read_markdown(file, taker)
        elif stories.has_markdown_stories(file):
            stories.read_markdown_stories(file, bot)
        else:
            draft.root(file)  # raises for a file that the user named and nothing can read
    bot.finish()


def _has_nlu(file: File) -> bool:
    root = file.root
    return reading.is_json(root) or reading.is_nlu(root) if root else reading.is_markdown(file)


def _is_config(file: File) -> bool:
    return {"language", "pipeline"} <= set(file.root.keys) and file.root["pipeline"].is_list


FORMAT = Format("rasa", "Rasa: YAML, JSON or Markdown of versions 0 to 3", recognise, read, write, SAYS)
