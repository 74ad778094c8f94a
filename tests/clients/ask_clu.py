"""Azure's own client of conversational language understanding, at its ease and asynchronous."""

from __future__ import annotations

import asyncio
import sys
from importlib.metadata import version

from azure.ai.language.conversations import ConversationAnalysisClient
from azure.ai.language.conversations.aio import ConversationAnalysisClient as AsyncClient
from azure.core.credentials import AzureKeyCredential
from azure.core.exceptions import ClientAuthenticationError, HttpResponseError


def task(text: str, **parameters: str) -> dict:
    item = {"participantId": "1", "id": "1", "modality": "text", "language": "en", "text": text}
    return {
        "kind": "Conversation",
        "analysisInput": {"conversationItem": item, "isLoggingEnabled": False},
        "parameters": {"projectName": "shop", "deploymentName": "production", "verbose": True, **parameters},
    }


async def later(url: str, key: str) -> dict:
    async with AsyncClient(url, AzureKeyCredential(key)) as client:
        return await client.analyze_conversation(task=task("track my parcel"))


def main(url: str, key: str) -> None:
    with ConversationAnalysisClient(url, AzureKeyCredential(key)) as client:
        answer = client.analyze_conversation(task=task("where is my order now"))
        prediction = answer["result"]["prediction"]
        assert (answer["kind"], prediction["topIntent"]) == ("ConversationResult", "order_status")
        assert prediction["intents"][0]["category"] == "order_status"
        assert {"None"} < {intent["category"] for intent in prediction["intents"]}
        answer = client.analyze_conversation(task=task("the price of tea in China"))
        assert answer["result"]["prediction"]["topIntent"] == "None"
        try:
            client.analyze_conversation(task=task("hello", stringIndexType="Bytes"))
            raise AssertionError("it was not refused")
        except HttpResponseError as error:
            assert (error.status_code, error.error.code) == (400, "InvalidArgument"), error
            assert error.error.details[0].target == "parameters.stringIndexType"
    with ConversationAnalysisClient(url, AzureKeyCredential("wrong")) as client:
        try:
            client.analyze_conversation(task=task("hello"))
            raise AssertionError("it was not refused")
        except ClientAuthenticationError as error:
            assert error.error.code == "Unauthorized", error
    answer = asyncio.run(later(url, key))
    assert answer["result"]["prediction"]["topIntent"] == "order_status"
    name = "azure-ai-language-conversations"
    print(f"{name} {version(name)}: sync and async, None, a wrong parameter, a wrong key")


main(*sys.argv[1:])
