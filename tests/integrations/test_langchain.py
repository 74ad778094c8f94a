"""The adapter for LangChain and LangGraph: intents in chains, graphs and agents."""

from __future__ import annotations

import asyncio
from typing import Any, TypedDict

import pytest

from intentmatch import IntentMatchError, Matcher, UnknownNameError, formats

pytest.importorskip("langchain", reason="needs the extra `langchain`")

from contracts.agent_tools import ALL_TOOLS, AgentToolsContract, order_matcher
from contracts.format import bare
from langchain.agents import create_agent
from langchain.agents.middleware import ModelRequest
from langchain_core.embeddings import DeterministicFakeEmbedding
from langchain_core.example_selectors import LengthBasedExampleSelector, SemanticSimilarityExampleSelector
from langchain_core.language_models.fake_chat_models import GenericFakeChatModel
from langchain_core.messages import AIMessage, HumanMessage, SystemMessage
from langchain_core.prompts import (
    ChatPromptTemplate,
    FewShotChatMessagePromptTemplate,
    FewShotPromptTemplate,
    PromptTemplate,
)
from langchain_core.runnables import RunnablePassthrough
from langchain_core.tools import tool
from langchain_core.tracers.base import BaseTracer
from langchain_core.vectorstores import InMemoryVectorStore
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import END, START, MessagesState, StateGraph

from intentmatch.integrations.langchain import IntentRunnable, IntentToolMiddleware


@pytest.fixture
def matcher() -> Matcher:
    return order_matcher()


@pytest.fixture
def intents(matcher) -> IntentRunnable:
    return IntentRunnable(matcher)


class TestRunnable:
    @pytest.mark.parametrize(
        "value",
        [
            "where is my order",
            HumanMessage("where is my order"),
            HumanMessage([{"type": "text", "text": "where is my order"}, {"type": "image_url", "image_url": "x"}]),
            [SystemMessage("Be nice."), HumanMessage("where is my order"), AIMessage("One moment.")],
            [("user", "cancel it please"), {"role": "user", "content": "where is my order"}],
            {"messages": [HumanMessage("where is my order")]},
            ChatPromptTemplate.from_messages([("user", "where is my {what}")]).invoke({"what": "order"}),
        ],
    )
    def test_last_message_of_user_is_matched(self, intents, value):
        """In text, a message, a list of messages, a state or a prompt."""
        assert intents.invoke(value).intent == "status"

    @pytest.mark.parametrize(
        "nothing",
        [
            "",
            [],
            {"messages": []},
            AIMessage("where is my order"),
            [SystemMessage("where is my order")],
            HumanMessage([{"type": "image_url", "image_url": "x"}]),
        ],
    )
    def test_input_without_text_of_user_is_out_of_scope(self, intents, nothing):
        """The model's messages do not count, and an image has no text."""
        assert intents.invoke(nothing).verdict == "out_of_scope"

    @pytest.mark.parametrize("wrong", [None, 7, {"question": "where is my order"}, [7], [{"role": "cat"}], [{}]])
    def test_input_without_message_is_refused(self, intents, wrong):
        with pytest.raises(IntentMatchError, match="a message must be text"):
            intents.invoke(wrong)

    def test_bind_takes_options_of_match(self, intents):
        assert intents.invoke("my manager").intent is None
        assert intents.bind(context=["vip"]).invoke("my manager").intent == "vip"
        assert intents.bind(context=["vip"]).batch(["my manager"])[0].intent == "vip"

    def test_batch_is_encoded_together(self, matcher, intents):
        """In one call, sync or async; results keep the order of the messages."""
        sizes = []
        encode = matcher.encoder.encode
        matcher.encoder.encode = lambda texts, **options: (sizes.append(len(texts)), encode(texts, **options))[1]
        messages = ["where may my order be", HumanMessage("do cancel it please"), "penguins"]

        for results in (intents.batch(messages), asyncio.run(intents.abatch(messages))):
            assert [result.intent for result in results] == ["status", "cancel", None]
        assert sizes == [3, 3]
        assert intents.batch([]) == []

    def test_invalid_message_of_batch_fails_alone(self, intents):
        """With `return_exceptions`; otherwise the error is raised."""
        good, bad = intents.batch(["track my parcel", 7], return_exceptions=True)

        assert good.intent == "status"
        assert isinstance(bad, IntentMatchError)
        with pytest.raises(IntentMatchError, match="not int"):
            intents.batch(["track my parcel", 7])

    def test_call_is_traced(self, intents):
        """With the message and the result."""
        runs = []

        class Tracer(BaseTracer):
            def _persist_run(self, run: Any) -> None:
                runs.append(run)

        intents.invoke("track my parcel", {"callbacks": [Tracer()]})

        assert [run.name for run in runs] == ["IntentRunnable"]
        assert runs[0].outputs["output"].intent == "status"

    def test_output_has_a_schema(self, intents):
        assert "verdict" in str(intents.get_output_jsonschema())

    def test_event_loop_runs_while_message_or_batch_is_encoded(self, matcher, intents):
        for call in (intents.ainvoke("some message"), intents.abatch(["one thing", "some message"])):
            asyncio.run(matcher.encoder.closed_until_loop_runs(call))


