"""Settings: four places in their order, each value with its origin, and no impossible value accepted."""

from __future__ import annotations

import dataclasses
import math
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from intentmatch.core import settings
from intentmatch.core.errors import Location, RegistryError, SettingsError
from intentmatch.core.settings import PARSERS, Settings, fraction, parse, resolve

AIMS = "it must be one of precision, false_accept, balance, as in `{precision: 0.95}`"
NOT_A_FRACTION = [
    1.0001,
    -0.0001,
    math.nan,
    math.inf,
    -math.inf,
    True,
    False,
    None,
    "",
    "nan",
    "inf",
    "half",
    [],
    10**400,
]


def test_every_setting_can_be_set():
    """The table of parsers and the fields of `Settings` name the same things."""
    fields = {field.name for field in dataclasses.fields(Settings)} - {"origins"}

    assert set(PARSERS) == fields


def test_every_default_is_a_possible_value():
    """What stands as a default could also have been written."""
    defaults = Settings()

    assert {name: parse(name, getattr(defaults, name)) for name in PARSERS} == {
        name: getattr(defaults, name) for name in PARSERS
    }


def test_nothing_given_is_the_defaults():
    """Without any source each value is its default and says so."""
    resolved = resolve(environ={})

    assert resolved == Settings()
    assert {resolved.origin(name) for name in PARSERS} == {"default"}


@pytest.mark.parametrize(
    ("explicit", "environ", "registry", "base", "value", "origin"),
    [
        ({"margin": 0.4}, {"INTENTMATCH_MARGIN": "0.3"}, {"margin": "0.2"}, Settings(margin=0.1), 0.4, "argument"),
        (
            {},
            {"INTENTMATCH_MARGIN": "0"},
            {"margin": "0.2"},
            Settings(margin=0.1),
            0.0,
            "environment INTENTMATCH_MARGIN",
        ),
        ({}, {}, {"margin": "0.2"}, Settings(margin=0.1), 0.2, "bot.yaml:7"),
        ({}, {}, {}, Settings(margin=0.1, origins={"margin": "old.yaml:3"}), 0.1, "old.yaml:3"),
        ({}, {}, {}, Settings(margin=0.1), 0.1, "default"),
        ({}, {}, {}, None, Settings().margin, "default"),
    ],
)
def test_the_nearer_source_wins(explicit, environ, registry, base, value, origin):
    """Argument over environment over registry over what an artefact was built with over default."""
    places = {"margin": Location("bot.yaml", 7, 3)}

    resolved = resolve(explicit, environ=environ, registry=registry, locations=places, base=base)

    assert resolved.margin == value
    assert resolved.origin("margin") == origin


def test_sources_are_merged_setting_by_setting():
    """A source that speaks of one setting leaves the others to the sources behind it."""
    resolved = resolve({"top_k": 3}, environ={"INTENTMATCH_BAND": "0"}, registry={"fuzzy": "1.0"})

    assert resolved == Settings(top_k=3, band=0.0, fuzzy=1.0)


def test_the_environment_is_the_process_environment(monkeypatch):
    """Without an explicit environment, variables of this process count."""
    monkeypatch.setenv("INTENTMATCH_AGGREGATION", "max")

    assert resolve().aggregation == "max"


def test_an_origin_does_not_make_settings_different():
    """Settings are equal when their values are."""
    assert Settings(margin=0.1, origins={"margin": "argument"}) == Settings(margin=0.1)


@pytest.mark.parametrize("value", [0.0, 1.0, 0, 1, "0", "1", "0.0", "1.0", " 0.5 ", "5e-1"])
def test_both_ends_of_a_fraction_belong_to_it(value):
    """0 and 1 are numbers from 0 to 1, as numbers and as text."""
    assert fraction(value) == float(value)


@pytest.mark.parametrize("value", NOT_A_FRACTION, ids=lambda value: str(value)[:8])
def test_a_fraction_is_a_number_from_zero_to_one(value):
    """What is outside, is no number, or is a truth value, is refused in the same words."""
    with pytest.raises(ValueError, match=r"^it must be a number from 0 to 1$"):
        fraction(value)


@given(st.floats(allow_nan=True, allow_infinity=True) | st.integers())
def test_a_fraction_lies_between_its_ends_or_is_refused(number):
    """No number comes out of `fraction` that is not from 0 to 1."""
    try:
        assert 0.0 <= fraction(number) <= 1.0
    except ValueError:
        assert not 0.0 <= number <= 1.0


