"""The prediction API of Azure's conversational language understanding (CLU), for its SDKs and other clients.

Without a matched intent, the top intent is `None`, and the others keep their scores. `projectName` names the bot;
`deploymentName` and `verbose` are ignored: the response is always verbose.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Mapping
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Request
from pydantic import BeforeValidator
from starlette.responses import JSONResponse, Response

from intentmatch.core.result import Entity, MatchResult
from intentmatch.core.types import SlotKind, Value
from intentmatch.matching.matcher import Matcher
from intentmatch.matching.options import MatchOptions
from intentmatch.server.auth.authorisation import authorised, bearer
from intentmatch.server.protocols.host import Body, Protocol, ProtocolHost, confidence, read, refused
from intentmatch.server.routes.schemas.problem_details import ProblemDetails

NONE = "None"
_NO_KEY = "Access denied due to invalid subscription key or wrong API endpoint."
_CODES = {
    401: "Unauthorized",
    403: "Forbidden",
    404: "NotFound",
    409: "Conflict",
    429: "TooManyRequests",
    503: "ServiceUnavailable",
}


def _index_type(given: Any) -> Any:
    """Normalize case and number: the SDKs disagree on the name."""
    name = given.lower() if isinstance(given, str) else given
    return "textelements_v8" if name == "textelement_v8" else name


class _Item(Body):
    text: str
    language: str | None = None
    modality: Literal["text"] = "text"


class _Input(Body):
    conversation_item: _Item


class _Parameters(Body):
    project_name: str
    string_index_type: Annotated[
        Literal["textelements_v8", "unicodecodepoint", "utf16codeunit"], BeforeValidator(_index_type)
    ] = "textelements_v8"


class _Task(Body):
    kind: Literal["Conversation"]
    analysis_input: _Input
    parameters: _Parameters


def protocol(host: ProtocolHost) -> Protocol:
    """Make the route of CLU."""
    router = APIRouter(include_in_schema=False)

    @router.post("/language/:analyze-conversations")
    async def analyze(request: Request) -> Response:
        # Azure's SDKs send a key in this header, and a token of its identity service as a bearer.
        if not authorised(request, request.headers.get("ocp-apim-subscription-key") or bearer(request)):
            raise refused(401, _NO_KEY)
        task = await read(request, _Task)
        bot = await host.bot(request, task.parameters.project_name)
        item = task.analysis_input.conversation_item
        # CLU ranks every intent, however many.
        options = MatchOptions(item.language or None, top_k=max(1, len(bot.matcher.registry)))
        result = await host.match(bot, item.text, options)
        prediction = _prediction(result, bot.matcher, _COUNTED[task.parameters.string_index_type])
        found = {"query": result.message, "detectedLanguage": result.language, "prediction": prediction}
        if result.language is None:
            # The SDKs take the key for a text: it is left out, and not null.
            del found["detectedLanguage"]
        return JSONResponse({"kind": "ConversationResult", "result": found})

    return Protocol(router, re.compile(r"/language/.*"), _shape, names_bots=True)


def _prediction(result: MatchResult, bot: Matcher, counted: Callable[[str], int]) -> dict[str, Any]:
    scores = {candidate.intent: confidence(candidate) for candidate in result.candidates}
    # The rest of the probability is for no intent.
    scores.setdefault(NONE, 1.0 - max(scores.values(), default=0.0))
    ranked = sorted(scores, key=scores.__getitem__, reverse=True)
    if result.intent is not None:
        # The verdict goes before the numbers: clients act on the first entry.
        ranked.remove(result.intent)
        ranked.insert(0, result.intent)
    kinds = _kinds(result, bot)
    return {
        "topIntent": result.intent or NONE,
        "projectKind": "Conversation",
        "intents": [{"category": name, "confidenceScore": scores[name]} for name in ranked],
        "entities": [_entity(each, kinds.get(each.slot), result.message, counted) for each in result.entities],
    }


def _kinds(result: MatchResult, bot: Matcher) -> dict[str, SlotKind]:
    """Kinds of the slots of the matched intent; empty if a reload has removed it in the meantime."""
    return {slot.name: slot.kind for intent in bot.registry if intent.name == result.intent for slot in intent.slots}


def _entity(entity: Entity, kind: SlotKind | None, message: str, counted: Callable[[str], int]) -> dict[str, Any]:
    offset = counted(message[: entity.start])
    return {
        "category": entity.slot,
        "text": entity.text,
        "offset": offset,
        "length": counted(message[: entity.end]) - offset,
        # A slot is found or not, but the SDKs demand a number.
        "confidenceScore": 1.0,
        **_resolved(entity.value, kind),
    }


def _resolved(value: Value, kind: SlotKind | None) -> dict[str, Any]:
    """The value of an entity, if CLU has values of its kind."""
    if kind in _RESOLUTIONS:
        found = _RESOLUTIONS[kind](value)
        return {"resolutions": [found]} if found else {}
    if kind == "list":
        return {"extraInformation": [{"extraInformationKind": "ListKey", "key": str(value)}]}
    if kind == "number":
        number = "Integer" if isinstance(value, int) else "Decimal"
        return {"resolutions": [{"resolutionKind": "NumberResolution", "numberKind": number, "value": value}]}
    if kind in ("date", "time"):
        found = {"resolutionKind": "DateTimeResolution", "dateTimeSubKind": kind.capitalize()}
        timex = f"T{value}" if kind == "time" else str(value)
        return {"resolutions": [{**found, "timex": timex, "value": str(value)}]}
    return {}


def _money(value: Value) -> dict[str, Any]:
    if not isinstance(value, Mapping):
        return {}
    currency = {"unit": value["currency"] or "", "ISO4217": value["currency"]}
    return {"resolutionKind": "CurrencyResolution", **currency, "value": value["amount"]}


def _temperature(value: Value) -> dict[str, Any]:
    if not isinstance(value, Mapping):
        return {}
    unit = _TEMPERATURES.get(str(value["unit"]), "Unspecified")
    return {"resolutionKind": "TemperatureResolution", "unit": unit, "value": value["amount"]}


def _ordinal(value: Value) -> dict[str, Any]:
    place = {"offset": "0", "relativeTo": "End"} if value == -1 else {"offset": str(value), "relativeTo": "Start"}
    return {"resolutionKind": "OrdinalResolution", **place, "value": str(value)}


def _duration(value: Value) -> dict[str, Any]:
    return {
        "resolutionKind": "DateTimeResolution",
        "dateTimeSubKind": "Duration",
        "timex": str(value),
        "value": str(value),
    }


def _moment(value: Value) -> dict[str, Any]:
    if isinstance(value, Mapping):
        begin, end = str(value["from"]), str(value["to"])
        timex = f"({begin},{end})"
        return {"resolutionKind": "TemporalSpanResolution", "timex": timex, "begin": begin, "end": end}
    sub = "DateTime" if "T" in str(value) else "Date"
    return {
        "resolutionKind": "DateTimeResolution",
        "dateTimeSubKind": sub,
        "timex": str(value),
        "value": str(value).replace("T", " "),
    }


_TEMPERATURES = {"C": "Celsius", "F": "Fahrenheit", "K": "Kelvin"}
_RESOLUTIONS: Mapping[SlotKind | None, Callable[[Value], dict[str, Any]]] = {
    "money": _money,
    "temperature": _temperature,
    "ordinal": _ordinal,
    "duration": _duration,
    "datetime": _moment,
}
"""Kinds with a resolution of their own in CLU."""


def _utf16(text: str) -> int:
    return len(text.encode("utf-16-le", "surrogatepass")) // 2


def _text_elements(text: str) -> int:
    """Count user-perceived characters by the rules of Unicode 8.0, which did not join emoji."""
    return sum(not _joined(before, char) for before, char in zip("\n" + text, text, strict=False))


def _joined(before: str, char: str) -> bool:
    """Whether there is no boundary between two characters."""
    if _is_control(before) or _is_control(char):
        return before + char == "\r\n"
    # Marks and joiners extend what is before them; so do two vowels of Thai and Lao, which are
    # letters by category (UAX #29).
    if unicodedata.category(char).startswith("M") or char in "\u200c\u200d\u0e33\u0eb3":
        return True
    return (_part(before), _part(char)) in _INSEPARABLE


def _is_control(char: str) -> bool:
    return unicodedata.category(char) in ("Cc", "Cf", "Cs", "Zl", "Zp") and char not in "\u200c\u200d"


def _part(char: str) -> str:
    """Part of a Korean syllable that a character is, or half of a flag."""
    if "\uac00" <= char <= "\ud7a3":
        # Unicode orders syllables by their parts: 27 finals follow each syllable without one.
        return "LV" if (ord(char) - 0xAC00) % 28 == 0 else "LVT"
    return next((part for part, first, last in _PARTS if first <= char <= last), "")


_PARTS = (
    ("L", "\u1100", "\u115f"),
    ("L", "\ua960", "\ua97c"),
    ("V", "\u1160", "\u11a7"),
    ("V", "\ud7b0", "\ud7c6"),
    ("T", "\u11a8", "\u11ff"),
    ("T", "\ud7cb", "\ud7fb"),
    ("flag", "\U0001f1e6", "\U0001f1ff"),
)
_INSEPARABLE = {
    *(("L", after) for after in ("L", "V", "LV", "LVT")),
    *((before, after) for before in ("V", "LV") for after in ("V", "T")),
    *((before, "T") for before in ("T", "LVT")),
    # Any number of halves is one element in Unicode 8; pairs came with version 9.
    ("flag", "flag"),
}
_COUNTED: Mapping[str, Callable[[str], int]] = {
    "textelements_v8": _text_elements,
    "unicodecodepoint": len,
    "utf16codeunit": _utf16,
}


def _shape(details: ProblemDetails) -> Response:
    # Azure has no 422.
    status = 400 if details.status == 422 else details.status
    code = _CODES.get(status, "InvalidRequest" if status < 500 else "InternalServerError")
    error: dict[str, Any] = {"code": code, "message": details.detail}
    if details.errors and status == 400:
        error["code"] = "InvalidArgument"
        error["details"] = [
            {"code": "InvalidArgument", "message": item.message, "target": item.location} for item in details.errors
        ]
    return JSONResponse({"error": error}, status)
