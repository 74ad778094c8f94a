"""Reranker for servers: text-embeddings-inference, the API of Cohere and Jina, and the scores of vLLM."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from intentmatch.core.errors import SettingsError
from intentmatch.core.settings import Settings
from intentmatch.matching.opinions.client import OpinionClient
from intentmatch.text.redact import redact

FORM = (
    "remote:https://HOST/v1/rerank#MODEL (Cohere, Jina, vLLM), remote:http://HOST/rerank (text-embeddings-inference) "
    "or remote:http://HOST/score#MODEL (vLLM)"
)
_RERANK, _SCORE = "/rerank", "/score"
# The webhook's default limit on a message.
_MOST_CHARACTERS = 2000


def load(model: str, settings: Settings) -> RemoteReranker:
    """Load the reranker of a `remote:URL#MODEL` setting. Raises the same errors as `RemoteReranker`."""
    url, _, name = model.partition("#")
    if not url:
        raise SettingsError(f"the reranker remote needs a URL: write {FORM}")
    return RemoteReranker(url, name, settings)


class RemoteReranker:
    """A `Reranker` on a server. Safe to use from many threads.

    Personal data in the message is redacted before it is sent, as in the inbox. The server is not contacted before the
    first doubtful message. Raises `MissingExtraError`, or `SettingsError` if the URL or the key is invalid.
    """

    remote = True

    def __init__(self, url: str, model: str = "", settings: Settings | None = None) -> None:
        self._client = OpinionClient.of(url, "the reranker remote", (_RERANK, _SCORE), settings)
        if url.endswith(_SCORE) and not model:
            raise SettingsError(f"{url} needs the name of a model after a #: write {FORM}")
        self.usage = self._client.usage
        self.name = f"remote:{url}#{model}" if model else f"remote:{url}"
        self._url, self._model = url, model

    def score(self, message: str, utterances: Sequence[str]) -> NDArray[np.float32]:
        """Return the server's scores, shape `(len(utterances),)`.

        Raises `ModelUnavailableError` without an answer of one score in [0, 1] for each utterance.
        """
        if not utterances:
            return np.empty(0, dtype=np.float32)
        query, texts = redact(message)[:_MOST_CHARACTERS], [line[:_MOST_CHARACTERS] for line in utterances]
        if self._url.endswith(_SCORE):
            body: dict[str, Any] = {"model": self._model, "text_1": query, "text_2": texts}
        elif self._model:
            body = {"model": self._model, "query": query, "documents": texts}
        else:
            # Without `truncate`, text-embeddings-inference refuses texts that are longer than its model reads.
            body = {"query": query, "texts": texts, "truncate": True}
        return self._client.ask(body, lambda answer: _scores(answer, len(texts)))


def _scores(answer: Any, count: int) -> NDArray[np.float32]:
    """Return the scores of an answer in the order of the utterances; servers sort them by score.

    Raises `ValueError` and others if they are not one score in [0, 1] for each utterance.
    """
    # A list is of text-embeddings-inference, `results` of Cohere, Jina and vLLM, and `data` of vLLM's `/score`.
    items = answer if isinstance(answer, list) else answer["results"] if "results" in answer else answer["data"]
    if sorted(item["index"] for item in items) != list(range(count)):
        raise ValueError(f"its answer does not hold one score for each of {count} utterances")
    scores = np.empty(count)
    for item in items:
        score = item["relevance_score"] if "relevance_score" in item else item["score"]
        scores[item["index"]] = score if isinstance(score, (int, float)) else np.nan
    if not ((scores >= 0.0) & (scores <= 1.0)).all():
        raise ValueError("its scores are not between 0 and 1: use a model with a sigmoid, or let the server apply one")
    return scores.astype(np.float32)
