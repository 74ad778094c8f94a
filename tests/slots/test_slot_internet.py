"""E-mail addresses and addresses of web pages."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from slot_helpers import found

from intentmatch.slots.internet import EmailFinder, UrlFinder


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("mail anna@Example.COM.", {"anna@Example.COM": "anna@example.com"}),
        ("<j.doe+news@mail.example.co.uk>", {"j.doe+news@mail.example.co.uk": "j.doe+news@mail.example.co.uk"}),
        ("a@b.example, c@d.example", {"a@b.example": "a@b.example", "c@d.example": "c@d.example"}),
        ("我的邮箱是wang@lizi.cn谢谢", {"wang@lizi.cn": "wang@lizi.cn"}),
        ("почта@пример.рф", {"почта@пример.рф": "почта@пример.рф"}),
        ("info@münchen.example", {"info@münchen.example": "info@münchen.example"}),
        ("@anna", {}),
        ("anna@home", {}),
        ("a@@b.example", {}),
        ("", {}),
    ],
)
def test_email_addresses_are_found(text, expected):
    assert found(EmailFinder(), text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("see www.example.com.", {"www.example.com": "https://www.example.com"}),
        ("(http://example.org/a_(b)?c=d#e)", {"http://example.org/a_(b)?c=d#e": "http://example.org/a_(b)?c=d#e"}),
        ("shop.example.de/angebote, bitte", {"shop.example.de/angebote": "https://shop.example.de/angebote"}),
        ("example.com:8080", {"example.com:8080": "https://example.com:8080"}),
        ("访问www.lizi.cn谢谢", {"www.lizi.cn": "https://www.lizi.cn"}),
        ("ftp://files.example/x", {"ftp://files.example/x": "ftp://files.example/x"}),
        ("write to info@example.com", {}),
        ("e.g. at 8 p.m. or 12.30", {}),
        ("see you.So long", {}),
        ("version 1.2.3", {}),
    ],
)
def test_web_addresses_are_found(text, expected):
    assert found(UrlFinder(), text) == expected


@given(st.text(st.sampled_from("ab.@:/()wé中- ,")))
def test_any_text_gives_valid_spans(text):
    for finder in (EmailFinder(), UrlFinder()):
        for said in found(finder, text):
            assert said in text


@pytest.mark.parametrize("text", ["a..b@example.com", "foo@bar@baz.com"])
def test_part_of_a_wrong_address_is_no_address(text):
    assert found(EmailFinder(), text) == {}
