"""The words of authors in place of those of machine learning."""

from __future__ import annotations

import re

import pytest
from driven_studio import JARGON

from intentmatch.cli.guide import read_page
from intentmatch.studio.wording import answer_in_words, plainly


@pytest.mark.parametrize(
    ("text", "plain"),
    [
        ("an utterance has no words", "an example has no words"),
        ("list some below `utterances:` with the key `de`", "list some below `utterances:` with the key `de`"),
        ("“my utterance” is also an utterance of 'utterance'", "“my utterance” is also an example of 'utterance'"),
        ("list the other intent's utterances under `not:`", "list the other intent's examples under `not:`"),
        ("held-out utterances · training the head", "left out examples · training the classifier"),
        ("ahead of refund", "ahead of refund"),
    ],
)
def test_only_what_is_not_quoted_is_reworded(text, plain):
    assert plainly(text) == plain


@pytest.mark.parametrize(
    ("answer", "says"),
    [("refund", "refund"), ("out_of_scope", "no intent"), (None, "no intent"), ("ambiguous", "asks back")],
)
def test_answers_without_an_intent_have_words(answer, says):
    assert answer_in_words(answer) == says


def test_help_has_the_words_of_the_screens():
    """Names of commands and pages are in backticks and links."""
    text = re.sub(r"```.*?```|`[^`]*`|\]\([^)]*\)|\[Lint and diff", "", read_page("studio").text, flags=re.DOTALL)

    assert JARGON.findall(text) == []
