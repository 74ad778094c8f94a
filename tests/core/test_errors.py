"""Errors say what, where and how to fix it, and survive the way from one process to another."""

from __future__ import annotations

import copy
import pickle

import pytest

from intentmatch.core import errors
from intentmatch.core.errors import (
    ArtefactError,
    InputError,
    IntentMatchError,
    Location,
    MissingExtraError,
    ModelUnavailableError,
    Problem,
    RegistryError,
    SettingsError,
    StaleArtefactError,
    UnavailableError,
    UnknownNameError,
    suggest,
)

HERE = Location("intents/a.yaml", 4, 7)


def test_a_location_is_what_editors_jump_to():
    """A location reads path:line:column, and path:line where there is little room."""
    assert str(HERE) == "intents/a.yaml:4:7"
    assert HERE.short == "intents/a.yaml:4"


def test_a_problem_reads_as_one_line():
    """A problem without a hint is path:line:column: severity [rule] message."""
    problem = Problem(HERE, "warning", "duplicate-utterance", "“hi” is already at a.yaml:3")

    assert str(problem) == "intents/a.yaml:4:7: warning [duplicate-utterance] “hi” is already at a.yaml:3"


def test_a_hint_stands_on_a_line_of_its_own():
    """The way out follows the problem, indented."""
    problem = Problem(HERE, "error", "no-utterances", "intent 'a' has no utterances", "list them")

    assert str(problem).splitlines() == [
        "intents/a.yaml:4:7: error [no-utterances] intent 'a' has no utterances",
        "  hint: list them",
    ]


def test_problems_are_ordered_by_place():
    """Problems sort by path, then by line and column as numbers."""
    places = [Location("b", 1, 1), Location("a", 10, 1), Location("a", 9, 12), Location("a", 9, 2)]

    ordered = sorted(Problem(place, "error", "rule", "message") for place in places)

    assert [str(problem.location) for problem in ordered] == ["a:9:2", "a:9:12", "a:10:1", "b:1:1"]


def test_a_registry_error_holds_and_says_every_problem_in_order():
    """All problems are in the text of the error and in `problems`, sorted by place."""
    late = Problem(Location("a.yaml", 20), "error", "no-utterances", "late")
    early = Problem(Location("a.yaml", 3), "warning", "duplicate-utterance", "early", "remove it")

    error = RegistryError(iter([late, early]))

    assert error.problems == (early, late)
    assert str(error) == f"{early}\n{late}"


def test_an_unknown_name_comes_with_the_known_ones():
    """The text lists what is known, sorted, and the one that was probably meant."""
    error = UnknownNameError("encoder", "statik", ["static", "sentence_transformer"], "See the README.")

    assert str(error) == (
        "unknown encoder 'statik': known are sentence_transformer, static. Did you mean 'static'? See the README."
    )


def test_an_unknown_name_among_none_says_so():
    """Without known names the text says "none" and suggests nothing."""
    assert str(UnknownNameError("encoder", "x", [])) == "unknown encoder 'x': known are none."


def test_a_missing_extra_names_the_pip_line():
    """The text ends with the command that installs what is missing."""
    error = MissingExtraError("A cross-encoder", "torch")

    assert str(error).startswith("A cross-encoder needs an extra that is not installed.")
    assert str(error).endswith('pip install "intentmatch[torch]"')
    assert error.extra == "torch"


@pytest.mark.parametrize(
    ("kind", "parent", "exit_code"),
    [
        (InputError, IntentMatchError, 2),
        (RegistryError, InputError, 2),
        (SettingsError, InputError, 2),
        (UnknownNameError, InputError, 2),
        (ArtefactError, IntentMatchError, 2),
        (StaleArtefactError, ArtefactError, 2),
        (UnavailableError, IntentMatchError, 5),
        (MissingExtraError, UnavailableError, 5),
        (ModelUnavailableError, UnavailableError, 5),
    ],
)
def test_the_tree_is_as_drawn(kind, parent, exit_code):
    """Every error has the parent and the exit code that the tree at the top of the room shows."""
    drawn = (errors.__doc__ or "").splitlines()

    assert kind.__bases__ == (parent,)
    assert kind.exit_code == exit_code
    assert any(f" {kind.__name__}" in line for line in drawn)


def test_the_root_exits_with_one():
    """An error that is nothing more special exits with 1."""
    assert IntentMatchError.exit_code == 1
    assert IntentMatchError.__bases__ == (Exception,)


@pytest.mark.parametrize(
    "error",
    [
        IntentMatchError("root"),
        RegistryError([Problem(HERE, "error", "no-utterances", "message", "hint")]),
        SettingsError("setting 'margin' cannot be 2"),
        UnknownNameError("encoder", "statik", ["static"], "hint"),
        ArtefactError("damaged"),
        StaleArtefactError("stale"),
        MissingExtraError("A cross-encoder", "torch"),
        ModelUnavailableError("none"),
    ],
    ids=lambda error: type(error).__name__,
)
def test_errors_survive_pickling(error):
    """A worker process can hand any error to its parent, text and attributes intact."""
    for twin in (pickle.loads(pickle.dumps(error)), copy.copy(error)):
        assert type(twin) is type(error)
        assert str(twin) == str(error)
        assert vars(twin) == vars(error)


@pytest.mark.parametrize(
    ("name", "expected"),
    [("utterance", "utterances"), ("treshold", "threshold"), ("THRESHOLD", None), ("zzz", None), ("", None)],
)
def test_suggest_names_what_is_near_and_nothing_else(name, expected):
    """A slip of the fingers finds its name; anything else finds None."""
    assert suggest(name, ["utterances", "threshold", "title"]) == expected


def test_suggest_among_nothing_is_none():
    """Without known names there is nothing to suggest."""
    assert suggest("static", []) is None
