"""Addresses as limits count them."""

from __future__ import annotations

import pytest

from intentmatch.server.addresses import Networks, source_of


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("10.0.0.1", "10.0.0.1", True),
        ("10.0.0.1", "10.0.0.2", False),
        ("::ffff:10.0.0.1", "10.0.0.1", True),
        ("2001:db8::1", "2001:db8::ffff:1", True),
        ("2001:db8::1", "2001:db8:0:1::1", False),
        ("fe80::1%eth0", "fe80::2", True),
        ("testclient", "testclient", True),
        ("testclient", "", False),
    ],
)
def test_addresses_of_one_source(one: str, other: str, same: bool) -> None:
    assert (source_of(one) == source_of(other)) is same


@pytest.mark.parametrize(
    ("texts", "address", "inside"),
    [
        (["10.0.0.5"], "10.0.0.5", True),
        (["10.0.0.5"], "10.0.0.6", False),
        (["10.0.0.0/8"], "::ffff:10.1.2.3", True),
        (["2001:db8::/32"], "2001:db8::1", True),
        (["2001:db8::/32"], "10.0.0.5", False),
        (["*"], "anything", True),
        (["proxy.example", ""], "10.0.0.5", False),
        (["proxy.example"], "proxy.example", False),
        ([], "10.0.0.5", False),
    ],
)
def test_networks_hold_their_addresses(texts: list[str], address: str, inside: bool) -> None:
    assert (address in Networks(texts)) is inside
