"""The protocols that bots already speak. One file each: its routes, and the shape of its errors.

None is there unless it is asked for. Their routes are not in the OpenAPI document: their owners describe them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

from intentmatch.core.errors import InputError, UnknownNameError
from intentmatch.server.protocols import clu, dialogflow, openai, rasa
from intentmatch.server.protocols.host import Host, Protocol

PROTOCOLS: Mapping[str, Callable[[Host], Protocol]] = {
    "rasa": rasa.protocol,
    "clu": clu.protocol,
    "dialogflow": dialogflow.protocol,
    "openai": openai.protocol,
}


def load(names: Iterable[str], host: Host) -> list[Protocol]:
    """The protocols of these names. Raises `InputError` where one is unknown or the host has what it cannot use."""
    wanted = list(dict.fromkeys(names))
    for name in wanted:
        if name not in PROTOCOLS:
            raise UnknownNameError("protocol", name, list(PROTOCOLS))
    if host.fulfillment is not None and "dialogflow" not in wanted:
        raise InputError("fulfillment goes with the protocol dialogflow")
    return [PROTOCOLS[name](host) for name in wanted]
