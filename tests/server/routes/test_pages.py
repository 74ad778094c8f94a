"""The pages of the server: they show every call, and work without internet and without scripts."""

from __future__ import annotations

import base64
import hashlib
import json
import re
import shlex
from html import unescape
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest
import several_bots
from starlette.testclient import TestClient

from intentmatch import Matcher
from intentmatch.server import create_app

BROWSER = {"accept": "text/html,application/xhtml+xml;q=0.9,*/*;q=0.8"}
VOID = {"meta", "link", "br", "hr", "img", "input"}


class Page(HTMLParser):
    """The parts of a page that matter here. Fails on tags that do not match."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.links: list[str] = []
        self.ids: list[str] = []
        self.style = ""
        self._open: list[str] = []
        self.feed(text)
        self.close()
        assert not self._open

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        found = dict(attrs)
        self.links += [value for name in ("href", "src") if (value := found.get(name)) is not None]
        self.ids += [value] if (value := found.get("id")) else []
        assert not [name for name in found if name.startswith("on") or name == "style"]
        if tag not in VOID:
            self._open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self._open.pop() == tag

    def handle_data(self, data: str) -> None:
        if self._open and self._open[-1] == "style":
            self.style += data


@pytest.fixture(params=["one", "several"])
def visitor(request: pytest.FixtureRequest, matcher: Matcher, several: Path) -> TestClient:
    """A client of a server with one bot, and of one with several."""
    return TestClient(create_app(matcher if request.param == "one" else several, keys=[], admin_keys=[]))


@pytest.mark.parametrize("path", ["/", "/docs"])
def test_page_loads_nothing(visitor: TestClient, path: str) -> None:
    """No script, no font, no image, no address but the server's own; the policy allows just the page's style."""
    answer = visitor.get(path, headers=BROWSER)
    page = Page(answer.text)
    assert (answer.status_code, answer.headers["content-type"]) == (200, "text/html; charset=utf-8")
    assert not {"script", "img", "iframe", "object", "form", "base"} & set(page.tags)
    assert not [link for link in page.links if "//" in link]
    policy = answer.headers["content-security-policy"]
    digest = base64.b64encode(hashlib.sha256(page.style.encode()).digest()).decode()
    assert policy.startswith("default-src 'none'; frame-ancestors 'none'; ")
    assert f"style-src 'sha256-{digest}'" in policy
    assert not {"unsafe-inline", "script-src"} & set(re.split(r"[; ']+", policy))


def test_docs_page_shows_every_call_schema_field_and_example(visitor: TestClient) -> None:
    document = visitor.get("/openapi.json").json()
    text = unescape(re.sub(r"<[^>]+>", "", visitor.get("/docs").text))
    page = Page(visitor.get("/docs").text)
    for path, operations in document["paths"].items():
        for verb, operation in operations.items():
            assert f"{verb.upper()} {path}" in text
            assert f"call-{operation['operationId']}" in page.ids
    for name, schema in document["components"]["schemas"].items():
        assert f"schema-{name}" in page.ids
        for field, described in schema.get("properties", {}).items():
            assert field in text
            assert described.get("description", "").replace("`", "") in text
            for example in described.get("examples", ()):
                assert json.dumps(example, ensure_ascii=False) in text


def test_links_of_pages_lead_somewhere(visitor: TestClient) -> None:
    for path in ("/", "/docs"):
        page = Page(visitor.get(path, headers=BROWSER).text)
        for link in page.links:
            if link.startswith("#"):
                assert link.removeprefix("#") in page.ids
            elif link != "data:,":
                # A server that has not started has no intents yet: that is an answer too.
                assert visitor.get(f"/{link.removeprefix('/')}").status_code in (200, 503)
    assert len(page.ids) == len(set(page.ids))


def test_every_curl_example_is_valid(matcher: Matcher) -> None:
    """Sent as shown, it gets an answer or asks for what the example cannot know, such as a key or an intent's name."""
    app = create_app(matcher)
    client = TestClient(app)
    commands = [unescape(each) for each in re.findall(r"<pre>(.*?)</pre>", client.get("/docs").text, re.DOTALL)]
    assert len(commands) == sum(map(len, app.openapi()["paths"].values()))
    for command in commands:
        method, url, headers, body = parsed(command)
        answer = client.request(method, url, headers=headers, content=body)
        assert answer.status_code in (200, 202, 403, 503) or "unknown intent" in answer.text, (command, answer.text)


