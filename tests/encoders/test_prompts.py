"""Default prompts of well-known models."""

from __future__ import annotations

import pytest

from intentmatch.encoders.prompts import usual_prompts


@pytest.mark.parametrize(
    "model", ["intfloat/multilingual-e5-small", "multilingual-e5-large", "e5-base-v2", "./models/e5-small/"]
)
def test_e5_models_get_the_query_prompt(model: str) -> None:
    assert usual_prompts(model) == {"utterance": "query: ", "query": "query: "}


@pytest.mark.parametrize(
    "model", ["", "BAAI/bge-m3", "text-embedding-3-small", "e5-mistral-7b-instruct", "some5-small"]
)
def test_other_models_get_no_prompt(model: str) -> None:
    assert usual_prompts(model) == {"utterance": "", "query": ""}
