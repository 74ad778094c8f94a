"""Protocols by name. Each is off unless the server is asked for it.

Their routes are not in the OpenAPI document: their vendors describe them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace

from intentmatch.core.errors import InputError, UnknownNameError
from intentmatch.server.protocols import clu, decisions, dialogflow, openai, rasa, systemone
from intentmatch.server.protocols.host import Protocol, ProtocolHost

PROTOCOLS: Mapping[str, Callable[[ProtocolHost], Protocol]] = {
    "rasa": rasa.protocol,
    "clu": clu.protocol,
    "dialogflow": dialogflow.protocol,
    "openai": openai.protocol,
    "systemone": systemone.protocol,
    "decisions": decisions.protocol,
}


def load_protocols(names: Iterable[str], host: ProtocolHost) -> list[Protocol]:
    """Return the protocols of these names, each once.

    Raises `InputError` for an unknown name, and for a host with a fulfillment URL but no Dialogflow.
    """
    wanted = list(dict.fromkeys(names))
    for name in wanted:
        if name not in PROTOCOLS:
            raise UnknownNameError("protocol", name, list(PROTOCOLS))
    # Without the protocol, the webhook would never be called, and nobody would be told.
    if host.fulfillment is not None and "dialogflow" not in wanted:
        raise InputError("fulfillment goes with the protocol dialogflow")
    host = replace(host, protocols=frozenset(wanted))
    return [PROTOCOLS[name](host) for name in wanted]
