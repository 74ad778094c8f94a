"""The guide is a program: every block of every page is executed, every link leads somewhere."""

from __future__ import annotations

import dataclasses
import re
from html.parser import HTMLParser
from pathlib import Path

import cli_page
import click
import pytest
import yaml
from documents import (
    GUIDE,
    ROOT,
    Document,
    Runner,
    check_notes,
    documents,
    extras_known,
    missing_packages,
    pages,
    skip_if_separate,
    why_broken,
)
from postgres_server import CannotRunError
from rule_ids import rules_in
from test_layers import FLOORS

from intentmatch.cli.commands import cli
from intentmatch.cli.match import EXIT_CODES
from intentmatch.core import errors
from intentmatch.core.errors import IntentMatchError
from intentmatch.core.settings import PARSERS, Settings, parse
from intentmatch.lint import CATALOGUE
from intentmatch.registry.reading import grammar
from intentmatch.registry.reading.slot_grammar import KINDS, SLOT_KEYS

PAGES = [pytest.param(page, id=page.name) for page in pages()]
QUICK = (
    "context-and-conversation",
    "languages",
    "python-api",
    "slots",
    "templates",
    "webhook",
)
"""Pages that the default tier executes, in a few seconds each: the library, the command line, a server."""
DOCUMENTS = [pytest.param(document, id=document.name) for document in documents()]


@pytest.fixture(scope="module")
def vectors(tmp_path_factory: pytest.TempPathFactory) -> str:
    """A cache for all pages: most of them read the shipped intents."""
    return str(tmp_path_factory.mktemp("vectors"))


