"""Review a random sample of all answers: questions for a reviewer, and how good the answers are by the judgements."""

from intentmatch.review.labelled import labelled_tests
from intentmatch.review.quality import FEWEST, Estimate, Quality, QualityRow, quality_of
from intentmatch.review.questions import Question, Questions, all_questions, questions_of

__all__ = [
    "FEWEST",
    "Estimate",
    "Quality",
    "QualityRow",
    "Question",
    "Questions",
    "all_questions",
    "labelled_tests",
    "quality_of",
    "questions_of",
]
