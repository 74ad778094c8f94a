"""Texts of errors and problems, the exception tree, and pickling."""

from __future__ import annotations

import copy
import pickle

import pytest

from intentmatch.core import errors
from intentmatch.core.errors import (
    ArtefactError,
    BudgetUsedUpError,
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


def test_location_prints_path_line_column():
    assert str(HERE) == "intents/a.yaml:4:7"
    assert HERE.short == "intents/a.yaml:4"


def test_problem_without_hint_prints_one_line():
    problem = Problem(HERE, "warning", "duplicate-utterance", "“hi” is already at a.yaml:3")

    assert str(problem) == "intents/a.yaml:4:7: warning [duplicate-utterance] “hi” is already at a.yaml:3"


def test_hint_prints_on_its_own_indented_line():
    problem = Problem(HERE, "error", "no-utterances", "intent 'a' has no utterances", "list them")

    assert str(problem).splitlines() == [
        "intents/a.yaml:4:7: error [no-utterances] intent 'a' has no utterances",
        "  hint: list them",
    ]


def test_problems_sort_by_path_line_and_column():
    """Lines and columns sort as numbers: 9 before 10."""
    places = [Location("b", 1, 1), Location("a", 10, 1), Location("a", 9, 12), Location("a", 9, 2)]

    ordered = sorted(Problem(place, "error", "rule", "message") for place in places)

    assert [str(problem.location) for problem in ordered] == ["a:9:2", "a:9:12", "a:10:1", "b:1:1"]


def test_registry_error_contains_all_problems_sorted():
    late = Problem(Location("a.yaml", 20), "error", "no-utterances", "late")
    early = Problem(Location("a.yaml", 3), "warning", "duplicate-utterance", "early", "remove it")

    error = RegistryError(iter([late, early]))

    assert error.problems == (early, late)
    assert str(error) == f"{early}\n{late}"


def test_unknown_name_lists_and_suggests_known_names():
    error = UnknownNameError("encoder", "statik", ["static", "sentence_transformer"], "See the README.")

    assert str(error) == (
        "unknown encoder 'statik': known are sentence_transformer, static. Did you mean 'static'? See the README."
    )


def test_unknown_name_without_known_names_says_none():
    assert str(UnknownNameError("encoder", "x", [])) == "unknown encoder 'x': known are none."
    assert str(UnknownNameError("revision", "x", None, "Revisions are numbers.")) == (
        "unknown revision 'x'. Revisions are numbers."
    )


def test_missing_extra_names_the_pip_command():
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
        (BudgetUsedUpError, ModelUnavailableError, 5),
    ],
)
def test_exceptions_match_the_tree_in_the_docstring(kind, parent, exit_code):
    drawn = (errors.__doc__ or "").splitlines()

    assert kind.__bases__ == (parent,)
    assert kind.exit_code == exit_code
    assert any(f" {kind.__name__}" in line for line in drawn)


def test_base_class_has_exit_code_one():
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
        BudgetUsedUpError("none left"),
    ],
    ids=lambda error: type(error).__name__,
)
def test_errors_survive_pickling(error):
    """A worker process can send any error to its parent process."""
    for twin in (pickle.loads(pickle.dumps(error)), copy.copy(error)):
        assert type(twin) is type(error)
        assert str(twin) == str(error)
        assert vars(twin) == vars(error)


@pytest.mark.parametrize(
    ("name", "expected"),
    [("utterance", "utterances"), ("treshold", "threshold"), ("THRESHOLD", None), ("zzz", None), ("", None)],
)
def test_suggest_finds_typos_only(name, expected):
    assert suggest(name, ["utterances", "threshold", "title"]) == expected


def test_suggest_without_known_names_is_none():
    assert suggest("static", []) is None