@pytest.mark.parametrize(
    "page",
    [pytest.param(page, id=page.name, marks=[] if page.name in QUICK else pytest.mark.end_to_end) for page in pages()],
)
def test_every_block_runs(page: Document, tmp_path: Path, vectors: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """In a fresh folder, with the extras that the page names."""
    skip_if_separate(page)
    monkeypatch.setenv("INTENTMATCH_CACHE", vectors)
    if missing := missing_packages(page.extras or []):
        pytest.skip(f"needs the extras {', '.join(page.extras or [])}; not installed: {', '.join(missing)}")
    try:
        Runner(page, tmp_path / "page").run()
    except CannotRunError as error:
        pytest.skip(str(error))


@pytest.mark.parametrize("document", DOCUMENTS)
def test_the_extras_exist(document: Document) -> None:
    """Those of the first line, and those of every `pip install` line."""
    assert document.extras is not None, "the first line must be `<!-- extras: server,watch -->`, or `<!-- extras: -->`"
    known = extras_known()
    assert set(document.extras) <= set(known)
    for words in re.findall(r"(?:intentmatch|\.)\[([\w,-]+)\]", " ".join(re.findall(r"pip install.*", document.text))):
        assert set(words.split(",")) <= set(known), words


@pytest.mark.parametrize("page", PAGES)
def test_a_page_begins_as_all_do(page: Document) -> None:
    """A title, an introduction, and the install line where extras are needed."""
    lines = [line for line in page.prose if line.strip() and not line.startswith("<!--")]
    assert lines[0].startswith("# ")
    assert lines[1][0] not in "#-|`"
    assert sum(line.startswith("# ") for line in page.prose) == 1
    for extra in page.extras or []:
        assert re.search(rf"\[[\w,-]*\b{re.escape(extra)}\b[\w,-]*\]", page.text), f"no `pip install` line with {extra}"


@pytest.mark.parametrize("page", PAGES)
def test_the_site_can_read_a_page(page: Document) -> None:
    """MkDocs reads the source as HTML, too, and ends where `<![`, in a regular expression say, begins no section."""
    HTMLParser().feed(page.text)


@pytest.mark.parametrize("document", DOCUMENTS)
def test_links_lead_somewhere(document: Document) -> None:
    """Files of links exist, and the headings of their anchors."""
    broken = [
        f"{document.place}:{link.line}: {link.target} {reason}"
        for link in document.links
        if (reason := why_broken(link.target, document))
    ]
    assert not broken, "\n".join(broken)


@pytest.mark.parametrize("document", DOCUMENTS)
def test_every_block_says_how_it_is_executed(document: Document) -> None:
    """Fences are closed, begin a line and have a language, and their notes are known."""
    check_notes(document)


def test_the_page_of_commands_is_made_from_their_help() -> None:
    """Every command has a section, and its text and options are those of `--help`."""
    page = cli_page.PAGE.read_text(encoding="utf-8")

    assert page == cli_page.made(page), "run `python tests/cli_page.py`"
    assert len(re.findall(r"^### ", page, re.MULTILINE)) == len(cli.list_commands(click.Context(cli)))
    assert "| `--why` | Explain the answer, stage by stage. |" in page


def test_every_exit_code_is_documented() -> None:
    """In the table of cli.md: those of our errors, and those of the verdicts."""
    table = (GUIDE / "cli.md").read_text(encoding="utf-8").split("## Exit codes")[1].split("\n## ")[0]
    told = {int(code) for code in re.findall(r"^\| (\d+) \|", table, re.MULTILINE)}
    kinds = [kind for kind in vars(errors).values() if isinstance(kind, type) and issubclass(kind, IntentMatchError)]

    assert told == {kind.exit_code for kind in kinds} | set(EXIT_CODES.values())


def test_every_setting_is_documented_with_its_default() -> None:
    """The tables of settings.md have each setting once, with the default that the code has."""
    cells = re.findall(r"^\| `(\w+)` \| ([^|]+) \|", (GUIDE / "settings.md").read_text(encoding="utf-8"), re.MULTILINE)
    rows = dict(cells)
    defaults = {field.name: field.default for field in dataclasses.fields(Settings)}

    assert len(cells) == len(rows)
    assert set(rows) == set(PARSERS)
    for name, shown in rows.items():
        if name in ("target", "inbox_keep", "inbox_sample", "reranker_budget"):
            assert parse(name, yaml.safe_load(shown.strip().strip("`"))) == getattr(Settings(), name)
        elif name in ("margin", "band"):
            assert (shown.strip(), defaults[name]) == ("learned", None)
        elif name == "allow":
            assert (shown.strip(), defaults[name]) == ("none", ())
        elif isinstance(defaults[name], bool):
            assert parse(name, shown.strip().strip("`")) is defaults[name]
        elif name not in ("threshold", "spelling", "prompts", "lint", "fallback"):
            assert shown.strip().strip("`") == str(defaults[name]), name


def test_every_key_is_documented() -> None:
    """In yaml-reference.md, each in the table of its part of a file."""
    text = (GUIDE / "yaml-reference.md").read_text(encoding="utf-8")
    tables = {part.partition("\n")[0]: part for part in text.split("\n## ")}
    for heading, keys in (
        ("A file", grammar.FILE_KEYS),
        ("An intent", grammar.INTENT_KEYS),
        ("A slot", SLOT_KEYS),
        ("A question", grammar.QUESTION_KEYS),
    ):
        assert set(re.findall(r"^\| `(\w+)` \|", tables[heading], re.MULTILINE)) == set(keys)
    for kind in KINDS:
        assert f"`{kind}`" in tables["A slot"], kind


def test_every_rule_is_documented_with_its_severity() -> None:
    """In yaml-reference.md: what `validate` knows, and what `lint` knows."""
    text = (GUIDE / "yaml-reference.md").read_text(encoding="utf-8")
    rules = rules_in(ROOT / "intentmatch" / "registry")
    severities = {"error": "error", "warning": "warning", "info": "note"}

    assert len(rules) > 30
    for rule, severity in rules:
        assert re.search(rf"^\| `{rule}` \| {severities[severity]} \|", text, re.MULTILINE), (rule, severity)
    for rule in CATALOGUE:
        assert f"`{rule}`" in text, rule


def test_the_picture_of_the_house_is_the_floor_table() -> None:
    """In how-it-works.md every package of the layer test stands on its floor, and no other is there."""
    page = (GUIDE / "how-it-works.md").read_text(encoding="utf-8")
    picture = page.split("```text\n")[1].split("```")[0]
    floors: list[set[str]] = []
    for number, package in re.findall(
        r"^(\d\d|  \d|   ) +(\w+)", re.sub(r"(?m)^(?= ?\d )", " ", picture), re.MULTILINE
    ):
        if number.strip():
            floors.insert(0, set())
        floors[0].add(package)
    assert floors == [set(floor) for floor in FLOORS]


def test_the_project_speaks_of_itself_only() -> None:
    """No text names a machine's folders."""
    places = [f"/{name}/" for name in ("work", "root", "home")]
    package = ROOT / "intentmatch"
    for file in [*ROOT.glob("*.md"), *package.rglob("*.py"), *package.rglob("*.md"), *ROOT.glob("examples/*.py")]:
        text = file.read_text(encoding="utf-8")
        assert not any(place in text for place in places), file
