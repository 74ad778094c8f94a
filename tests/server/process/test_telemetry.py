"""Matches as OpenTelemetry spans."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

import pytest
from flaky import FlakyEncoder
from opentelemetry import trace
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from starlette.testclient import TestClient

from intentmatch import Matcher
from intentmatch.core import plugins
from intentmatch.core.errors import MissingExtraError
from intentmatch.core.types import Kind, Vectors
from intentmatch.server import create_app

PARENT = {"traceparent": "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"}


@pytest.fixture
def kept(monkeypatch: pytest.MonkeyPatch) -> InMemorySpanExporter:
    """The exporter of all spans. A process cannot change its tracer provider, so the tests patch in one."""
    exporter, provider = InMemorySpanExporter(), TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    monkeypatch.setattr(trace, "get_tracer", provider.get_tracer)
    return exporter


def test_match_is_a_span_with_its_stages(matcher: Matcher, kept: InMemorySpanExporter) -> None:
    """In order of time, and without the message."""
    with TestClient(create_app(matcher, telemetry=True)) as client:
        answer = client.post("/match", json={"text": "helo there"}).json()

    (span,) = kept.get_finished_spans()
    assert span.name == "intentmatch.match"
    assert dict(span.attributes or {}) == {
        "intentmatch.verdict": answer["verdict"],
        "intentmatch.intent": answer["intent"] or "",
        "intentmatch.score": pytest.approx(answer["score"], abs=1e-3),
        "intentmatch.language": answer["language"],
        "intentmatch.decided_by": answer["trace"]["decided_by"],
        "intentmatch.fingerprint": matcher.registry.fingerprint,
    }
    assert [event.name for event in span.events] == [stage["name"] for stage in answer["trace"]["stages"]]
    times = [span.start_time, *(event.timestamp for event in span.events), span.end_time]
    assert times == sorted(times)
    assert "helo" not in span.to_json()


@pytest.mark.parametrize(
    ("path", "body"), [("/match", {"text": "hello"}), ("/match/batch", {"texts": ["hello", "bye"]})]
)
def test_span_belongs_to_the_trace_of_the_caller(
    matcher: Matcher, kept: InMemorySpanExporter, path: str, body: dict[str, object]
) -> None:
    """Each message of a batch too; without a caller's trace it starts one."""
    with TestClient(create_app(matcher, telemetry=True)) as client:
        client.post(path, json=body, headers=PARENT)
        spans = kept.get_finished_spans()
        client.post("/match", json={"text": "hello"})

    assert len(spans) == len(body.get("texts", ["hello"]))  # type: ignore[arg-type]
    for span in spans:
        assert span.parent is not None
        assert f"{span.context.trace_id:032x}-{span.parent.span_id:016x}" in PARENT["traceparent"]
    assert kept.get_finished_spans()[-1].parent is None


@pytest.mark.parametrize(
    ("path", "body"),
    [
        ("/match", {"text": "what is that"}),
        ("/match/batch", {"texts": ["what is that"]}),
        ("/chat", {"text": "what is that", "conversation": "a"}),
    ],
)
def test_span_carries_the_registry_that_answered(
    folder: Path, kept: InMemorySpanExporter, admin: dict[str, str], path: str, body: dict[str, object]
) -> None:
    """Even if the files are reloaded while the message is being matched."""
    encoder = FlakyEncoder()
    matcher = Matcher.load(folder, encoder=encoder, cache="off")
    before = matcher.registry.fingerprint
    app = create_app(matcher, telemetry=True)
    encode, reloaded = encoder.encode, []

    def reload_meanwhile(texts: Sequence[str], *, kind: Kind = "utterance") -> Vectors:
        if kind == "query" and not reloaded:
            reloaded.append(True)
            (folder / "more.yaml").write_text("intents: {thanks: {utterances: [thank you]}}", encoding="utf-8")
            matcher.reload()
        return encode(texts, kind=kind)

    encoder.encode = reload_meanwhile  # type: ignore[method-assign]
    assert TestClient(app).post(path, json=body).status_code == 200

    (span,) = kept.get_finished_spans()
    assert reloaded
    assert matcher.registry.fingerprint != before
    assert dict(span.attributes or {})["intentmatch.fingerprint"] == before


def test_trace_of_an_outer_middleware_is_kept(matcher: Matcher, kept: InMemorySpanExporter) -> None:
    app = create_app(matcher, telemetry=True)

    async def around(scope, receive, send):  # type: ignore[no-untyped-def]
        span = trace.get_tracer("around").start_span("request")
        with trace.use_span(span, end_on_exit=True):
            await app(scope, receive, send)

    TestClient(around).post("/match", json={"text": "hello"}, headers=PARENT)

    match, request = kept.get_finished_spans()
    assert match.parent.span_id == request.context.span_id


def test_missing_extra_is_named(matcher: Matcher, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "opentelemetry.trace", None)
    monkeypatch.setattr(plugins, "installed", lambda module: not module.startswith("opentelemetry"))
    with pytest.raises(MissingExtraError, match=r'pip install "intentmatch\[telemetry\]"'):
        create_app(matcher, telemetry=True)


def test_opentelemetry_is_imported_only_if_turned_on(matcher: Matcher, monkeypatch: pytest.MonkeyPatch) -> None:
    """By this package; releases of FastAPI may import it."""
    asked: list[str] = []
    require = plugins.require
    monkeypatch.setattr(plugins, "require", lambda module, **why: asked.append(module) or require(module, **why))
    for telemetry in (False, True):
        with TestClient(create_app(matcher, telemetry=telemetry)) as client:
            assert client.post("/match", json={"text": "hello"}).json()["intent"] == "greet"
        assert any(module.startswith("opentelemetry") for module in asked) == telemetry
