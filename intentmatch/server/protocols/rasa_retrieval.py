"""Retrieval intents of Rasa: intents such as `faq/ask_hours` are one intent `faq` with a response selector.

Rasa's classifier knows only `faq`. A response selector then chooses among `faq/...`; its choice is
`full_retrieval_intent_name` of the intent, and stands with its ranking in `response_selector`. See
https://rasa.com/docs/rasa/chitchat-faqs.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from intentmatch.core.result import Candidate, MatchResult
from intentmatch.core.types import Registry
from intentmatch.server.protocols.host import confidence

UTTER = "utter_"


def groups_of(names: Iterable[str]) -> dict[str, str]:
    """Return the retrieval intent of each full name. A retrieval intent that is an intent itself does not count."""
    known = list(names)
    own = set(known)
    groups = {name: name.partition("/")[0] for name in known if 0 < name.find("/") < len(name) - 1}
    return {name: group for name, group in groups.items() if group not in own}


def decided(result: MatchResult, groups: dict[str, str]) -> str | None:
    """Return the intent that Rasa would name, or None for its fallback.

    A message that is ambiguous between intents of one retrieval intent has this intent: Rasa's selector takes the best.
    """
    if result.verdict == "matched" and result.intent is not None:
        return groups.get(result.intent, result.intent)
    rivals = {groups.get(rival.intent) for rival in result.rivals}
    return rivals.pop() if len(result.rivals) > 1 and len(rivals) == 1 else None


def ranking(candidates: Sequence[Candidate], groups: dict[str, str]) -> list[dict[str, Any]]:
    """Return the ranking of Rasa's intents, best first.

    The confidence of a retrieval intent is the sum of those of its intents, or their best score in a registry without
    calibration. Its entry also names the best of its intents.
    """
    found: dict[str, dict[str, Any]] = {}
    for candidate in candidates:
        name = groups.get(candidate.intent, candidate.intent)
        entry = found.get(name)
        if entry is None:
            entry = found[name] = {"name": name, "confidence": confidence(candidate)}
            if name != candidate.intent:
                entry["full_retrieval_intent_name"] = candidate.intent
        elif candidate.confidence is not None:
            entry["confidence"] = min(1.0, entry["confidence"] + confidence(candidate))
    # Scores are not added up, so that their order is the order of the candidates.
    if any(candidate.confidence is None for candidate in candidates):
        return list(found.values())
    return sorted(found.values(), key=lambda entry: -entry["confidence"])


def response_selector(
    ranked: Sequence[Candidate], language: str | None, registry: Registry, groups: dict[str, str]
) -> dict[str, Any]:
    """Return the selected response and the ranking of every retrieval intent, as Rasa's response selectors do.

    Confidences are those within the retrieval intent: they add up to 1, but for scores of a registry without
    calibration.
    """
    members: dict[str, list[Candidate]] = {}
    for candidate in ranked:
        if candidate.intent in groups:
            members.setdefault(groups[candidate.intent], []).append(candidate)
    intents = {intent.name: intent for intent in registry}
    selected: dict[str, Any] = {"all_retrieval_intents": list(dict.fromkeys(groups.values()))}
    for group, candidates in members.items():
        shares = [{"confidence": share, "intent_response_key": c.intent} for c, share in _shares(candidates)]
        best = candidates[0].intent
        # Rasa answers with the name of an intent without a response.
        texts = intents[best].responses_in(language) if best in intents else ()
        selected[group] = {
            "response": {
                "responses": [{"text": text} for text in texts or (best,)],
                "confidence": shares[0]["confidence"],
                "intent_response_key": best,
                "utter_action": f"{UTTER}{best}",
            },
            "ranking": shares,
        }
    return selected


def _shares(candidates: Sequence[Candidate]) -> list[tuple[Candidate, float]]:
    values = [confidence(candidate) for candidate in candidates]
    total = sum(values)
    if total and all(candidate.confidence is not None for candidate in candidates):
        values = [value / total for value in values]
    return list(zip(candidates, values, strict=True))
