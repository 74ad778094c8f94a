"""`intentmatch guide`: the manual that is shipped in the package, in the terminal."""

from __future__ import annotations

import re
import textwrap
from dataclasses import dataclass
from pathlib import Path

import click
from click.shell_completion import CompletionItem

from intentmatch.cli.commands import cli
from intentmatch.cli.render import output
from intentmatch.core.errors import InputError

FOLDER = Path(__file__).parents[1] / "guide"
GROUPS = {
    "Start here": ("getting-started", "faq", "glossary"),
    "Write intents": (
        "writing-intents",
        "templates",
        "slots",
        "questions",
        "languages",
        "context-and-conversation",
        "lint-and-diff",
        "yaml-reference",
    ),
    "Measure and improve": ("thresholds", "messages", "evaluate", "inbox", "settings"),
    "Use in a program": ("python-api", "frameworks", "cli"),
    "Run as a server": (
        "webhook",
        "authoring",
        "candidates",
        "studio",
        "security",
        "operate",
        "several-bots",
        "cluster",
        "ray",
        "protocols",
        "decisions",
    ),
    "Encoders and size": (
        "encoders",
        "sentence-transformers",
        "reranker",
        "gpu-and-onnx",
        "distil",
        "adapt",
        "large-registries",
    ),
    "Come from elsewhere": (
        "import-export",
        "coming-from-rasa",
        "coming-from-dialogflow",
        "coming-from-luis-and-clu",
        "coming-from-watson",
        "coming-from-semantic-router",
    ),
    "Look inside": ("how-it-works",),
}
"""The topics in reading order."""

_WIDEST = 100
_CODE_THEME = "ansi_dark"
"""Has the terminal's own background."""
_SUGGESTED = 3
_MOST_LINES = 20
_SIMILAR = 65.0
_TOKEN = re.compile(
    r"^(?P<mark>```|~~~).*?^(?P=mark)[^\n]*$"
    r"|(?P<ticks>`+)(?!`).+?(?<!`)(?P=ticks)(?!`)"
    r"|(?P<comment><!--.*?-->\n?)"
    r"|\[(?P<words>(?:[^][]|\[[^]]*\])*)\]\((?P<target>[^)\s]+)\)",
    re.DOTALL | re.MULTILINE,
)
"""Code, in which nothing is changed; a comment; a link."""


@dataclass(frozen=True)
class GuidePage:
    """A page of the guide."""

    topic: str
    title: str
    about: str
    """The first sentence: what the reader will have at the end of the page."""
    text: str
    """The Markdown without its HTML comments."""


def _complete(_context: click.Context, _parameter: click.Parameter, incomplete: str) -> list[CompletionItem]:
    return [CompletionItem(topic) for topic in topics() if topic.startswith(incomplete)]


@cli.command()
@click.argument("topic", required=False, shell_complete=_complete)
def guide(topic: str | None) -> None:
    """List the pages of the guide, show one, or find a word.

    TOPIC is the name of a page, or a word: then the lines of all pages that have it are shown.

    In a pipe or a file the page is plain Markdown.

    \b
    Examples:
      intentmatch guide
      intentmatch guide slots
      intentmatch guide pooling
      intentmatch guide yaml-reference | less
    """
    if topic is None:
        _list()
        return
    name = topic.removesuffix(".md").lower()
    # A part of a topic's name is a topic that is mistyped, for which `read_page` has a hint.
    if not any(name in known for known in topics()) and (found := lines_with(topic)):
        for place, line in found[:_MOST_LINES]:
            output.echo(f"{output.style(place, fg='cyan')}: {line}")
        if len(found) > _MOST_LINES:
            output.echo(f"and {len(found) - _MOST_LINES} more lines")
        output.echo("Show a page with: intentmatch guide TOPIC")
        return
    page = read_page(name)
    if not output.in_terminal():
        output.echo(page.text)
        return
    from rich.console import Console
    from rich.markdown import Markdown

    console = Console()
    # Lines of the whole width of a large screen are hard to read.
    console.print(Markdown(with_commands(page.text), code_theme=_CODE_THEME), width=min(console.width, _WIDEST))


