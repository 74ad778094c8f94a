"""Addresses of clients, as limits count them."""

from __future__ import annotations

import ipaddress
from collections.abc import Collection

from intentmatch.core.errors import InputError

Address = ipaddress.IPv4Address | ipaddress.IPv6Address


def parsed(address: str) -> Address | None:
    """Return an IP address, that of IPv4 inside IPv6 as IPv4; None for anything else, such as the name of a socket."""
    try:
        # A link-local address of IPv6 may carry the zone of its interface (`fe80::1%eth0`), which is in no network.
        found = ipaddress.ip_address(address.partition("%")[0])
    except ValueError:
        return None
    return (found.ipv4_mapped or found) if isinstance(found, ipaddress.IPv6Address) else found


def without_brackets(host: str) -> str:
    """Return a host, an address of IPv6 without the brackets that it has in a URL."""
    return host[1:-1] if host.startswith("[") and host.endswith("]") else host


def source_of(address: str) -> str:
    """Return what counts as one address: all of a /64 network of IPv6, because one customer gets that many."""
    found = parsed(address)
    if found is None:
        return address
    return str(found) if found.version == 4 else str(ipaddress.ip_network((found, 64), strict=False))


def checked_proxies(texts: Collection[str]) -> list[str]:
    """Return addresses and networks of proxies as a list. Raises `InputError` for any other text but `*`.

    Uvicorn takes it for the name of a socket, and then believes no proxy.
    """
    for text in texts:
        try:
            _ = text == "*" or ipaddress.ip_network(text)
        except ValueError as error:
            raise InputError(
                f"a trusted proxy must be an address such as 10.0.0.5, a network such as 10.0.0.0/8, or *; not {text!r}"
                f" ({error})"
            ) from None
    return list(texts)


class Networks:
    """IP addresses and networks, such as `10.0.0.5` and `10.0.0.0/8`; `*` is all of them. Other texts hold nothing."""

    def __init__(self, texts: Collection[str]) -> None:
        self._all = "*" in texts
        self._v4: list[ipaddress.IPv4Network] = []
        self._v6: list[ipaddress.IPv6Network] = []
        for text in texts:
            try:
                network = ipaddress.ip_network(text, strict=False)
            except ValueError:
                continue
            if isinstance(network, ipaddress.IPv4Network):
                self._v4.append(network)
            else:
                self._v6.append(network)

    def __contains__(self, address: str) -> bool:
        if self._all:
            return True
        found = parsed(address)
        if isinstance(found, ipaddress.IPv4Address):
            return any(found in network for network in self._v4)
        return found is not None and any(found in network for network in self._v6)
