"""Who may call."""

from __future__ import annotations

import pytest
from fastapi import FastAPI, Request

from intentmatch.errors import InputError
from intentmatch.server.access import Access, authorised, bearer, checked


def request(*keys: str, **headers: str) -> Request:
    """A request to an app with these keys."""
    app = FastAPI()
    app.state.access = Access(keys)
    raw = [(name.encode(), value.encode("latin-1")) for name, value in headers.items()]
    return Request({"type": "http", "app": app, "headers": raw})


@pytest.mark.parametrize("presented", [None, "", "anything", "\ud800"])
def test_without_keys_everybody_may(presented: str | None) -> None:
    """An app that was given no keys asks for none."""
    assert authorised(request(), presented)


@pytest.mark.parametrize(
    ("presented", "may"),
    [("one", True), ("two", True), (None, False), ("", False), ("on", False), ("onetwo", False), ("öne", False),
     ("\ud800", False), ("one\0", False)],
)  # fmt: skip
def test_with_keys_one_of_them_is_needed(presented: str | None, may: bool) -> None:
    """Any of the keys, to the letter; whatever else is presented is refused and nothing worse."""
    assert authorised(request("one", "two"), presented) is may


@pytest.mark.parametrize("keys", ["secret", [""], ["ö"], ["a\nb"], ["good", "\0"]])
def test_a_key_that_no_header_can_carry_is_refused(keys: object) -> None:
    """Rather at the start than as a door that nobody can open; and the text does not tell the key."""
    with pytest.raises(InputError) as caught:
        checked(keys)
    assert "ö" not in str(caught.value)


@pytest.mark.parametrize(
    ("header", "token"),
    [("Bearer one", "one"), ("bearer  one ", "one"), ("Bearer", ""), ("Basic one", None), ("one", None), ("", None)],
)
def test_a_bearer_token_is_found(header: str, token: str | None) -> None:
    """Under its scheme, in whatever case, and under no other."""
    assert bearer(request(authorization=header)) == token