class TestRoutes:
    def test_chain_branches_by_intent(self, intents):
        """A route gets the input and the result; intents without a route go to `otherwise`."""
        chain = intents.branch(
            {
                "status": lambda matched: f"status of {matched['input']}",
                "cancel": lambda matched: matched["match"].intent,
            },
            lambda matched: f"{matched['match'].verdict}!",
        )

        messages = ["track my parcel", "cancel it please", "sound now", "penguins"]
        expected = ["status of track my parcel", "cancel", "ambiguous!", "out_of_scope!"]
        assert chain.batch(messages) == expected
        assert asyncio.run(chain.abatch(messages)) == expected

    def test_runnable_can_be_piped(self, intents):
        chain = RunnablePassthrough.assign(match=intents) | (lambda state: state["match"].intent)

        assert chain.invoke({"messages": [HumanMessage("track my parcel")]}) == "status"

    def test_graph_follows_the_intent(self, matcher, intents):
        """The node writes plain values, the edge chooses; the message is encoded once."""

        class State(MessagesState):
            match: dict[str, Any]

        graph = StateGraph(State)
        graph.add_node("recognise", intents.node())
        graph.add_node("orders", lambda state: {"messages": [AIMessage(f"orders: {state['match']['intent']}")]})
        graph.add_node("agent", lambda state: {"messages": [AIMessage("agent")]})
        graph.add_edge(START, "recognise")
        graph.add_conditional_edges(
            "recognise", intents.edge({"status": "orders", "cancel": "orders"}, otherwise="agent"), ["orders", "agent"]
        )
        graph.add_edge("orders", END)
        app = graph.compile(checkpointer=InMemorySaver())

        def answer(text: str) -> str:
            state = app.invoke({"messages": [("user", text)]}, {"configurable": {"thread_id": "1"}})
            return state["messages"][-1].content

        matcher.encoder.encoded.clear()
        assert [answer("where may my order be"), answer("penguins")] == ["orders: status", "agent"]
        assert matcher.encoder.encoded == ["where may my order be", "penguins"]

    def test_edge_without_node_leads_to_otherwise(self, intents):
        """For any kind of state."""

        class State(TypedDict, total=False):
            match: dict[str, Any]

        edge = intents.edge({"status": "orders"}, otherwise="agent")

        assert [edge({}), edge(object()), edge({"match": {"intent": "status"}})] == ["agent", "agent", "orders"]

    def test_route_of_unknown_intent_is_refused_at_once(self, intents):
        """When the chain or graph is built."""
        with pytest.raises(UnknownNameError, match="Did you mean 'status'"):
            intents.branch({"statsu": "x"}, "y")
        with pytest.raises(UnknownNameError, match="Did you mean 'status'"):
            intents.edge({"statsu": "x"}, "y")