@pytest.mark.parametrize(
    ("written", "expected"),
    [
        (0.5, {"default": 0.5}),
        ("0.5", {"default": 0.5}),
        (0, {"default": 0.0}),
        ("1.0", {"default": 1.0}),
        ("0.5,de=0.45", {"default": 0.5, "de": 0.45}),
        ("de=0.45", {"de": 0.45}),
        (" de = 0.45 , fr=0 ", {"de": 0.45, "fr": 0.0}),
        ("default=0.5,de=0.45", {"default": 0.5, "de": 0.45}),
        ({"default": "0.5", "pt_br": 0.4}, {"default": 0.5, "pt-BR": 0.4}),
        ({}, {}),
        ("auto", {}),
        (None, {}),
    ],
)
def test_a_threshold_has_four_written_forms(written, expected):
    """A number, a list by language, a mapping by language, or auto: all become a mapping."""
    assert parse("threshold", written) == expected


@pytest.mark.parametrize(
    ("written", "expected"),
    [
        ("precision=0.9", {"precision": 0.9}),
        ("precision=0.9, give_up=0.01", {"precision": 0.9, "give_up": 0.01}),
        ({"precision": "1", "give_up": 0}, {"precision": 1.0, "give_up": 0.0}),
        ("false_accept=0.05", {"false_accept": 0.05}),
        ({"false_accept": 0}, {"false_accept": 0.0}),
        ("balance", {"balance": True}),
        ({"balance": True}, {"balance": True}),
        ({"balance": "true"}, {"balance": True}),
    ],
)
def test_a_target_is_written_as_text_or_as_a_mapping(written, expected):
    """One thing to aim for, with what it may cost where that is a precision."""
    assert parse("target", written) == expected
    assert parse("target", parse("target", written)) == expected


@pytest.mark.parametrize(
    ("name", "value", "why"),
    [
        ("encoder", "", "it must be text"),
        ("encoder", "  ", "it must be text"),
        ("encoder", 5, "it must be text"),
        ("encoder", None, "it must be text"),
        ("device", [], "it must be text"),
        ("precision", "double", "it must be one of auto, float32, float16, bfloat16"),
        ("precision", ["auto"], "it must be one of auto, float32, float16, bfloat16"),
        ("prompts", "query: ", "it must be a mapping with the keys utterance and query"),
        ("prompts", {"passage": "x"}, "its keys are utterance and query, not passage"),
        ("prompts", {"query": None}, "each must be text"),
        ("aggregation", "mean", "it must be one of mean2, max"),
        ("threshold", 1.5, "it must be a number from 0 to 1"),
        ("threshold", True, "it must be a number from 0 to 1"),
        ("threshold", math.nan, "it must be a number from 0 to 1"),
        ("threshold", "", "it must be a number from 0 to 1"),
        ("threshold", "0.5,,", "it must be a number from 0 to 1"),
        ("threshold", "de=high", "it must be a number from 0 to 1"),
        ("threshold", {"de": None}, "it must be a number from 0 to 1"),
        ("threshold", {"deutsch": 0.5}, "'deutsch' is neither a language code such as en or pt-BR, nor `default`"),
        ("threshold", {"de": {"at": 0.5}}, "it must be a number from 0 to 1"),
        ("margin", "3%", "it must be a number from 0 to 1"),
        ("scorer", "svm", "it must be one of head, cosine"),
        ("target", "", AIMS),
        ("target", 0.9, AIMS),
        ("target", {}, AIMS),
        ("target", {"give_up": 0.1}, AIMS),
        ("target", "precision=0.9,balance", AIMS),
        ("target", "precision", "it must be a number from 0 to 1"),
        ("target", "precision=high", "it must be a number from 0 to 1"),
        ("target", "precision=0.9,recall=0.1", "it takes precision, false_accept, balance and give_up, not recall"),
        ("target", "false_accept=0.1,give_up=0.1", "give_up goes with precision"),
        ("target", "balance=false", "balance is `true` or left out"),
        ("margin", -0.1, "it must be a number from 0 to 1"),
        ("fuzzy", math.inf, "it must be a number from 0 to 1"),
        ("fuzzy", False, "it must be a number from 0 to 1"),
        ("band", "nan", "it must be a number from 0 to 1"),
        ("band", 10**400, "it must be a number from 0 to 1"),
        ("reranker", "", "it must be text"),
        ("reranker", False, "it must be text"),
        ("top_k", 0, "it must be a whole number from 1 up"),
        ("top_k", -1, "it must be a whole number from 1 up"),
        ("top_k", True, "it must be a whole number from 1 up"),
        ("top_k", 2.5, "it must be a whole number from 1 up"),
        ("top_k", math.inf, "it must be a whole number from 1 up"),
        ("top_k", "five", "it must be a whole number from 1 up"),
        ("top_k", None, "it must be a whole number from 1 up"),
        ("remote_seconds", 0, "it must be a number of seconds above 0"),
        ("remote_seconds", "inf", "it must be a number of seconds above 0"),
        ("cache", "", "it must be text"),
        ("cache", True, "it must be text"),
        ("inbox", "", "it must be text"),
        ("inbox_mode", "secret", "it must be one of redacted, hashed, plain"),
        ("inbox_keep", 5, "it must be a mapping with the keys messages and days"),
        ("inbox_keep", {"weeks": 5}, "it must be a mapping with the keys messages and days"),
        ("inbox_keep", "messages=none", "it must be a whole number from 1 up"),
        ("inbox_keep", {"days": 0}, "it must be a whole number from 1 up"),
        ("lint", 3, "it must map rule ids to levels, as few-utterances=off does"),
        ("lint", "", "it must be one of off, info, warning, error"),
        ("lint", "few-utterances=off,two-clusters", "it must be one of off, info, warning, error"),
        ("lint", {"few-utterances": "loud"}, "it must be one of off, info, warning, error"),
    ],
    ids=lambda value: str(value)[:20],
)
def test_an_impossible_value_says_setting_value_reason_and_origin(name, value, why):
    """The message names the setting, the value, what it must be, and where the value came from."""
    with pytest.raises(SettingsError) as caught:
        resolve({name: value}, environ={})

    assert str(caught.value) == f"setting {name!r} cannot be {value!r}: {why} (from argument)"


