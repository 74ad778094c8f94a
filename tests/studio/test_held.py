"""What the files hold is read once, and again when they change; problems belong to the intent they stand in."""

from __future__ import annotations

import asyncio

import pytest

from intentmatch.authoring.workspace import Workspace
from intentmatch.studio.held import held, languages_of

TEXT = """\
intents:
  greet:
    utterances: {en: [hello, hi, hey, good day, good morning], de: [hallo]}
  bye:
    utterances: [bye]
    unknown: 1
"""


@pytest.fixture
def workspace(tmp_path):
    (tmp_path / "one.yaml").write_text(TEXT, encoding="utf-8")
    return Workspace(tmp_path)


def test_intents_have_files_counts_and_health(workspace):
    found = asyncio.run(held(workspace))
    greet, bye = found.registry["greet"], found.registry["bye"]

    assert found.file_of(greet) == "one.yaml"
    assert languages_of(greet) == {"en": 5, "de": 1}
    assert languages_of(bye) == {"": 1}
    assert (found.health["greet"].errors, found.health["greet"].few) == (0, False)
    assert (found.health["bye"].errors, found.health["bye"].few) == (1, True)


def test_files_are_read_again_only_after_a_change(workspace, tmp_path):
    first = asyncio.run(held(workspace))
    assert asyncio.run(held(workspace)) is first
    (tmp_path / "one.yaml").write_text(TEXT.replace("unknown: 1", "title: Bye"), encoding="utf-8")

    second = asyncio.run(held(workspace))
    assert second.digest != first.digest
    assert second.health["bye"].errors == 0
