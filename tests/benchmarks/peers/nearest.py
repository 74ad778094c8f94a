"""model2vec and the nearest example: a baseline of a few lines."""

from __future__ import annotations

from peer import Answer, Peer, run


class Nearest(Peer):
    """A static table distilled from the shared weights with the package's defaults, then cosine."""

    def load(self, encoder: str, steps: int) -> None:
        import numpy as np
        from model2vec import StaticModel

        self._np = np
        self._model = StaticModel.from_pretrained(encoder)

    def build(self, texts: list[str], intents: list[str]) -> None:
        self._intents = intents
        self._vectors = self._unit(self._model.encode(texts))

    def answer(self, message: str) -> Answer:
        cosines = self._vectors @ self._unit(self._model.encode([message]))[0]
        best = int(cosines.argmax())
        return Answer(self._intents[best], float(cosines[best]), "matched")

    def _unit(self, vectors):
        vectors = vectors.astype(self._np.float32)
        return vectors / self._np.maximum(self._np.linalg.norm(vectors, axis=1, keepdims=True), 1e-9)


run(Nearest())
