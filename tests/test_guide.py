"""The guide is a program: every block of every page is executed, every link leads somewhere."""

from __future__ import annotations

import re
from pathlib import Path

import click
import pytest
from documents import GUIDE, ROOT, Document, Runner, check_notes, documents, extras_known, missing_packages, pages

from intentmatch.cli.commands import cli

PAGES = [pytest.param(page, id=page.name) for page in pages()]
DOCUMENTS = [pytest.param(document, id=document.name) for document in documents()]


@pytest.mark.parametrize("page", PAGES)
def test_every_block_runs(page: Document, tmp_path: Path) -> None:
    """In a fresh folder, with the extras that the page names."""
    if missing := missing_packages(page.extras or []):
        pytest.skip(f"needs the extras {', '.join(page.extras or [])}; not installed: {', '.join(missing)}")
    Runner(page, tmp_path / "page").run()


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


def why_broken(target: str, document: Document) -> str | None:
    """What is wrong with a link, or None."""
    if re.match(r"[a-z]+:", target):
        return None if target.startswith("https://") else "is no https link"
    file, _, anchor = target.partition("#")
    path = (document.path.parent / file).resolve() if file else document.path
    if not path.is_relative_to(ROOT):
        return "leaves the clone"
    if not path.exists():
        return "does not exist"
    if anchor and path.suffix == ".md" and anchor not in Document(path).anchors:
        return f"has no heading for #{anchor}"
    return None


def test_every_command_and_option_is_documented() -> None:
    """In the section of cli.md with the command's name, or in the table of shared options; and no option more."""
    text = "\n" + (GUIDE / "cli.md").read_text(encoding="utf-8")
    sections = {part.partition("\n")[0]: part for part in re.split(r"\n#{2,3} ", text)[1:]}
    shared = words_of_options(sections["Options of several commands"])
    context = click.Context(cli)

    for name in cli.list_commands(context):
        command = cli.get_command(context, name)
        assert f"`intentmatch {name}" in sections["Commands"], name
        commands = [command, *command.commands.values()] if isinstance(command, click.Group) else [command]
        real = {word for one in commands for option in one.params if option.param_type_name == "option"
                for word in (*option.opts, *option.secondary_opts)}  # fmt: skip
        told = words_of_options(sections[name])
        assert real - shared <= told, (name, sorted(real - shared - told))
        assert told <= real | shared, (name, sorted(told - real))


def words_of_options(section: str) -> set[str]:
    """The options in the first column of tables."""
    cells = [row.split(" | ")[0] for row in re.findall(r"^\| (`-.*)", section, re.MULTILINE)]
    return {word for cell in cells for word in re.findall(r"`(--?[\w-]+)", cell)}