def topics() -> list[str]:
    """The topics that exist, in reading order."""
    found = {path.stem for path in FOLDER.glob("*.md")}
    ordered = [topic for group in GROUPS.values() for topic in group if topic in found]
    # A page that has no place in the order yet is listed all the same.
    return ordered + sorted(found - set(ordered))


def lines_with(word: str) -> list[tuple[str, str]]:
    """The lines of all pages that have a word, in any case, each with its topic."""
    # No \b, which finds no place beside a sign such as the dashes of `--watch`.
    wanted = re.compile(rf"(?<!\w){re.escape(word)}(?!\w)", re.IGNORECASE)
    pages = ((topic, read_page(topic).text) for topic in topics())
    return [(topic, line.strip()) for topic, text in pages for line in text.splitlines() if wanted.search(line)]


def read_page(topic: str) -> GuidePage:
    """Read a page. Raises InputError with similar topics if there is none of this name."""
    known = topics()
    if topic not in known:
        similar = similar_topics(topic, known)
        hint = f"did you mean {' or '.join(f'`{name}`' for name in similar)}? " if similar else ""
        raise InputError(f"the guide has no topic {topic!r}: {hint}`intentmatch guide` lists all topics")
    markdown = (FOLDER / f"{topic}.md").read_text(encoding="utf-8")
    # Comments of the pages are for the tests that run their code.
    text = _TOKEN.sub(lambda token: "" if token["comment"] else token[0], markdown).strip()
    title, _, rest = text.partition("\n")
    paragraph = " ".join(rest.strip().partition("\n\n")[0].split())
    sentence = re.match(r".*?[.:](?= [A-Z\"`(]|$)", paragraph)
    about = _TOKEN.sub(lambda token: token["words"] or token[0], sentence[0] if sentence else paragraph)
    # Pages begin with these words, which a list need not repeat.
    about = about.removeprefix("At the end of this page ").replace("`", "").replace("*", "")
    about = about if about.startswith("intentmatch") else about[:1].upper() + about[1:]
    return GuidePage(topic, title.removeprefix("# "), about, text)


def similar_topics(topic: str, known: list[str]) -> list[str]:
    """The topics that contain a word, or are spelled most like it."""
    from rapidfuzz import process

    containing = [name for name in known if topic and topic in name]
    spelled = [name for name, _, _ in process.extract(topic, known, score_cutoff=_SIMILAR)]
    return (containing or spelled)[:_SUGGESTED]


def with_commands(text: str) -> str:
    """Markdown whose links to other pages name the command that shows them, and those into the clone the path."""
    known = topics()

    def shown(token: re.Match[str]) -> str:
        if token["target"] is None or re.match(r"[a-z]+:", token["target"]):
            return token[0]
        file = token["target"].partition("#")[0]
        if file.removesuffix(".md") in known:
            return f"{token['words']} (`intentmatch guide {file.removesuffix('.md')}`)"
        return f"{token['words']} (`{file.removeprefix('../../')}`)" if file else str(token["words"])

    return _TOKEN.sub(shown, text)


def _list() -> None:
    found = topics()
    grouped = {topic for group in GROUPS.values() for topic in group}
    widest = max(map(len, found))
    for heading, group in {**GROUPS, "More": [topic for topic in found if topic not in grouped]}.items():
        pages = [read_page(topic) for topic in group if topic in found]
        if pages:
            output.echo(output.style(heading, bold=True))
            for page in pages:
                _list_one(page, widest)
            output.echo()
    output.echo("Show one with: intentmatch guide TOPIC")


def _list_one(page: GuidePage, widest: int) -> None:
    indent = " " * (widest + 4)
    described = f"{page.title}. {page.about}".replace("?. ", "? ")
    if output.in_terminal():
        width = min(output.width(), _WIDEST) - len(indent)
        described = f"\n{indent}".join(textwrap.wrap(described, max(width, 20)))
    output.echo("  " + output.style(page.topic.ljust(widest), fg="cyan") + "  " + described)
