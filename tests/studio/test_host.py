"""Roles: an admin may do what an author may, and an author what a key for matching may."""

from __future__ import annotations

import pytest

from intentmatch.studio.host import reaches


@pytest.mark.parametrize(
    ("role", "needed", "may"),
    [
        ("admin", "author", True),
        ("author", "author", True),
        ("author", "match", True),
        ("match", "author", False),
        ("author", "admin", False),
        (None, "match", False),
    ],
)
def test_roles_are_ranked(role, needed, may):
    assert reaches(role, needed) is may
