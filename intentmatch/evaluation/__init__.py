"""How often the answers are right: held-out utterances, test cases, numbers, reports and the gate."""

from intentmatch.evaluation.reports.report import Part, Report, read_report
from intentmatch.evaluation.run import evaluate, held_out, on_cases

__all__ = ["Part", "Report", "evaluate", "held_out", "on_cases", "read_report"]
