"""A result in a notebook."""

from __future__ import annotations

from html.parser import HTMLParser

from intentmatch import Matcher
from intentmatch.core.types import Intent, Registry, Utterance


class Texts(HTMLParser):
    """Collects texts and tags, and checks that tags are closed in order."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.texts: list[str] = []
        self.tags: set[str] = set()

    def handle_starttag(self, tag: str, attrs: object) -> None:
        self.open.append(tag)
        self.tags.add(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.texts.append(data)


def read(html: str) -> Texts:
    page = Texts()
    page.feed(html)
    assert page.open == []
    return page


def test_notebook_shows_verdict_reason_and_candidates() -> None:
    lines = {"greet": "hello", "<b>bye</b>": "<script>see you</script>"}
    registry = Registry(tuple(Intent(name, (Utterance(text, "en"),)) for name, text in lines.items()))
    matcher = Matcher.load(registry, cache="off")
    result = matcher.match("hello")
    page = read(result._repr_html_())
    assert {"greet", "hello", result.trace.reason} <= set(page.texts)
    page = read(matcher.match("<script>see you</script>")._repr_html_())
    assert not page.tags & {"b", "script"}
    assert "<b>bye</b>" in page.texts
    assert "out of scope" in read(matcher.match("")._repr_html_()).texts