@tool
def status() -> str:
    """Where an order is."""
    return "on its way"


@tool
def cancel() -> str:
    """Cancel an order."""
    return "cancelled"


@tool
def search() -> str:
    """Search the web."""
    return "nothing"


class Model(GenericFakeChatModel):
    """Calls the tools that the test lists, and records the tools that it was shown."""

    shown: list[list[str]]

    def bind_tools(self, tools: Any, **_: Any) -> Model:
        self.shown.append([one["type"] if isinstance(one, dict) else one.name for one in tools])
        return self


CALL = AIMessage("", tool_calls=[{"name": "status", "args": {}, "id": "1"}])
DONE = AIMessage("Done.")


class ToolAgent:
    """An agent of LangChain."""

    def __init__(
        self, matcher: Matcher, *answers: AIMessage, tools: Any = None, middleware: Any = None, **options: Any
    ) -> None:
        model = Model(messages=iter(answers or (CALL, DONE)), shown=[])
        self.shown = model.shown
        middleware = middleware or IntentToolMiddleware(matcher, tools)
        self.agent = create_agent(model, [status, cancel, search], middleware=[middleware], **options)

    def run(self, message: Any) -> str:
        state = self.agent.invoke({"messages": [("user", message)]})
        return "\n".join(str(message.content) for message in state["messages"])


class TestTools(AgentToolsContract):
    """LangChain does what every adapter for agents does."""

    extra = "langchain"
    adapter = "langchain"
    needed_module = "langchain.agents"
    example_conversation = (
        ("wo ist die Bestellung XY-1234", "XY-1234 is on its way."),
        ("cancel my order", "(a model would answer, with the tools order_cancel, search)"),
        ("my order", "(a model would answer, with the tools order_status, order_cancel, search)"),
        ("what do penguins eat", "(a model would answer, with the tools search)"),
    )

    def new_agent(self, matcher, tools=None, **options):
        return ToolAgent(matcher, tools=tools, middleware=IntentToolMiddleware(matcher, tools, **options))

    def run_with_call_of_status(self, matcher, message):
        agent, later = ToolAgent(matcher), ToolAgent(matcher)
        said = agent.run(message)

        state = asyncio.run(later.agent.ainvoke({"messages": [("user", message)]}))
        assert said == "\n".join(str(each.content) for each in state["messages"])
        return said

    @pytest.mark.parametrize("mode", ["sync", "async"])
    def test_state_holds_messages_and_no_intents(self, matcher, mode):
        """The intents of the message are private to the middleware, sync or async."""
        agent = ToolAgent(matcher, CALL, DONE)
        matcher.encoder.encoded.clear()
        state = {"messages": [("user", "where may my order be")]}

        state = agent.agent.invoke(state) if mode == "sync" else asyncio.run(agent.agent.ainvoke(state))

        assert agent.shown == [["status", "search"]] * 2
        assert [message.content for message in state["messages"][2:]] == ["on its way", "Done."]
        assert matcher.encoder.encoded == ["where may my order be"]
        assert "intentmatch" not in state

    def test_call_without_begin_of_agent_shows_all_tools(self, matcher):
        """The middleware does not know the message then."""
        request = ModelRequest(
            model=Model(messages=iter(()), shown=[]), messages=[], system_message=None, tool_choice=None,
            tools=[status, cancel, search], response_format=None, state={"messages": []}, runtime=None,
        )  # fmt: skip

        shown = IntentToolMiddleware(matcher).wrap_model_call(request, lambda request: request.tools)

        assert [tool.name for tool in shown] == ALL_TOOLS

    def test_image_without_text_shows_no_tools_of_intents(self, matcher):
        agent = ToolAgent(matcher, DONE)

        agent.agent.invoke({"messages": [HumanMessage([{"type": "image_url", "image_url": {"url": "x"}}])]})

        assert agent.shown == [["search"]]

    def test_each_turn_of_conversation_has_tools_of_its_own(self, matcher):
        agent = ToolAgent(matcher, DONE, DONE, checkpointer=InMemorySaver())
        thread = {"configurable": {"thread_id": "1"}}

        agent.agent.invoke({"messages": [("user", "track my parcel")]}, thread)
        agent.agent.invoke({"messages": [("user", "cancel it please")]}, thread)

        assert agent.shown == [["status", "search"], ["cancel", "search"]]


