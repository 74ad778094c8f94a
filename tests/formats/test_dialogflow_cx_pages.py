"""Pages, flows and route groups of Dialogflow CX as tags, and back."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from contracts.format import read_files

from intentmatch import formats
from intentmatch.core.types import Intent, Registry, Utterance

LINES = {
    "confirm.yes": ["yes", "of course"],
    "cancel.yes": ["yes", "cancel it"],
    "small.talk": ["yes", "nice weather"],
    "help": ["help me"],
    "pay": ["pay now"],
}


def route(intent: str, **more: Any) -> dict[str, Any]:
    return {"intent": intent, **more}


def text(words: str) -> dict[str, Any]:
    return {"messages": [{"text": {"text": [words]}, "languageCode": "en"}]}


def page(name: str, *routes: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {"name": f"id of {name}", "displayName": name, "transitionRoutes": list(routes), **more}


def imported(folder: Path, flows: dict[str, Any], **agent: Any) -> formats.Imported:
    """Import an agent with the intents of `LINES` and the given files of flows."""
    files: dict[str, Any] = {"agent.json": {"defaultLanguageCode": "en", **agent}, **flows}
    for name, texts in LINES.items():
        files[f"intents/{name}/{name}.json"] = {"displayName": name}
        phrases = [{"parts": [{"text": line}]} for line in texts]
        files[f"intents/{name}/trainingPhrases/en.json"] = {"trainingPhrases": phrases}
    return read_files(folder, files)


def tags(found: formats.Imported) -> dict[str, tuple[str, ...]]:
    return {intent.name: intent.when for intent in found.registry if intent.when}


def test_intents_of_different_pages_keep_the_phrases_that_they_share(tmp_path):
    """The intent of the start flow shares its phrases with them too."""
    found = imported(
        tmp_path,
        {
            "flows/Default Start Flow/Default Start Flow.json": page("Default Start Flow", route("small.talk")),
            "flows/Default Start Flow/pages/Confirm.json": page("Confirm", route("confirm.yes")),
            "flows/Default Start Flow/pages/Cancel.json": page("Cancel", route("cancel.yes")),
        },
    )
    _, problems = formats.render(found.registry, "intentmatch")

    assert tags(found) == {"confirm.yes": ("Confirm",), "cancel.yes": ("Cancel",)}
    assert not [problem for problem in (*found.problems, *problems) if problem.rule == "conflicting-utterance"]
    assert {one.name: [line.text for line in one.utterances] for one in found.registry} == LINES
    assert [problem.severity for problem in found.problems if problem.rule == "page-tags"] == ["info"]


def test_intent_of_the_start_flow_has_no_tag_even_if_pages_name_it(tmp_path):
    found = imported(
        tmp_path,
        {
            "flows/Main/Main.json": page("Main", route("help")),
            "flows/Main/pages/Confirm.json": page("Confirm", route("help"), route("confirm.yes")),
            "flows/Main/pages/Again.json": page("Again", route("confirm.yes")),
            "flows/Pay/Pay.json": page("Pay", route("pay")),
        },
        startFlow="Main",
    )

    assert tags(found) == {"confirm.yes": ("Again", "Confirm"), "pay": ("Pay",)}


def test_pages_of_one_name_in_two_flows_have_tags_with_their_flow(tmp_path):
    found = imported(
        tmp_path,
        {
            "flows/A%2fB/A%2fB.json": page("A/B"),
            "flows/A%2fB/pages/Confirm.json": page("Confirm", route("confirm.yes")),
            "flows/Cancel/pages/Confirm.json": page("Confirm", route("cancel.yes")),
        },
    )

    assert tags(found) == {"confirm.yes": ("A/B/Confirm",), "cancel.yes": ("Cancel/Confirm",)}


@pytest.mark.parametrize("folder", ["flows/Default Start Flow/transitionRouteGroups", "agentTransitionRouteGroups"])
@pytest.mark.parametrize("listed", ["Yes", "id of Yes"])
def test_routes_of_a_group_belong_to_the_pages_that_list_it(tmp_path, folder, listed):
    """Its response is imported once."""
    found = imported(
        tmp_path,
        {
            f"{folder}/Yes.json": page("Yes", route("confirm.yes", triggerFulfillment=text("Done."))),
            "flows/Default Start Flow/pages/One.json": page("One", transitionRouteGroups=[listed]),
            "flows/Default Start Flow/pages/Two.json": page("Two", transitionRouteGroups=[listed, "Unknown"]),
        },
    )

    assert tags(found) == {"confirm.yes": ("One", "Two")}
    assert found.registry["confirm.yes"].responses == {"en": "Done."}
    assert not [problem for problem in found.problems if "several messages" in problem.message]
    assert len([problem for problem in found.problems if "flows and pages" in problem.message]) == 1


def test_target_pages_are_metadata_and_other_targets_are_reported(tmp_path):
    flow = "flows/Default Start Flow"
    routes = [
        route("help", targetPage="Confirm"),
        route("pay", targetFlow="Pay"),
        route("small.talk", targetPage="CURRENT_PAGE"),
    ]
    found = imported(
        tmp_path,
        {
            f"{flow}/Default Start Flow.json": page("Default Start Flow", *routes),
            f"{flow}/pages/Confirm.json": page("Confirm", route("confirm.yes", targetPage="END_SESSION")),
            "flows/Pay/Pay.json": page("Pay", route("cancel.yes", targetPage="Confirm")),
        },
    )
    lost = [problem for problem in found.problems if "flows and pages" in problem.message]

    assert {one.name: one.metadata for one in found.registry if one.metadata} == {
        "help": {"target_page": "Confirm"},
        "pay": {"target_page": "Pay"},
    }
    assert ["and 1 more like it" in problem.message for problem in lost] == [True]


def test_intent_that_leads_to_several_pages_keeps_the_first_and_reports_it(tmp_path):
    pages = {f"flows/Default Start Flow/pages/{name}.json": page(name) for name in ("A", "B")}
    both = page("Default Start Flow", route("help", targetPage="A"), route("help", targetPage="B"))
    found = imported(tmp_path, {"flows/Default Start Flow/Default Start Flow.json": both, **pages})

    assert found.registry["help"].metadata == {"target_page": "A"}
    assert any("flows and pages" in problem.message for problem in found.problems)


def test_tags_are_exported_as_pages_and_come_back(tmp_path):
    """With shared lines; the export says that no route leads to the pages."""
    registry = Registry(
        (
            Intent("chat", (Utterance("yes", "en"), Utterance("lovely day", "en")), responses={"en": "Yes!"}),
            Intent("order.yes", (Utterance("yes", "en"),), when=("order",), responses={"en": "Ordered."}),
            Intent("close.yes", (Utterance("yes", "en"), Utterance("close", "en")), when=("a/b: c", "end")),
        )
    )
    problems = formats.write(registry, "dialogflow-cx", tmp_path / "agent")
    found = formats.read(tmp_path / "agent")
    flow = json.loads((tmp_path / "agent/flows/Default Start Flow/Default Start Flow.json").read_text())

    assert {one.name: one.when for one in found.registry} == {one.name: one.when for one in registry}
    assert {one.name: len(one.utterances) for one in found.registry} == {"chat": 2, "order.yes": 1, "close.yes": 2}
    assert {one.name: one.responses for one in found.registry if one.responses} == {
        "chat": {"en": "Yes!"},
        "order.yes": {"en": "Ordered."},
    }
    assert [each["intent"] for each in flow["transitionRoutes"]] == ["chat"]
    assert [(problem.severity, problem.rule) for problem in problems] == [("info", "unreached-page")]
    assert "order, a/b: c, end" in problems[0].message
    assert [problem for problem in found.problems if problem.severity != "info"] == []


def test_registry_without_tags_has_no_pages(tmp_path):
    problems = formats.write(Registry((Intent("a", (Utterance("hi", "en"),)),)), "dialogflow-cx", tmp_path / "agent")

    assert list(problems) == []
    assert not (tmp_path / "agent/flows/Default Start Flow/pages").exists()


def test_tags_belong_to_an_intent_whose_name_has_spaces_around_it(tmp_path, monkeypatch):
    monkeypatch.setitem(LINES, "send ", ["send it"])

    found = imported(tmp_path, {"flows/Default Start Flow/pages/Pay.json": page("Pay", route("send "))})

    assert tags(found) == {"send": ("Pay",)}
