"""LiteLLM's router, whose classifier is our server: `classifier_type: oss_classifier`, and its call `systemone`."""

from __future__ import annotations

import asyncio
import os
import sys
from importlib.metadata import version

os.environ["LITELLM_LOCAL_MODEL_COST_MAP"] = "True"  # no request to anybody else
import litellm

TIERS = {"order_status": "small", "ride": "large"}
MESSAGES = {"where is my order": "small", "book me a train to Berlin please": "large"}


def deployments(url: str, key: str) -> list[dict]:
    """Two models with fixed answers, and a router that asks our server which of them to use."""
    models = [
        {"model_name": name, "litellm_params": {"model": f"openai/{name}", "api_key": "none", "mock_response": name}}
        for name in TIERS.values()
    ]
    classifier = {
        "tiers": TIERS,
        "tier_definitions": [
            {"name": "order_status", "description": "Where an order is"},
            {"name": "ride", "description": "Trains"},
        ],
        "fallback_tier": "order_status",
        "classifier_type": "oss_classifier",
        "opensource_classifier_config": {"api_base": url, "api_key": key, "model": "jev-latest"},
    }
    params = {"model": "auto_router/complexity_router", "complexity_router_config": classifier}
    return [*models, {"model_name": "routed", "litellm_params": params}]


async def main(url: str, key: str) -> None:
    question = {"team": {"type": "choice", "criteria": dict.fromkeys([*TIERS, "none"])}}
    answer = await litellm.asystemone(
        model="typesafe/jev-latest", state="where is my order", questions=question, api_base=url, api_key=key
    )
    assert answer.answers["team"].choice == "order_status"
    router = litellm.Router(model_list=deployments(url, key))
    for message, model in MESSAGES.items():
        said = await router.acompletion(model="routed", messages=[{"role": "user", "content": message}])
        assert said.choices[0].message.content == model, (message, said)
    print(f"litellm {version('litellm')}: systemone, and a router with classifier_type oss_classifier")


asyncio.run(main(*sys.argv[1:]))
