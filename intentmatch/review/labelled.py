"""Judged messages as test cases, from which a build may learn (`out_of_scope_share: tests`)."""

from __future__ import annotations

from pathlib import Path

from intentmatch.core.types import Registry
from intentmatch.inbox.sample import LEAST_PRIORITY
from intentmatch.registry.editing.edits import AddTest
from intentmatch.review.questions import Questions
from intentmatch.text.normalize import fold


def labelled_tests(questions: Questions, registry: Registry, *, file: Path | None = None) -> list[AddTest]:
    """Return an edit for each judged message that may stand for all messages, except for tests that exist.

    Doubtful messages are asked first, so that all judged ones together are unlike the messages of users. Those whose
    random number would have been small enough for any priority are a simple random sample; the more questions are
    answered, the more of them there are. A message that means an intent the registry lacks is left out.
    """
    known = {fold(case.text) for case in registry.tests}
    edits: list[AddTest] = []
    for question, _ in questions.judgements:
        chance = min(one.chance for one in question.answers)
        # A message of the least priority would still have been asked: its doubtfulness had no part in it.
        if chance / LEAST_PRIORITY >= questions.threshold or not question.text or fold(question.text) in known:
            continue
        if question.expected is None or question.expected in registry:
            edits.append(AddTest(question.text, question.expected, question.language, file))
    return edits
