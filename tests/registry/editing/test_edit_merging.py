"""Two intents become one."""

from __future__ import annotations

from pathlib import Path

import pytest

from intentmatch.core.errors import InputError, UnknownNameError
from intentmatch.registry.editing.merging import MergeIntents
from intentmatch.registry.editing.plan import Changes, plan

TEXT = """language: en
intents:
  a:
    title: A
    not: [three, five]
    utterances:
      - one  # first
      - two
      - "[big|small] box"
  b:
    utterances:
      - three
      - Two
    not: [one, six]
"""
MERGED = """language: en
intents:
  b:
    utterances:
      - three
      - Two
      - one  # first
      - "[big|small] box"
    not: [six, five]
"""


def merged(folder: Path, text: str, intent: str = "a", into: str = "b") -> Changes:
    (folder / "bot.yaml").write_text(text, encoding="utf-8")
    return plan(folder, [MergeIntents(intent, into)])


def test_lines_tests_and_comments_go_to_the_other_intent(tmp_path: Path):
    tests = "tests:\n  - {text: x, intent: a}\n  - {text: y, intent: b}\n"

    changes = merged(tmp_path, TEXT + tests)

    assert changes.files[0].new == MERGED + tests.replace("intent: a", "intent: b")
    assert not changes.brought


@pytest.mark.parametrize(
    ("tests", "intent", "into", "error"),
    [
        ("", "b", "b", "itself"),
        ("tests:\n  - {text: x, intent: [b, a]}\n", "a", "b", r"both 'a' and 'b' at .*bot.yaml:16"),
    ],
)
def test_what_makes_no_one_intent_is_refused(tmp_path: Path, tests: str, intent: str, into: str, error: str):
    with pytest.raises(InputError, match=error):
        merged(tmp_path, TEXT + tests, intent, into)


def test_intent_that_is_not_there_is_refused(tmp_path: Path):
    with pytest.raises(UnknownNameError):
        merged(tmp_path, TEXT, "a", "c")
