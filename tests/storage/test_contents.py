"""The digest of a registry's files."""

from __future__ import annotations

import pytest

from intentmatch.core.errors import InputError
from intentmatch.storage.contents import checked_name, digest_of


def test_order_of_files_does_not_matter():
    assert digest_of({"a": b"1", "b": b"2"}) == digest_of({"b": b"2", "a": b"1"})


@pytest.mark.parametrize(
    "other", [{}, {"a": b"12"}, {"a": b"1", "b": b"3"}, {"ab": b"1", "": b"2"}, {"a": b"2", "b": b"1"}]
)
def test_every_byte_and_name_matters(other):
    assert digest_of(other) != digest_of({"a": b"1", "b": b"2"})


@pytest.mark.parametrize("name", ["a.yaml", "more/b c.yml", "ü.yaml", ".hidden.yaml"])
def test_names_inside_the_folder(name):
    assert checked_name(name) == name


@pytest.mark.parametrize(
    "name",
    ["", "/etc/a.yaml", "../a.yaml", "a/../../b.yaml", "./a.yaml", "a//b.yaml", "a\\b.yaml", "c:a.yaml", "a\n.yaml"],
)
def test_names_that_could_lie_outside(name):
    with pytest.raises(InputError, match="not a valid name"):
        checked_name(name)
