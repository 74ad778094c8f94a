"""A local chat model that writes lines for `intentmatch grow`: from a table, or what a test scripts."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import pytest
from embeddings_server import FakeServer, serving


class LineServer(FakeServer):
    """Serves `/v1/chat/completions`; `lines` holds what it writes by the title of the request.

    Asked which request a line makes, it names the one that it wrote the line for, or what `meant` says.

    An item of `script` is a whole answer instead, as in `FakeServer`.
    """

    def __init__(self, lines: Mapping[str, Sequence[str]]) -> None:
        super().__init__()
        self.lines = dict(lines)
        self.meant: dict[str, str | None] = {}

    @property
    def model(self) -> str:
        return f"chat:http://{self.host}/v1/chat/completions#tiny"

    @property
    def tasks(self) -> list[dict[str, Any]]:
        """What the model was asked to write, in order."""
        return [asked for body in self.asked if "request" in (asked := _asked(body))]

    def answer(self, path: str, body: dict[str, Any]) -> Any:
        scripted = self.script.pop(0) if self.script else None
        if callable(scripted):
            scripted = scripted(body)
        if scripted is not None:
            return scripted
        asked = _asked(body)
        if "options" in asked:
            numbers = {option["title"]: option["number"] for option in asked["options"]}
            return said({"answers": [numbers.get(self._meaning(line), "none") for line in asked["messages"]]})
        return said({"lines": [*self.lines.get(asked["request"], ())]})

    def _meaning(self, line: str) -> str | None:
        written = {text.strip(" \t"): title for title, texts in self.lines.items() for text in texts}
        return self.meant.get(line, written.get(line))


def _asked(body: Mapping[str, Any]) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(body["messages"][1]["content"])
    return found


def said(content: Any) -> tuple[int, dict[str, str], Any]:
    """Return the answer of a chat model that says `content`, as JSON unless it is text."""
    text = content if isinstance(content, str) else json.dumps(content)
    message = {"role": "assistant", "content": text, "refusal": None}
    return 200, {}, {"choices": [{"index": 0, "message": message}], "usage": {"total_tokens": 7}}


@contextmanager
def line_server(
    monkeypatch: pytest.MonkeyPatch, lines: Mapping[str, Sequence[str]] | None = None
) -> Iterator[LineServer]:
    """Run a server, reached without a proxy and without a key."""
    pytest.importorskip("urllib3", reason="needs the extra [remote]")
    for name in ("http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY"):
        monkeypatch.delenv(name, raising=False)
    for name in ("INTENTMATCH_RERANKER_KEY", "INTENTMATCH_RERANKER_KEY_FILE"):
        monkeypatch.delenv(name, raising=False)
    with serving(LineServer(lines or {})) as running:
        yield running
