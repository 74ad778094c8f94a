"""The health of a registry by meaning, before there is any test set."""

from intentmatch.lint.catalogue import CATALOGUE, Rule
from intentmatch.lint.run import Report, lint
from intentmatch.lint.sarif import to_sarif

__all__ = ["CATALOGUE", "Report", "Rule", "lint", "to_sarif"]
