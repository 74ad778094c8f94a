"""Which models are prompted without being told to."""

from __future__ import annotations

import pytest

from intentmatch.encoders.prompts import usual_prompts


@pytest.mark.parametrize(
    "model", ["intfloat/multilingual-e5-small", "multilingual-e5-large", "e5-base-v2", "./models/e5-small/"]
)
def test_e5_is_known_by_name_and_folder(model: str) -> None:
    """Both kinds of text get the prefix for telling short texts apart."""
    assert usual_prompts(model) == {"utterance": "query: ", "query": "query: "}


@pytest.mark.parametrize(
    "model", ["", "BAAI/bge-m3", "text-embedding-3-small", "e5-mistral-7b-instruct", "some5-small"]
)
def test_others_are_not(model: str) -> None:
    """Nothing is put before their texts."""
    assert usual_prompts(model) == {"utterance": "", "query": ""}
