"""intentmatch, with its embedded encoder or, if NAME contains `minilm`, with the weights that all peers use."""

from __future__ import annotations

import os
from typing import Any

from peer import Answer, Peer, run


class Ours(Peer):
    """With default settings: thresholds are learned from the examples, vectors are cached for the next start."""

    def load(self, encoder: str, steps: int) -> None:
        from intentmatch import Intent, Matcher, Registry, Utterance

        self._intent, self._registry, self._utterance, self._load = Intent, Registry, Utterance, Matcher.load
        variant = os.environ["PEER"]
        self._encoder = {"ours_minilm": f"sentence_transformer:{encoder}", "ours_onnx": f"onnx:{encoder}"}.get(variant)

    def build(self, texts: list[str], intents: list[str]) -> None:
        lines: dict[str, list[Any]] = {}
        for text, intent in zip(texts, intents, strict=True):
            lines.setdefault(intent, []).append(self._utterance(text, "en"))
        registry = self._registry(tuple(self._intent(name, tuple(some)) for name, some in lines.items()))
        self._matcher = self._load(registry, encoder=self._encoder or "static")

    def answer(self, message: str) -> Answer:
        result = self._matcher.match(message)
        first = result.candidates[0].intent if result.candidates else None
        score = result.score if result.confidence is None else result.confidence
        return Answer(first, score, result.verdict)


run(Ours())
