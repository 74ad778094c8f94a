"""Requests and responses as values, and apps that end when they have answered."""

from __future__ import annotations

import asyncio

from starlette.applications import Starlette
from starlette.requests import Request as StarletteRequest
from starlette.responses import PlainTextResponse
from starlette.routing import Route

from intentmatch.deploy.ray.asgi import AsgiRequest, Response, RunningApp, answer, early_answer, ingress

SCOPE = {
    "type": "http",
    "http_version": "1.1",
    "method": "POST",
    "scheme": "http",
    "path": "/echo",
    "raw_path": b"/echo",
    "query_string": b"a=1",
    "root_path": "",
    "headers": [(b"x-one", b"1")],
    "client": ("10.0.0.1", 1),
    "server": ("localhost", 80),
    "app": object(),
    "state": object(),
}


async def echo(request: StarletteRequest) -> PlainTextResponse:
    body = (await request.body()).decode()
    return PlainTextResponse(f"{request.url.query} {request.headers['x-one']} {request.client.host} {body}", 201)


def test_request_keeps_nothing_of_its_process():
    request = AsgiRequest.of(SCOPE, b"x")

    assert {"app", "state"} & request.scope.keys() == set()
    assert request.scope["client"] == ("10.0.0.1", 1)


def test_answer_is_that_of_the_app():
    app = Starlette(routes=[Route("/echo", echo, methods=["POST"])])

    response = asyncio.run(answer(app, AsgiRequest.of(SCOPE, b"hello")))

    assert (response.status, response.body) == (201, b"a=1 1 10.0.0.1 hello")
    assert (b"content-length", b"20") in response.headers


def test_early_answer_is_one_that_needs_no_body():
    ended = []

    async def app(scope, receive, send):
        try:
            if scope["path"] == "/body":
                await receive()
            await Response(401, [], b"no key")(send)
        finally:
            ended.append(scope["path"])

    assert asyncio.run(early_answer(app, AsgiRequest({"path": "/none"}, b""))) == Response(401, [], b"no key")
    assert asyncio.run(early_answer(app, AsgiRequest({"path": "/body"}, b""))) is None
    assert ended == ["/none", "/body"]


def test_websocket_is_refused():
    sent = []

    async def receive():
        return {"type": "websocket.connect"}

    async def send(message):
        sent.append(message["type"])

    asyncio.run(ingress(None)({"type": "websocket", "path": "/match"}, receive, send))

    assert sent == ["websocket.close"]


def test_response_is_sent_as_asgi_messages():
    sent = []

    async def send(message):
        sent.append(message)

    asyncio.run(Response(204, [(b"a", b"b")], b"")(send))

    assert sent == [
        {"type": "http.response.start", "status": 204, "headers": [(b"a", b"b")]},
        {"type": "http.response.body", "body": b""},
    ]


def test_ingress_answers_the_lifespan_and_passes_requests_on():
    passed, sent = [], []

    async def app(scope, receive, send):
        passed.append(scope["type"])

    async def receive():
        return {"type": "lifespan.startup"}

    async def send(message):
        sent.append(message["type"])

    asyncio.run(ingress(app)({"type": "lifespan"}, receive, send))
    asyncio.run(ingress(app)({"type": "http"}, receive, send))

    assert (passed, sent) == (["http"], ["lifespan.startup.complete", "lifespan.shutdown.complete"])


def test_request_id_is_left_to_the_proxy_of_ray():
    """Which adds the header itself: it came twice."""
    sent = []

    async def app(scope, receive, send):
        headers = [(b"X-Request-ID", b"7"), (b"content-type", b"text/plain")]
        await send({"type": "http.response.start", "status": 200, "headers": headers})
        await send({"type": "http.response.body", "body": b"hello"})

    async def send(message):
        sent.append(message)

    asyncio.run(ingress(app)({"type": "http"}, None, send))

    assert sent[0]["headers"] == [(b"content-type", b"text/plain")]
    assert sent[1]["body"] == b"hello"


def test_app_ends_when_its_last_request_is_answered():
    events = []

    async def lifespan(app):
        events.append("started")
        yield
        events.append("ended")

    async def main():
        opened = asyncio.Event()

        async def slow(request):
            await opened.wait()
            events.append("answered")
            return PlainTextResponse("")

        from contextlib import asynccontextmanager

        app = RunningApp(
            Starlette(routes=[Route("/echo", slow, methods=["POST"])], lifespan=asynccontextmanager(lifespan))
        )
        await app.start()
        answering = asyncio.create_task(answer(app, AsgiRequest.of(SCOPE, b"")))
        await asyncio.sleep(0)
        stopping = asyncio.create_task(app.stop())
        await asyncio.sleep(0)
        opened.set()
        await answering
        await stopping

    asyncio.run(main())

    assert events == ["started", "answered", "ended"]