EXAMPLES = [
    {"input": "where is my order", "output": "status"},
    {"input": "track it: now", "output": "status"},
    {"input": "hello", "output": "greet"},
]
EXPECTED = [("status", "where is my order"), ("status", "track it: now"), ("greet", "hello")]


def examples_of(found: formats.Imported) -> list[tuple[str, str]]:
    assert found.format == "few-shot"
    return sorted(
        ((intent.name, line.text) for intent in found.registry for line in intent.utterances),
        key=[*EXPECTED].index,
    )


@pytest.mark.filterwarnings("ignore:The method `FewShotPromptTemplate.save` was deprecated")
class TestImport:
    """Few-shot examples are imported from live objects and from the files that LangChain writes."""

    @staticmethod
    def prompt(**examples: Any) -> FewShotPromptTemplate:
        return FewShotPromptTemplate(
            **examples,
            example_prompt=PromptTemplate.from_template("Message: {input}\nIntent: {output}"),
            prefix="Classify.",
            suffix="Message: {input}\nIntent:",
            input_variables=["input"],
        )

    @pytest.mark.parametrize("name", ["prompt.json", "prompt.yaml"])
    def test_saved_prompt_is_read(self, tmp_path, name):
        self.prompt(examples=EXAMPLES).save(tmp_path / name)

        assert examples_of(formats.read(tmp_path / name)) == EXPECTED

    def test_live_prompt_is_read_as_its_file(self, tmp_path):
        prompt = self.prompt(examples=EXAMPLES)
        prompt.save(tmp_path / "prompt.json")

        assert bare(formats.read_object(prompt, "shop:prompt").registry) == bare(
            formats.read(tmp_path / "prompt.json").registry
        )

    @pytest.mark.parametrize("input_keys", [None, ["input"]])
    def test_selectors_are_read(self, input_keys):
        """By length and by similarity; alone and in a prompt."""
        similar = SemanticSimilarityExampleSelector.from_examples(
            EXAMPLES, DeterministicFakeEmbedding(size=4), InMemoryVectorStore, k=1, input_keys=input_keys
        )
        by_length = LengthBasedExampleSelector(
            examples=EXAMPLES, example_prompt=PromptTemplate.from_template("{input} {output}")
        )

        for selector in (similar, by_length):
            assert examples_of(formats.read_object(selector, "shop:selector")) == EXPECTED
            prompt = self.prompt(example_selector=selector)
            assert examples_of(formats.read_object(prompt, "shop:prompt")) == EXPECTED

    def test_examples_in_a_chat_prompt_are_read(self):
        pairs = ChatPromptTemplate.from_messages([("human", "{input}"), ("ai", "{output}")])
        examples = FewShotChatMessagePromptTemplate(examples=EXAMPLES, example_prompt=pairs)
        chat = ChatPromptTemplate.from_messages([("system", "Classify."), examples, ("human", "{input}")])

        assert examples_of(formats.read_object(examples, "shop:examples")) == EXPECTED
        assert examples_of(formats.read_object(chat, "shop:chat")) == EXPECTED

    def test_prompt_without_examples_is_refused(self):
        with pytest.raises(IntentMatchError, match=r"PromptTemplate\. Known are"):
            formats.read_object(PromptTemplate.from_template("{input}"), "shop:prompt")
