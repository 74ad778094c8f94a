"""Lint a registry by meaning, without a test set: misplaced utterances, overlapping intents, wrong languages."""

from intentmatch.lint.catalogue import CATALOGUE, Rule
from intentmatch.lint.fixes import FIXABLE, fixes
from intentmatch.lint.run import LintReport, lint
from intentmatch.lint.sarif import to_sarif

__all__ = ["CATALOGUE", "FIXABLE", "LintReport", "Rule", "fixes", "lint", "to_sarif"]
