"""E-mail addresses and addresses of web pages."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st
from slot_helpers import found

from intentmatch.slots.internet import find_emails, find_urls


@given(st.text(st.sampled_from("ab.@:/()wé中- ,")))
def test_any_text_gives_valid_spans(text):
    for find in (find_emails, find_urls):
        for said in found(find, text):
            assert said in text
