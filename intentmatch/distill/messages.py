"""What the parts of messages do: labelled messages in many languages and domains, to train and to measure on.

`messages/` holds a file for each language, written for this purpose; in a wheel they are one archive. Every third
domain and some languages are kept aside for measuring.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any, Literal, NamedTuple
from zipfile import Path as PackedPath

import yaml

from intentmatch.reading.answers import ANSWERS, Answer
from intentmatch.reading.dialogue_acts import Act

FOLDER = Path(__file__).parent / "messages"
HELD_OUT_LANGUAGES = ("bn", "fi", "hu", "id", "ro")
HELD_OUT_DOMAINS = ("cooking", "education", "health", "insurance", "sports", "transport")

Part = Literal["train", "measure"]

_LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
# Every third of the lists without a domain is kept aside.
_KEPT_ASIDE = 3
_ACT_OF: Mapping[str, Act | None] = {
    "request": None,
    "refuses": "refuses",
    "settled": "settled",
    "tale": "tale",
}
_WITHOUT_DOMAIN: Mapping[str, Act | None] = {
    "chat": "courtesy",
    "leads": "courtesy",
    "depends": "depends",
    "stands": None,
    "short": None,
    "questions": None,
    "people": None,
    "polite": None,
    "problems": None,
    # What others do, and what is done, beside requests in the same words.
    "undecided": "undecided",
    "reported": "settled",
    "like_reported": None,
}
# This domain is a source of its own: its words ("I agree") were met in refusals more than in requests, and its requests
# answer a question with yes or no as well.
_CONSENT = "consent"


class LabelledMessage(NamedTuple):
    """A message of one part, or a frame with its words."""

    text: str
    language: str
    act: Act | None
    """What it does; None for a request."""
    domain: str = ""
    frame: str = ""
    """Only with frames: what the words around the action say, with `{action}` or `{request}`."""
    source: str = "messages"
    """Sources weigh the same."""


LEADS = "leads"
"""The source of what people say before a request: "so I just wanted to ask"."""

# Requests with words of statements ("forgot my password again", "call my brother") or of courtesy ("I'd be grateful for
# the bill") and problems in the words of settled matters ("the jacket came with a torn sleeve") are drawn more often
# than they would be among the messages.
_SOURCE_OF = (
    {"leads": LEADS, "polite": "polite", "problems": "problems"}
    | dict.fromkeys(("short", "questions", "people"), "like statements")
    | dict.fromkeys(("undecided", "reported", "like_reported"), "reported")
)

ORDINARY = "ordinary"
"""The source of messages that are no answers."""


class LabelledAnswer(NamedTuple):
    """An answer to a yes-or-no question."""

    text: str
    language: str
    answer: Answer
    source: str = "answers"
    """Sources weigh the same."""


class LabelledValue(NamedTuple):
    """An answer with a value at `text[start:end]`."""

    text: str
    language: str
    start: int
    end: int
    gives: bool
    """Whether the answer gives the value: "Friday works", but not "Friday is too late"."""


def languages() -> list[str]:
    """Return the codes of the languages that have labelled messages."""
    return sorted(file.name.removesuffix(".yaml") for file in _folder().iterdir() if file.name.endswith(".yaml"))


@lru_cache(1)
def joining_words() -> Mapping[str, Sequence[str]]:
    """Return by language what people put between two parts of a message: "and", "also"."""
    return {language: _content(language)["joins"] for language in languages()}


@lru_cache(2)
def read_messages(part: Part) -> list[LabelledMessage]:
    """Return the messages to train on, or those that are kept aside."""
    return [message for language, aside in _languages_of(part) for message in _of_language(language, part, aside=aside)]


@lru_cache(2)
def read_answers(part: Part) -> list[LabelledAnswer]:
    """Return the answers to train on, or those that are kept aside; ordinary messages are no answers."""
    found = []
    for language, aside in _languages_of(part):
        lists = _content(language)["answers"]
        for answer in ANSWERS:
            texts = _chosen(lists.get(answer, ()), part, whole=aside)
            found += [LabelledAnswer(text, language, answer) for text in texts]
    # "Don't cancel it" is an answer to "Shall I cancel it?"; what is settled or told is none. Actions and tales may be
    # what was asked for: "renew the passport" is a note.
    actions = {
        action for code in languages() for one in _content(code)["domains"].values() for action in one["actions"]
    }
    for message in read_messages(part):
        if message.frame or message.domain == _CONSENT:
            continue
        if message.act in (None, "settled", "tale"):
            may_be_value = message.act == "tale" or message.text in actions
            found.append(
                LabelledAnswer(message.text, message.language, "value" if may_be_value else "neither", ORDINARY)
            )
        elif message.act == "courtesy" and message.source != LEADS:
            found.append(LabelledAnswer(message.text, message.language, "neither", "courtesy"))
    return found


def read_values(part: Part) -> list[LabelledValue]:
    """Return the answers with values to train on, or those that are kept aside."""
    found = []
    for language, aside in _languages_of(part):
        lists = _content(language)["values"]
        for key in ("gives", "denies"):
            for line in _chosen(lists[key], part, whole=aside):
                before, value, behind = re.split(r"[\[\]]", line)
                start, end = len(before), len(before) + len(value)
                found.append(LabelledValue(before + value + behind, language, start, end, key == "gives"))
    return found


def _languages_of(part: Part) -> list[tuple[str, bool]]:
    """Return the languages that a part has messages of, and whether all of a language is kept aside."""
    found = [(language, language in HELD_OUT_LANGUAGES) for language in languages()]
    return [(language, aside) for language, aside in found if part == "measure" or not aside]


def _of_language(language: str, part: Part, *, aside: bool) -> Iterator[LabelledMessage]:
    content = _content(language)
    domains = {
        name: lists
        for name, lists in content["domains"].items()
        if aside or (name in HELD_OUT_DOMAINS) == (part == "measure")
    }
    for name, lists in domains.items():
        for key, act in _ACT_OF.items():
            source = _CONSENT if name == _CONSENT and act in (None, "refuses") else "messages"
            yield from (LabelledMessage(text, language, act, name, source=source) for text in lists[key])
    frames = {
        key: _chosen(content["frames"][key], part, whole=aside) for key in ("refuses", "request", "settled", "retracts")
    }
    for name, lists in domains.items():
        for number, action in enumerate(lists["actions"]):
            yield LabelledMessage(action, language, None, name)
            for key in ("refuses", "request", "settled"):
                # A third of the frames for each action is enough to measure, and every frame is measured with some.
                some = frames[key] if part == "train" else frames[key][number % 3 :: 3]
                yield from (
                    LabelledMessage(frame.replace("{action}", action), language, _ACT_OF[key], name, frame)
                    for frame in some
                )
        for number, request in enumerate(lists["request"]):
            some = frames["retracts"] if part == "train" else frames["retracts"][number % 3 :: 3]
            yield from (
                LabelledMessage(frame.replace("{request}", request.rstrip(".!? ")), language, "refuses", name, frame)
                for frame in some
            )
    for key, act in _WITHOUT_DOMAIN.items():
        texts = _chosen(content[key], part, whole=aside)
        yield from (LabelledMessage(text, language, act, source=_SOURCE_OF.get(key, "messages")) for text in texts)


def _content(language: str) -> dict[str, Any]:
    content: dict[str, Any] = yaml.load((_folder() / f"{language}.yaml").read_text("utf-8"), _LOADER)  # noqa: S506 - safe
    return content


def _folder() -> Path | PackedPath:
    return FOLDER if FOLDER.is_dir() else PackedPath(FOLDER.with_suffix(".zip"), "messages/")


def _chosen(lines: Sequence[str], part: Part, *, whole: bool) -> list[str]:
    if whole:
        return list(lines)
    return [line for n, line in enumerate(lines) if (n % _KEPT_ASIDE == _KEPT_ASIDE - 1) == (part == "measure")]
