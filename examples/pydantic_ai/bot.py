"""An agent whose model is shown only the tools that a message needs."""

import os
from pathlib import Path

from pydantic_ai import Agent, ModelMessage, ModelResponse, TextPart
from pydantic_ai.models.function import AgentInfo, FunctionModel
from pydantic_ai.toolsets import FunctionToolset

from intentmatch import Matcher
from intentmatch.integrations.pydantic_ai import IntentToolset


def order_status(order: str) -> str:
    """Tell where an order is."""
    return f"{order} is on its way."


def order_cancel(order: str) -> str:
    """Cancel an order."""
    return f"{order} is cancelled."


def search(text: str) -> str:
    """Search the shop."""
    return f"Nothing about {text}."


def no_model(messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
    """Stand-in for a language model, to try the example without one."""
    names = ", ".join(tool.name for tool in info.function_tools)
    return ModelResponse([TextPart(f"(a model would answer, with the tools {names})")])


matcher = Matcher.load(Path(__file__).with_name("bot.yaml"))
tools = IntentToolset(FunctionToolset([order_status, order_cancel, search]), matcher)
bot = Agent(os.environ.get("MODEL") or FunctionModel(no_model), toolsets=[tools])

if __name__ == "__main__":
    history = None
    while True:
        try:
            text = input("> ")
        except EOFError:
            break
        answer = bot.run_sync(text, message_history=history)
        history = answer.all_messages()
        print(answer.output)
