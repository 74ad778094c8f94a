"""The digest of files."""

from __future__ import annotations

from intentmatch.authoring.revisions import digest_of


def test_digest_changes_with_names_and_contents_but_not_with_order() -> None:
    one = {"a": b"x", "b": b"y"}
    others = [{"a": b"x"}, {"a": b"y", "b": b"x"}, {"a": b"x", "c": b"y"}, {"a:b": b"", "": b""}, {}]

    digests = {digest_of(files) for files in (one, *others)}

    assert len(digests) == 6
    assert digest_of({"b": b"y", "a": b"x"}) == digest_of(one)