def parsed(command: str) -> tuple[str, str, dict[str, str], str | None]:
    """Method, URL, headers and body of a curl command."""
    words = shlex.split(command)
    assert words[:2] == ["curl", "-s"]
    options: dict[str, Any] = {"-H": [], "-d": None, "-X": None}
    rest = words[2:]
    urls = []
    while rest:
        word = rest.pop(0)
        if word == "-H":
            options["-H"].append(rest.pop(0))
        elif word in options:
            options[word] = rest.pop(0)
        else:
            urls.append(word)
    (url,) = urls
    method = options["-X"] or ("GET" if options["-d"] is None else "POST")
    return method, url, dict(header.split(": ", 1) for header in options["-H"]), options["-d"]


def test_docs_say_which_calls_need_a_key(matcher: Matcher) -> None:
    page = TestClient(create_app(matcher, keys=["one"], admin_keys=["boss"])).get("/docs").text
    sections = dict(re.findall(r'<section id="call-(\w+)">(.*?)</section>', page, re.DOTALL))
    assert "Needs a key." in sections["match"]
    assert "Authorization: Bearer $KEY" in sections["match"]
    assert "Needs an admin key." in sections["reload"]
    assert "Needs no key." in sections["healthz"]
    assert "Bearer" not in sections["healthz"]


@pytest.mark.parametrize("host", ["<script>alert(1)</script>", "a';rm -rf /;'", "[", "x" * 300, ""])
def test_host_header_is_quoted(matcher: Matcher, host: str) -> None:
    """The examples name the host of the request, quoted for HTML and for the shell."""
    answer = TestClient(create_app(matcher)).get("/docs", headers={"host": host})
    Page(answer.text)
    assert "<script" not in answer.text
    (command, *_) = re.findall(r"<pre>(.*?)</pre>", answer.text, re.DOTALL)
    _, url, _, _ = parsed(unescape(command))
    assert url == f"http://{host or 'localhost'}/match"


def test_home_lists_the_addresses(visitor: TestClient) -> None:
    """JSON for programs, a page for browsers."""
    answer = visitor.get("/")
    assert answer.json()["name"] == "intentmatch"
    links = answer.json()["links"]
    assert links["docs"] == "/docs"
    assert {"/openapi.json", "/healthz", "/readyz"} < set(links.values())
    page = Page(visitor.get("/", headers=BROWSER).text)
    assert [link for link in page.links if link != "data:,"] == list(links.values())


def test_home_and_docs_need_no_key(matcher: Matcher) -> None:
    client = TestClient(create_app(matcher, keys=["one"]))
    assert client.get("/").status_code == client.get("/docs").status_code == 200


def test_home_is_rasas_if_it_speaks_rasa(matcher: Matcher) -> None:
    assert TestClient(create_app(matcher, protocols=["rasa"])).get("/").text.startswith("Hello from Rasa")


def test_home_of_the_studio_for_one_person_opens_it(matcher: Matcher) -> None:
    pytest.importorskip("nicegui")
    client = TestClient(create_app(matcher, studio=True, open_studio=True, keys=()), root_path="/bot")

    answer = client.get("/", follow_redirects=False)

    assert (answer.status_code, answer.headers["location"]) == (303, "/bot/studio/")


def test_home_knows_its_root_path(matcher: Matcher) -> None:
    client = TestClient(create_app(matcher), root_path="/nlu")
    assert client.get("/nlu/").json()["links"]["docs"] == "/nlu/docs"


def test_swagger_and_redoc_are_gone(matcher: Matcher) -> None:
    client = TestClient(create_app(matcher))
    for path in ("/redoc", "/docs/oauth2-redirect"):
        assert client.get(path).status_code == 404


def test_of_several_bots_the_examples_name_one(several: Path) -> None:
    with several_bots.served(several) as client:
        assert "/bots/shop/match" in client.get("/docs").text
