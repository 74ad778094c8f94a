"""What an adapter that chooses the tools of an agent must do, as a test class that each framework's tests inherit from.

A test file has a class `TestTools(AgentToolsContract)` with `new_agent`, and the names that the contract asks for.
"""

from __future__ import annotations

import importlib
import sys
from typing import Any, ClassVar, Protocol

import pytest
from contracts.order_bot import GatedEncoder, talk_to_example

from intentmatch import Intent, IntentMatchError, Matcher, MissingExtraError, Registry, UnknownNameError, Utterance

ALL_TOOLS = ["status", "cancel", "search"]
"""Tools of an agent under test. `status` and `cancel` are also names of intents; the model calls `status`."""


class Agent(Protocol):
    """An agent with `ALL_TOOLS` and a model that calls a tool, and then answers with what the tool returned."""

    shown: list[list[str]]
    """The tools that the model was shown, for each call of it."""

    def run(self, message: str) -> str:
        """The text of what the agent says; "on its way" is in it where the model could call `status`."""


def order_matcher() -> Matcher:
    """A matcher with intents of a tool's name, intents without a tool, and one that needs the context "vip"."""
    intents = (
        Intent("status", (Utterance("where is my order"), Utterance("track my parcel"))),
        Intent("cancel", (Utterance("cancel it please"),)),
        Intent("mute", (Utterance("sound off now"),)),
        Intent("unmute", (Utterance("sound on now"),)),
        Intent("vip", (Utterance("my manager"),), when=("vip",)),
    )
    return Matcher.load(Registry(intents), encoder=GatedEncoder(), cache="off", margin=0.4)


class AgentToolsContract:
    """A model is shown the tools of the intent, and none of the other intents."""

    extra: ClassVar[str]
    """The extra that installs the framework."""
    adapter: ClassVar[str]
    """The adapter's module below `intentmatch.integrations`, and the folder of its example."""
    needed_module: ClassVar[str]
    """A module that the adapter imports."""
    example_conversation: ClassVar[tuple[tuple[str, str], ...]]
    """Messages to the example, and its answers without a model."""

    def new_agent(self, matcher: Matcher, tools: Any = None, **options: Any) -> Agent:
        """An agent whose tools the adapter chooses; `tools` is the adapter's table of tools by intent."""
        raise NotImplementedError

    def run_with_call_of_status(self, matcher: Matcher, message: str) -> str:
        """The text of what an agent says whose model calls the tool `status` once, shown or not."""
        raise NotImplementedError

    def test_model_is_shown_tool_of_intent(self):
        """And tools that belong to no intent. The message is matched once, though the model is called twice."""
        matcher = order_matcher()
        agent = self.new_agent(matcher)
        matcher.encoder.encoded.clear()

        answer = agent.run("where may my order be")

        assert agent.shown == [["status", "search"]] * 2
        assert "on its way" in answer
        assert matcher.encoder.encoded == ["where may my order be"]

    @pytest.mark.parametrize("message", ["sound now", "sound off now"])
    def test_model_is_shown_all_tools_if_intents_have_none(self, message):
        agent = self.new_agent(order_matcher())

        agent.run(message)

        assert agent.shown[0] == ALL_TOOLS

    def test_out_of_scope_message_shows_no_tools_of_intents(self):
        """Unless the bot asks for all; a tool that belongs to no intent is shown either way."""
        careful = self.new_agent(order_matcher())
        generous = self.new_agent(order_matcher(), out_of_scope="all")

        careful.run("penguins")
        generous.run("penguins")

        assert careful.shown[0] == ["search"]
        assert generous.shown[0] == ALL_TOOLS

    def test_out_of_scope_message_shows_no_tools_of_a_table(self):
        """A framework may show an empty list, or say nothing of tools."""
        agent = self.new_agent(order_matcher(), {"status": ALL_TOOLS})

        agent.run("penguins")

        assert agent.shown[:1] in ([], [[]])

    def test_table_of_one_intent_hides_tools_of_others(self):
        agent = self.new_agent(order_matcher(), {"status": ["status"]})

        agent.run("penguins")

        assert agent.shown[0] == ["search"]

    @pytest.mark.parametrize(
        ("message", "runs"), [("track my parcel", True), ("sound now", True), ("cancel it please", False)]
    )
    def test_hidden_tool_does_not_run_if_model_names_it(self, message, runs):
        """A tool that is shown runs; an instruction in a text that the model reads must not reach the others."""
        said = self.run_with_call_of_status(order_matcher(), message)

        assert ("on its way" in said) == runs

    def test_hidden_tool_does_not_run_out_of_scope(self):
        assert "on its way" not in self.run_with_call_of_status(order_matcher(), "penguins")

    def test_other_choice_for_out_of_scope_is_refused_at_once(self):
        with pytest.raises(IntentMatchError, match="unknown choice for out_of_scope 'some': known are all, none"):
            self.new_agent(order_matcher(), out_of_scope="some")

    def test_table_gives_intent_several_tools(self):
        """Of an ambiguous message, the tools of both intents."""
        table = {"status": ["status", "search"], "mute": ["status"], "unmute": ["cancel"]}
        clear, ambiguous = (self.new_agent(order_matcher(), table) for _ in range(2))

        clear.run("track my parcel")
        ambiguous.run("sound now")

        assert clear.shown[0] == ["status", "search"]
        assert ambiguous.shown[0] == ["status", "cancel"]

    def test_table_with_unknown_intent_is_refused_at_once(self):
        with pytest.raises(UnknownNameError, match="Did you mean 'cancel'"):
            self.new_agent(order_matcher(), {"cancle": ["cancel"]})

    def test_missing_package_is_named_with_pip_line(self, monkeypatch):
        module = f"intentmatch.integrations.{self.adapter}"
        monkeypatch.setitem(sys.modules, self.needed_module, None)
        monkeypatch.delitem(sys.modules, module)

        with pytest.raises(MissingExtraError, match=rf'pip install "intentmatch\[{self.extra}\]"'):
            importlib.import_module(module)

    def test_example_holds_its_conversation(self, tmp_path):
        """Without a model, it says which tools a model would be shown."""
        messages = [message for message, _ in self.example_conversation]
        printed = talk_to_example(f"{self.adapter}/bot.py", *messages, folder=tmp_path)

        answers = [line.removeprefix("> ") for line in printed.splitlines()[:-1]]
        assert answers == [answer for _, answer in self.example_conversation]
