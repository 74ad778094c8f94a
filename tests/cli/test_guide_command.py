"""`guide`: the manual in the terminal."""

from __future__ import annotations

import re

import pytest
from click.testing import CliRunner
from documents import pages
from terminal import in_a_terminal

from intentmatch.cli.commands import cli
from intentmatch.cli.guide import FOLDER, GROUPS, read_page, similar_topics, topics, with_commands

COLOURS = re.compile(r"\x1b\[[\d;]*m|\x1b\]8;[^\x1b]*\x1b\\")


def run(*words: str):
    return CliRunner().invoke(cli, ["guide", *words])


def shown_in_terminal(*words: str) -> str:
    code, shown = in_a_terminal("guide", *words)
    assert code == 0
    return COLOURS.sub("", shown.decode()).replace("\r\n", "\n")


def test_every_page_has_its_place_in_the_reading_order():
    """And the reading order names no page that does not exist."""
    ordered = [topic for group in GROUPS.values() for topic in group]

    assert len(ordered) == len(set(ordered))
    assert set(ordered) == {page.name for page in pages()} == set(topics())


def test_without_a_topic_all_pages_are_listed_in_groups():
    """Each on a line with its title and what the reader will have at its end."""
    done = run()
    lines = done.stdout.splitlines()

    assert done.exit_code == 0
    assert lines[0] == "Start here"
    assert lines[-1] == "Show one with: intentmatch guide TOPIC"
    for page in pages():
        (line,) = [line for line in lines if line.startswith(f"  {page.name} ")]
        title, _, about = line[2:].removeprefix(page.name).strip().partition(f"{page.title}")
        assert title == ""
        assert len(about) > 20
        assert not re.search(r"[`*]|\]\(", about)


def test_a_listing_in_a_terminal_is_wrapped():
    """To the width of the terminal, 100 columns at most."""
    lines = shown_in_terminal().splitlines()

    assert lines[0] == "Start here"
    assert max(map(len, lines)) <= 100


@pytest.mark.parametrize("page", pages(), ids=lambda page: page.name)
def test_a_page_in_a_pipe_is_its_markdown_without_comments(page):
    """Apart from the comments that say how tests execute its blocks."""
    done = run(page.name)

    assert done.exit_code == 0
    assert done.stdout.startswith(f"# {page.title}\n")
    assert "<!-- extras" not in done.stdout
    assert [line for line in page.text.strip().splitlines() if not line.startswith("<!-- ")] == done.stdout.splitlines()


def test_comments_inside_of_code_are_kept(tmp_path, monkeypatch):
    """A block may show a comment to the reader."""
    monkeypatch.setattr("intentmatch.cli.guide.FOLDER", tmp_path)
    (tmp_path / "slots.md").write_text(
        "<!-- extras: -->\n# Slots\n\nAbout them. More.\n\n"
        "<!-- shown -->\n```text\n<!-- kept -->\n```\nAnd `<!-- -->`.\n"
    )

    page = read_page("slots")

    assert page.text == "# Slots\n\nAbout them. More.\n\n```text\n<!-- kept -->\n```\nAnd `<!-- -->`."
    assert page.about == "About them."


def test_a_page_in_a_terminal_is_rendered():
    """Headings without `#`, and a link names the command that shows its page."""
    shown = shown_in_terminal("getting-started")

    assert "Getting started" in shown.splitlines()[0]
    assert "## " not in shown
    assert "intentmatch guide writing-intents" in " ".join(shown.split())


def test_links_become_commands_and_paths():
    """Code is left as it is."""
    text = (
        "[Slots](slots.md), [the `target`](thresholds.md#the-target), [deploy](../../examples/deploy), [here](#above), "
        "[site](https://example.org), `[no](slots.md)`\n```text\n[no](slots.md)\n```\n"
    )

    assert with_commands(text) == (
        "Slots (`intentmatch guide slots`), the `target` (`intentmatch guide thresholds`), deploy (`examples/deploy`), "
        "here, [site](https://example.org), `[no](slots.md)`\n```text\n[no](slots.md)\n```\n"
    )


@pytest.mark.parametrize(
    ("topic", "hint"),
    [
        ("slot", "did you mean `slots`? "),
        ("rasa", "did you mean `coming-from-rasa`? "),
        ("treshold", "did you mean `thresholds`? "),
        ("qqqq", ""),
        ("../guide/slots", ""),
    ],
)
def test_an_unknown_topic_names_similar_ones(topic, hint):
    """And the command that lists all; the exit code is that of a wrong input."""
    done = run(topic)

    assert done.exit_code == 2
    assert done.stderr.startswith(f"error: the guide has no topic {topic!r}: {hint}")
    assert "`intentmatch guide` lists all topics" in done.stderr


@pytest.mark.parametrize("topic", ["slots.md", "Slots"])
def test_a_topic_may_be_written_as_a_file_or_with_capitals(topic):
    """As links and titles have it."""
    assert run(topic).stdout == run("slots").stdout


def test_at_most_three_topics_are_suggested():
    """The list of all is one command away."""
    assert len(similar_topics("coming", topics())) == 3


def test_the_guide_is_shipped_in_the_package():
    """Beside the code, so that it is in the wheel."""
    assert FOLDER.parent.name == "intentmatch"


def test_word_that_is_no_topic_is_searched_in_all_pages():
    done = run("Spearman")

    assert done.exit_code == 0
    assert "encoders: " in done.stdout
    assert all("spearman" in line.lower() for line in done.stdout.splitlines()[:-1])
