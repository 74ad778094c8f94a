"""A graph that answers one intent without a language model and gives an agent the tools of all other intents."""

import os
from pathlib import Path
from typing import Any

from langchain.agents import create_agent
from langchain.chat_models import init_chat_model
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage
from langchain_core.outputs import ChatGeneration, ChatResult
from langchain_core.tools import tool
from langgraph.graph import START, MessagesState, StateGraph

from intentmatch import Matcher
from intentmatch.integrations.langchain import IntentRunnable, IntentToolMiddleware


class State(MessagesState):
    """State that the nodes share."""

    match: dict[str, Any]


class NoModel(BaseChatModel):
    """Stand-in for a language model, to try the example without one."""

    _llm_type = "none"

    def bind_tools(self, tools: Any, **kwargs: Any) -> Any:
        """Store the names of the tools."""
        return self.bind(tools=[one.name for one in tools])

    def _generate(self, messages: Any, *args: Any, tools: Any = (), **kwargs: Any) -> ChatResult:
        answer = AIMessage(f"(a model would answer, with the tools {', '.join(tools)})")
        return ChatResult(generations=[ChatGeneration(message=answer)])


@tool
def order_status(order: str) -> str:
    """Tell where an order is."""
    return f"{order} is on its way."


@tool
def order_cancel(order: str) -> str:
    """Cancel an order."""
    return f"{order} is cancelled."


@tool
def search(text: str) -> str:
    """Search the shop."""
    return f"Nothing about {text}."


def tell_status(state: State) -> dict[str, Any]:
    """Answer without a model if the message names an order."""
    slots = {entity["slot"]: entity["value"] for entity in state["match"]["entities"]}
    answer = order_status.invoke(slots) if slots else "Which order?"
    return {"messages": [AIMessage(answer)]}


matcher = Matcher.load(Path(__file__).with_name("bot.yaml"))
intents = IntentRunnable(matcher)
model = init_chat_model(name) if (name := os.environ.get("MODEL")) else NoModel()
agent = create_agent(model, [order_status, order_cancel, search], middleware=[IntentToolMiddleware(matcher)])

graph = StateGraph(State)
graph.add_node("recognise", intents.node())
graph.add_node("tell_status", tell_status)
graph.add_node("agent", agent)
graph.add_edge(START, "recognise")
graph.add_conditional_edges(
    "recognise", intents.edge({"order_status": "tell_status"}, otherwise="agent"), ["tell_status", "agent"]
)
bot = graph.compile()

if __name__ == "__main__":
    while True:
        try:
            text = input("> ")
        except EOFError:
            break
        print(bot.invoke({"messages": [("user", text)]})["messages"][-1].text)
