"""Measure accuracy: cross-validation, test cases, metrics, reports and pass/fail checks."""

from intentmatch.evaluation.reports.report import Report, ReportPart, read_report
from intentmatch.evaluation.run import evaluate, held_out, on_cases

__all__ = ["Report", "ReportPart", "evaluate", "held_out", "on_cases", "read_report"]
