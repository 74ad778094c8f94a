"""The chat model says which intent a line belongs to, without knowing the intended one."""

from __future__ import annotations

import json
from typing import Any

import pytest
from line_server import LineServer, said

from intentmatch import Matcher
from intentmatch.authoring.growing.blind_question import confirmed
from intentmatch.authoring.growing.line_filter import Proposal
from intentmatch.authoring.growing.tasks import Task
from intentmatch.authoring.growing.writer import LineWriter

TASK = Task("paraphrase", "renew_loan", "en", "Renew a loan", None, ("extend it",))
LINES = ("may I have this novel for another week", "extend my parking ticket", "when do you open")


def proposals() -> list[Proposal]:
    return [Proposal(TASK, "{x}", refused="it is a template"), *(Proposal(TASK, line, 0.9) for line in LINES)]


def titles(library: Matcher) -> dict[str, str]:
    return {intent.name: intent.title or intent.name for intent in library.registry}


def test_only_lines_taken_for_their_intent_are_kept(server: LineServer, library: Matcher) -> None:
    title = titles(library)
    server.meant = {LINES[0]: title["renew_loan"], LINES[1]: None, LINES[2]: title["opening_hours"]}

    found = confirmed(library, LineWriter(server.model), proposals())

    assert [one.refused for one in found] == [
        "it is a template",
        None,
        "the model, asked without its intent, takes it for none of the intents",
        "the model, asked without its intent, takes it for opening_hours",
    ]


def test_question_does_not_tell_the_intent(server: LineServer, library: Matcher) -> None:
    confirmed(library, LineWriter(server.model), proposals())

    (body,) = server.asked
    asked = json.loads(body["messages"][1]["content"])
    order = [*titles(library).values()]
    shown = [option["title"] for option in asked["options"]]
    assert asked.keys() == {"messages", "options"}
    assert asked["messages"] == [*LINES]
    assert shown == sorted(shown, key=order.index)
    assert {titles(library)["renew_loan"], titles(library)["opening_hours"]} <= {*shown}
    assert [option["number"] for option in asked["options"]] == [str(n) for n in range(1, len(shown) + 1)]
    items = body["response_format"]["json_schema"]["schema"]["properties"]["answers"]["items"]
    assert items["enum"] == [*(option["number"] for option in asked["options"]), "none"]


@pytest.mark.parametrize(
    "answer",
    [
        said({"answers": ["1", "1"]}),
        said({"answers": ["1", "1", "99"]}),
        said({"answers": ["1", "1", ["1"]]}),
        said({"answers": "1"}),
        said("renew_loan"),
        (503, {}, b""),
    ],
)
def test_without_an_answer_no_line_is_kept(server: LineServer, library: Matcher, answer: Any) -> None:
    server.script = [answer]

    first, *others = confirmed(library, LineWriter(server.model), proposals())

    assert first.refused == "it is a template"
    assert all("it could not be checked: the chat model" in (one.refused or "") for one in others)


def test_no_kept_line_is_no_question(server: LineServer, library: Matcher) -> None:
    assert confirmed(library, LineWriter(server.model), proposals()[:1]) == proposals()[:1]
    assert server.asked == []
