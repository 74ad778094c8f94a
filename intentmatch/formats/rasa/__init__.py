"""Rasa: training data and responses in the YAML, JSON and Markdown forms of all versions."""

from __future__ import annotations

from collections.abc import Sequence

from intentmatch.formats.kit.draft import Draft
from intentmatch.formats.kit.format import Format, Sure
from intentmatch.formats.kit.source import File
from intentmatch.formats.rasa import reading
from intentmatch.formats.rasa.bot import Bot
from intentmatch.formats.rasa.writing import SAYS, write


def recognise(file: File) -> Sure:
    """Recognise YAML and JSON by their keys, and Markdown by its headings."""
    root = file.root
    if reading.is_json(root) or reading.is_nlu(root):
        return Sure.CERTAIN
    if root:
        return Sure.LIKELY if reading.is_domain(root) or _is_config(file) else Sure.NO
    return Sure.CERTAIN if reading.is_markdown(file) else Sure.NO


def read(files: Sequence[File], draft: Draft) -> None:
    """Read all files of a bot. References between files are resolved at the end."""
    bot = Bot(draft)
    for file in files:
        if not file.root and reading.is_markdown(file):
            reading.read_markdown(file, bot)
            continue
        root = draft.root(file)
        if reading.is_json(root):
            reading.read_json(file, root, bot)
        else:
            reading.read_yaml(file, root, bot)
    bot.finish()


def _is_config(file: File) -> bool:
    return {"language", "pipeline"} <= set(file.root.keys) and file.root["pipeline"].is_list


FORMAT = Format("rasa", "Rasa: YAML, JSON or Markdown of versions 0 to 3", recognise, read, write, SAYS)
