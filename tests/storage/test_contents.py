"""The digest of a registry's files."""

from __future__ import annotations

import pytest

from intentmatch.storage.contents import digest_of


def test_order_of_files_does_not_matter():
    assert digest_of({"a": b"1", "b": b"2"}) == digest_of({"b": b"2", "a": b"1"})


@pytest.mark.parametrize(
    "other", [{}, {"a": b"12"}, {"a": b"1", "b": b"3"}, {"ab": b"1", "": b"2"}, {"a": b"2", "b": b"1"}]
)
def test_every_byte_and_name_matters(other):
    assert digest_of(other) != digest_of({"a": b"1", "b": b"2"})
