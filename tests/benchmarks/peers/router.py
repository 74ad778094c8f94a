"""semantic-router: cosine similarity to the nearest examples, without a threshold unless one is given."""

from __future__ import annotations

from peer import Answer, Peer, run


class SemanticRouterPeer(Peer):
    """With default settings except `aggregation`, which is set to the better of its two values."""

    def load(self, encoder: str, steps: int) -> None:
        from semantic_router import Route
        from semantic_router.encoders import LocalEncoder
        from semantic_router.routers import IndexedRouter

        self._route, self._router_class = Route, IndexedRouter
        self._encoder = LocalEncoder(name=encoder)

    def build(self, texts: list[str], intents: list[str]) -> None:
        lines: dict[str, list[str]] = {}
        for text, intent in zip(texts, intents, strict=True):
            lines.setdefault(intent, []).append(text)
        routes = [self._route(name=name, utterances=some) for name, some in lines.items()]
        self._router = self._router_class(encoder=self._encoder, routes=routes, aggregation="max")

    def answer(self, message: str) -> Answer:
        choice = self._router(message)
        return Answer(choice.name, choice.confidence or 0.0, "matched" if choice.name else "out_of_scope")


run(SemanticRouterPeer())