def test_every_setting_refuses_something():
    """No parser lets just anything through."""
    for name in PARSERS:
        with pytest.raises(SettingsError, match=f"setting '{name}' cannot be <object"):
            parse(name, object())


def test_an_impossible_variable_is_named():
    """A value from the environment is blamed on its variable."""
    with pytest.raises(SettingsError) as caught:
        resolve(environ={"INTENTMATCH_MARGIN": "wide"})

    assert str(caught.value) == (
        "setting 'margin' cannot be 'wide': it must be a number from 0 to 1 (from INTENTMATCH_MARGIN)"
    )


def test_a_nearer_source_does_not_excuse_an_impossible_value():
    """A wrong value is an error even where another source overrides it."""
    with pytest.raises(SettingsError, match="INTENTMATCH_MARGIN"):
        resolve({"margin": 0.1}, environ={"INTENTMATCH_MARGIN": "wide"})


def test_impossible_values_of_a_registry_come_all_at_once_with_their_places():
    """The registry's values are problems with positions; every one of them is reported."""
    places = {"margin": Location("a.yaml", 3, 5), "top_k": Location("a.yaml", 2, 5)}

    with pytest.raises(RegistryError) as caught:
        resolve(registry={"margin": "wide", "top_k": "0"}, locations=places, environ={})

    assert [(str(problem.location), problem.rule) for problem in caught.value.problems] == [
        ("a.yaml:2:5", "setting"),
        ("a.yaml:3:5", "setting"),
    ]
    assert "setting 'top_k' cannot be '0'" in str(caught.value)


@pytest.mark.parametrize(
    ("name", "hint"), [("treshold", "did you mean 'threshold'?"), ("zzz", "known are aggregation, band, cache, ")]
)
def test_an_unknown_setting_suggests_or_lists(name, hint):
    """An unknown name is refused with the nearest known one, or with all of them."""
    with pytest.raises(SettingsError, match=f"^unknown setting '{name}': ") as caught:
        resolve({name: 1}, environ={})

    assert hint in str(caught.value)


@pytest.mark.parametrize(
    ("name", "written", "expected"),
    [
        ("encoder", " static:./model ", "static:./model"),
        ("encoder", Path("model"), "model"),
        ("top_k", "7", 7),
        ("remote_seconds", "2.5", 2.5),
        ("cache", False, "off"),
        ("cache", "off", "off"),
        ("cache", Path("folder"), "folder"),
        ("prompts", {"query": "q: "}, {"query": "q: "}),
        ("prompts", {}, {}),
        ("inbox", False, "off"),
        ("inbox", "misses.sqlite", "misses.sqlite"),
        ("inbox_keep", {"days": "30"}, {"messages": 10_000, "days": 30}),
        ("inbox_keep", "messages=5, days = 7", {"messages": 5, "days": 7}),
        ("inbox_keep", {}, {"messages": 10_000, "days": 90}),
        ("lint", "few-utterances=off, two-clusters = warning", {"few-utterances": "off", "two-clusters": "warning"}),
        ("lint", {"near-duplicate": "error"}, {"near-duplicate": "error"}),
        ("lint", {}, {}),
    ],
)
def test_values_are_read_as_they_are_meant(name, written, expected):
    """Text from files and variables, and values from code, become the same thing."""
    assert parse(name, written) == expected


def test_what_belongs_to_the_machine_does_not_travel():
    """`to_dict` leaves out device, precision, cache, lint and inbox, and holds plain values of all the rest."""
    values = Settings(threshold={"de": 0.4}).to_dict()

    assert set(values) == set(PARSERS) - settings.LOCAL
    assert values["threshold"] == {"de": 0.4}
    assert Settings(**values) == Settings(threshold={"de": 0.4})
