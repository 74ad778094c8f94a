"""What the distribution says of itself: version, changelog, extras, files."""

from __future__ import annotations

import re

import pytest
from documents import ROOT, Document, extras_known, why_broken

import intentmatch

PYPROJECT = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
CHANGELOG = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
ALONE = {"rasa"}
"""Extras that cannot be installed beside the others; pyproject.toml says why."""


def test_the_changelog_begins_with_what_is_unreleased_and_this_version():
    """Each version with its date, newest first."""
    headings = re.findall(r"^## \[([^\]]+)\](?: - (\d{4}-\d{2}-\d{2}))?$", CHANGELOG, re.MULTILINE)

    assert headings[0] == ("Unreleased", "")
    assert headings[1][0] == intentmatch.__version__
    assert all(date for _, date in headings[1:])
    assert len(headings) == CHANGELOG.count("\n## ")


def test_the_changelog_names_kinds_of_changes():
    """Those of Keep a Changelog."""
    kinds = set(re.findall(r"^### (.+)$", CHANGELOG, re.MULTILINE))

    assert kinds <= {"Added", "Changed", "Deprecated", "Removed", "Fixed", "Security"}


def test_the_extra_all_is_all_that_can_be_installed_together():
    """Directly, or by an extra that includes it."""
    known = extras_known()
    included, todo = set(), ["all"]
    while todo:
        name = todo.pop()
        included.add(name)
        todo += [extra for wanted in known[name] if wanted.name == "intentmatch" for extra in wanted.extras]

    assert included == set(known) - ALONE - {"dev"}


def test_the_source_distribution_includes_the_documents():
    """Every Markdown file at the top, and the licence."""
    section = re.search(
        r"^\[tool\.hatch\.build\.targets\.sdist\]\ninclude = \[(.*?)\]", PYPROJECT, re.DOTALL | re.MULTILINE
    )
    included = set(re.findall(r'"([^"]+)"', section[1]))

    assert {path.name for path in ROOT.glob("*.md")} | {"LICENSE", "intentmatch", "intents", "tests"} <= included
    assert all((ROOT / name).exists() for name in included)


@pytest.mark.parametrize("path", sorted(ROOT.glob("*.md")), ids=lambda path: path.name)
def test_links_lead_somewhere(path):
    """In the documents at the top as in the guide."""
    assert not [link for link in Document(path).links if why_broken(link.target, Document(path))]
