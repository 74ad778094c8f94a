"""The words of authors in place of those of machine learning."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from driven_studio import JARGON

import intentmatch
from intentmatch.cli.guide import read_page
from intentmatch.core.types import Case
from intentmatch.evaluation.outcomes import Outcome
from intentmatch.studio import wording
from intentmatch.studio.wording import answer_in_words, outcome_in_words, plainly, reason_in_words

PACKAGE = Path(intentmatch.__file__).parent
# Faces of their own, whose words no screen of the studio shows. All others may meet an author, such as the reasons of
# `evaluation.compare`, which a dialog shows.
OTHER_FACES = (
    "adaptation",
    "cli",
    "deploy",
    "evaluation/reports",
    "formats",
    "integrations",
    "server/process",
    "server/routes",
)


@pytest.mark.parametrize(
    ("text", "plain"),
    [
        ("an utterance has no words", "an example has no words"),
        ("list some below `utterances:` with the key `de`", "list some among the examples with the key `de`"),
        ("write `utterances:` above the list", "write `utterances:` above the list"),
        ("“my utterance” is also an utterance of 'utterance'", "“my utterance” is also an example of 'utterance'"),
        ("list the other intent's utterances under `not:`", "list the other intent's examples under `not:`"),
        ("held-out utterances · training the head", "left out examples · training the classifier"),
        ("ahead of refund", "ahead of refund"),
        ("Restore revision 4", "Restore version 4"),
        ("there is no mend; it must be mended alone", "there is no fix; it must be fixed alone"),
        ("add a test of out of scope", "add a test of no intent"),
        (
            "its threshold changed from 84% in scope to 83% in scope",
            "its threshold changed from 84% for any intent to 83% for any intent",
        ),
    ],
)
def test_only_what_is_not_quoted_is_reworded(text, plain):
    assert plainly(text) == plain


def test_reasons_have_no_words_of_statistics_and_keep_the_key():
    text = "b has a confidence of 30%, below the threshold 65% (its `threshold`)"

    assert reason_in_words(text) == "b has a certainty of 30%, below the mark 65% (its `threshold`)"


@pytest.mark.parametrize(
    ("answer", "says"),
    [("refund", "refund"), ("out_of_scope", "no intent"), (None, "no intent"), ("ambiguous", "asks back")],
)
def test_answers_without_an_intent_have_words(answer, says):
    assert answer_in_words(answer) == says


@pytest.mark.parametrize(
    ("verdict", "intent", "rivals", "says"),
    [
        ("matched", "refund", (), "refund"),
        ("out_of_scope", None, (), "no intent"),
        ("ambiguous", None, ("refund", "cancel_order"), "asks about refund or cancel_order"),
        ("ambiguous", None, (), "asks back"),
    ],
)
def test_effect_tells_a_question_from_no_intent(verdict, intent, rivals, says):
    """A message that the bot asked about before, and now answers, is no message that it did not understand."""
    outcome = Outcome(Case("my money", None, "en"), verdict, intent, "refund", rivals, 0.5, 0.5, None)

    assert outcome_in_words(outcome) == says


def test_help_has_the_words_of_the_screens():
    """Names of commands and pages are in backticks and links."""
    text = re.sub(r"```.*?```|`[^`]*`|\]\([^)]*\)|\[Lint and diff", "", read_page("studio").text, flags=re.DOTALL)

    assert JARGON.findall(text) == []


def texts_of(file: Path) -> Iterator[str]:
    """Yield the texts of a module that look like words for people; what is filled in is a dot."""
    tree = ast.parse(file.read_text(encoding="utf-8"))
    documents = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    parts = {id(part) for node in ast.walk(tree) if isinstance(node, ast.JoinedStr) for part in node.values}
    for node in ast.walk(tree):
        text = ""
        if isinstance(node, ast.JoinedStr):
            text = "".join(str(part.value) if isinstance(part, ast.Constant) else "." for part in node.values)
        elif isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in documents | parts:
            text = node.value
        if (" " in text or text.istitle()) and not text.startswith("<!doctype"):
            yield re.sub("`[^`]*`", "", text)


def test_no_text_of_the_studio_has_words_that_authors_need_not_know():
    """Tooltips, dialogs, empty states and errors, also those that no walk through the screens meets."""
    texts = [text for file in sorted((PACKAGE / "studio").glob("*.py")) for text in texts_of(file)]
    texts = [text for text in texts if text not in wording._PLAIN]

    assert len(texts) > 300
    assert [text for text in texts if JARGON.findall(text)] == []


def test_errors_and_findings_are_reworded():
    others = [PACKAGE / name for name in (*OTHER_FACES, "studio")]
    files = [file for file in sorted(PACKAGE.rglob("*.py")) if not any(map(file.is_relative_to, others))]
    texts = [text for file in files for text in texts_of(file)]

    assert len(texts) > 2500
    assert [text for text in map(plainly, texts) if JARGON.findall(text)] == []
