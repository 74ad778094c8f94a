"""A local server with the APIs of rerankers and chat models, whose model counts shared words."""

from __future__ import annotations

import json
from typing import Any

from embeddings_server import FakeServer


def overlap(one: str, other: str) -> float:
    """The share of words that two texts have in common: the whole model of this server."""
    first, second = ({*text.lower().split()} for text in (one, other))
    return len(first & second) / max(1, len(first | second))


class OpinionServer(FakeServer):
    """Serves `/rerank`, `/v1/rerank`, `/score`, and below `/v1` also `chat/completions`, `systemone` and `decisions`.

    `script` is that of `FakeServer`.
    """

    def url(self, path: str) -> str:
        return f"http://{self.host}{path}"

    def answer(self, path: str, body: dict[str, Any]) -> Any:
        scripted = self.script.pop(0) if self.script else None
        if callable(scripted):
            scripted = scripted(body)
        return (200, {}, self.opinion(path, body)) if scripted is None else scripted

    def opinion(self, path: str, body: dict[str, Any]) -> Any:
        if path == "/v1/chat/completions":
            asked = json.loads(body["messages"][1]["content"])
            texts = {o["number"]: " ".join([o["title"], *o.get("examples", [])]) for o in asked["options"]}
            return chat_answer(max(texts, key=lambda number: overlap(asked["message"], texts[number])))
        if path == "/v1/systemone":
            options = body["questions"]["request"]["criteria"]
            return decided("systemone", shares(body["state"], options))
        if path == "/v1/decisions":
            options = {each["value"]: each["description"] for each in body["questions"][0]["choices"]}
            return decided("decisions", shares(body["input"], options))
        message = body.get("query") or body.get("text_1")
        lines = body.get("texts") or body.get("documents") or body.get("text_2")
        scored = sorted(((overlap(message, line), index) for index, line in enumerate(lines)), reverse=True)
        if path == "/v1/rerank":
            return {"results": [{"index": index, "relevance_score": score} for score, index in scored]}
        items = [{"index": index, "score": score} for score, index in scored]
        return {"data": items} if path == "/score" else items


def chat_answer(said: Any) -> dict[str, Any]:
    """Return the answer of a chat model that chooses `said`."""
    message = {"role": "assistant", "content": json.dumps({"answer": said}), "refusal": None}
    return {"choices": [{"index": 0, "message": message}], "usage": {"total_tokens": 95}}


def shares(message: str, options: dict[str, str]) -> dict[str, float]:
    """Return the probability of each option of a decision model."""
    counts = {name: 0.01 + overlap(message, f"{name} {text}") ** 2 for name, text in options.items()}
    return {name: count / sum(counts.values()) for name, count in counts.items()}


def decided(kind: str, probabilities: Any, choice: Any = None) -> dict[str, Any]:
    """Return the answer of a decision model by its protocol; its choice is the likeliest option if none is given."""
    answer = {"type": "choice", "choice": choice or max(probabilities, key=probabilities.get), "confidence": 0.5}
    if kind == "systemone":
        return {"model": "m", "answers": {"request": {**answer, "probabilities": probabilities}}}
    listed = probabilities and [{"value": name, "probability": p} for name, p in probabilities.items()]
    return {"model": "m", "answers": [{**answer, "name": "request", "probabilities": listed}]}
