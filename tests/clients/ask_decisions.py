"""OpenAI's own client, for decisions."""

from __future__ import annotations

import math
import sys
from importlib.metadata import version

import openai


def main(url: str, key: str) -> None:
    client = openai.OpenAI(base_url=f"{url}/v1", api_key=key, max_retries=0)
    user = {"role": "user", "content": [{"type": "input_text", "text": "where is my order"}]}
    conversation = [{"role": "developer", "content": "You route."}, user]
    answer = client.decisions.create(
        model="gpt-6-luna",
        input=conversation,
        questions=[
            {
                "type": "choice",
                "name": "team",
                "instructions": "What is it about?",
                "choices": [{"value": "order_status"}, {"value": "ride"}, {"value": "none"}],
            },
            {"type": "predicate", "instructions": "order status"},
            {"type": "predicate", "name": "angry", "instructions": "The customer is angry."},
            {"type": "score", "instructions": "How angry?", "levels": [{"label": "calm"}, {"label": "furious"}]},
            {
                "type": "choice",
                "instructions": "Is it about a parcel?",
                "choices": [{"value": True, "description": "a parcel or an order"}, {"value": False}],
            },
        ],
    )
    team, order, angry, mood, parcel = answer.answers
    assert (team.type, team.name, team.choice) == ("choice", "team", "order_status")
    assert math.isclose(sum(each.probability for each in team.probabilities), 1, abs_tol=1e-6)
    assert order.type == "predicate"
    assert order.probability > 0.5
    assert [(angry.type, angry.name), (mood.type, mood.name)] == [("refusal", "angry"), ("refusal", None)]
    assert parcel.choice is True
    assert answer.usage.total_tokens == answer.usage.input_tokens + answer.usage.output_tokens
    try:
        client.decisions.create(model="any", input="hello", questions=[])
        raise AssertionError("it was not refused")
    except openai.BadRequestError as error:
        assert (error.param, error.type) == ("questions", "invalid_request_error")
    try:
        openai.OpenAI(base_url=f"{url}/v1", api_key="wrong").decisions.create(model="any", input="hello", questions=[])
        raise AssertionError("it was not refused")
    except openai.AuthenticationError as error:
        assert error.code == "invalid_api_key"
    print(f"openai {version('openai')}: choices, predicates, refusals, a conversation, a wrong key")


main(*sys.argv[1:])
