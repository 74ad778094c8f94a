"""The search for the mistake behind a syntax error: when a guess is believed, and its limits."""

from __future__ import annotations

import time
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from registry_files import in_file

from intentmatch.registry import examine
from intentmatch.registry.reading import nodes
from intentmatch.registry.reading.syntax_causes import explain

MISTAKES = sorted((Path(__file__).parents[1] / "mistakes").glob("*.yaml"))


def error_of(text: str) -> nodes.NodeError:
    with pytest.raises(nodes.NodeError) as caught:
        nodes.parse(text, "bot.yaml")
    return caught.value


def test_error_without_a_known_cause_stays_as_it_is():
    error = error_of('a: "\\q"\n')

    assert explain('a: "\\q"\n', error) == [error.problem]


@pytest.mark.parametrize("text", ["a: 1\n---\nb: 1", "a: \x07", "a: " + "[" * 40])
def test_valid_yaml_that_is_not_allowed_is_not_guessed_at(text: str):
    error = error_of(text)

    assert (error.reached, explain(text, error)) == (None, [error.problem])


def test_very_long_file_is_not_searched():
    text = "# " + "x" * 300_000 + "\na: @home\n"
    error = error_of(text)

    assert explain(text, error) == [error.problem]


def test_quotes_over_several_lines_are_not_taken_for_the_mistake():
    text = "a:\n  - 'two\n    lines'\n  - [please] hurry\n"

    assert [problem.location.line for problem in explain(text, error_of(text))] == [4]


def test_apostrophe_far_above_the_error_is_found():
    """The quote ends at the next apostrophe, which is where the parser gives up."""
    lines = "".join(f"  - line {number}\n" for number in range(200))
    text = f"a:\n  - 'tis late\n{lines}  - don't know\n"

    assert [problem.location.line for problem in explain(text, error_of(text))] == [2]


def test_many_mistakes_take_a_bounded_time(tmp_path: Path):
    text = "a:\n" + "  - @home\n" * 10_000

    started = time.process_time()
    _, problems = examine(in_file(tmp_path, text))

    assert 10 < len(problems) <= 60
    assert time.process_time() - started < 20.0  # without a bound it takes hours


@pytest.mark.parametrize(
    "line", [" " * 150_000 + "x: [", "- " * 50 + "\t" * 100_000 + "[", "# " * 90_000 + "\n[", "[#" * 90_000]
)
def test_long_lines_take_a_bounded_time(tmp_path: Path, line):
    started = time.process_time()
    _, problems = examine(in_file(tmp_path, line))

    assert problems
    assert time.process_time() - started < 10.0


@given(
    file=st.sampled_from(MISTAKES),
    more=st.sampled_from(["  - @x\n", "\t- x\n", "  'y\n", "[\n", "a: b: c\n", "- x\n", " z\n", "}\n"]),
    at=st.integers(0, 8),
)
def test_mistakes_on_mistakes_are_problems_with_places_in_the_file(tmp_path_factory, file, more, at):
    lines = file.read_text(encoding="utf-8").splitlines(keepends=True)
    lines.insert(at, more)

    _, problems = examine(in_file(tmp_path_factory.mktemp("mistakes"), "".join(lines)))

    assert problems == sorted(problems)
    assert all(1 <= problem.location.line <= len(lines) + 1 for problem in problems)
    assert len({problem.location.line for problem in problems if problem.rule == "yaml-syntax"}) == sum(
        problem.rule == "yaml-syntax" for problem in problems
    )
