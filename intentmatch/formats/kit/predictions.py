"""The intent in the JSON that another program answered, as query logs keep it: LUIS in version 2 and 3, CLU, Rasa."""

from __future__ import annotations

from collections.abc import Mapping

from intentmatch.core.errors import Location
from intentmatch.formats.kit.tree import Value, json_node
from intentmatch.registry.reading.nodes import NodeError


def is_json(text: str) -> bool:
    """Return whether a cell holds a JSON object instead of a response for people."""
    return _object(text) is not None


def top_intent(text: str) -> str | None:
    """Return the most likely intent of an answer in JSON; None if it names none."""
    answer = _object(text)
    if answer is None:
        return None
    # CLU's answer first, then LUIS 3's; below, LUIS 2's, that of CLU and LUIS 3, and Rasa's.
    prediction = answer["result"]["prediction"] or answer["prediction"]
    named = answer["topScoringIntent"]["intent"] or prediction["topIntent"] or answer["intent"]["name"]
    if named.is_text:
        return named.text()
    scores = _scores(prediction["intents"] or answer["intents"])
    return max(scores, key=scores.__getitem__, default=None)


def _scores(intents: Value) -> Mapping[str, float]:
    if intents.is_mapping:
        return {name: found["score"].number() or 0.0 for name, found in intents.entries()}
    found = intents.items() if intents.is_list else []
    return {each["intent"].text() or "": each["score"].number() or 0.0 for each in found if each["intent"].is_text}


def _object(text: str) -> Value | None:
    if not text.startswith("{"):
        return None
    try:
        value = Value(json_node(text, ""), Location(""))
    except NodeError:
        return None
    return value if value.is_mapping else None
