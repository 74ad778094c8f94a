"""Settings: precedence and origin of values, and validation."""

from __future__ import annotations

import dataclasses
import math
from pathlib import Path

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from intentmatch.core import settings
from intentmatch.core.errors import Location, RegistryError, SettingsError
from intentmatch.core.setting_values import FROM_TESTS, fraction
from intentmatch.core.settings import PARSERS, Settings, parse, resolve

VALUES = yaml.safe_load(Path(__file__).with_name("settings.yaml").read_text(encoding="utf-8"))
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


def test_every_setting_has_a_parser():
    fields = {field.name for field in dataclasses.fields(Settings)} - {"origins", "by_operator"}

    assert set(PARSERS) == fields


def test_every_default_is_valid():
    defaults = Settings()

    assert {name: parse(name, getattr(defaults, name)) for name in PARSERS} == {
        name: getattr(defaults, name) for name in PARSERS
    }


def test_resolve_without_sources_gives_defaults():
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
def test_source_with_precedence_wins(explicit, environ, registry, base, value, origin):
    """Precedence: argument, environment, registry, settings of the artefact, default."""
    places = {"margin": Location("bot.yaml", 7, 3)}

    resolved = resolve(explicit, environ=environ, registry=registry, locations=places, base=base)

    assert resolved.margin == value
    assert resolved.origin("margin") == origin


def test_sources_are_merged_per_setting():
    resolved = resolve({"top_k": 3}, environ={"INTENTMATCH_BAND": "0"}, registry={"fuzzy": "1.0"})

    assert resolved == Settings(top_k=3, band=0.0, fuzzy=1.0)


def test_resolve_reads_the_process_environment_by_default(monkeypatch):
    monkeypatch.setenv("INTENTMATCH_AGGREGATION", "max")

    assert resolve().aggregation == "max"


def test_origins_do_not_affect_equality():
    assert Settings(margin=0.1, origins={"margin": "argument"}) == Settings(margin=0.1)


@pytest.mark.parametrize("value", [0.0, 1.0, 0, 1, "0", "1", "0.0", "1.0", " 0.5 ", "5e-1"])
def test_fraction_accepts_both_ends(value):
    assert fraction(value) == float(value)


@pytest.mark.parametrize("value", NOT_A_FRACTION, ids=lambda value: str(value)[:8])
def test_fraction_refuses_other_values(value):
    """Numbers out of range, other text and booleans are refused with one message."""
    with pytest.raises(ValueError, match=r"^it must be a number from 0 to 1$"):
        fraction(value)


@given(st.floats(allow_nan=True, allow_infinity=True) | st.integers())
def test_fraction_is_in_range_or_refused(number):
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
        ("90%", {"default": "90%"}),
        (" 92.50 % ", {"default": "92.5%"}),
        ("0.5,de=90%", {"default": 0.5, "de": "90%"}),
        ({"default": "100%", "de": "0%", "fr": 0.4}, {"default": "100%", "de": "0%", "fr": 0.4}),
        ({}, {}),
        ("auto", {}),
        (None, {}),
    ],
)
def test_threshold_forms_parse_to_a_mapping(written, expected):
    """Forms: a number or percentage, text by language, a mapping by language, auto."""
    assert parse("threshold", written) == expected


@pytest.mark.parametrize(
    ("written", "expected"),
    [
        ("precision=0.9", {"precision": 0.9}),
        ("precision=0.9, give_up=0.01", {"precision": 0.9, "give_up": 0.01}),
        ("precision=0.9, confidence=0.8", {"precision": 0.9, "confidence": 0.8}),
        ({"precision": "1", "give_up": 0}, {"precision": 1.0, "give_up": 0.0}),
        ("false_accept=0.05", {"false_accept": 0.05}),
        ({"false_accept": 0}, {"false_accept": 0.0}),
        ("balance", {"balance": True}),
        ({"balance": True}, {"balance": True}),
        ({"balance": "true"}, {"balance": True}),
    ],
)
def test_target_parses_text_and_mappings(written, expected):
    assert parse("target", written) == expected
    assert parse("target", parse("target", written)) == expected


@pytest.mark.parametrize(
    ("name", "value", "why"),
    [
        *(
            (name, value, why)
            for why, refused in VALUES["refused"].items()
            for name, values in refused.items()
            for value in values
        ),
        ("band", 10**400, "it must be a number from 0 to 1"),
    ],
    ids=lambda value: str(value)[:20],
)
def test_error_names_setting_value_reason_and_origin(name, value, why):
    with pytest.raises(SettingsError) as caught:
        resolve({name: value}, environ={})

    assert str(caught.value) == f"setting {name!r} cannot be {value!r}: {why} (from argument)"


def test_every_setting_refuses_an_arbitrary_object():
    for name in PARSERS:
        with pytest.raises(SettingsError, match=f"setting '{name}' cannot be <object"):
            parse(name, object())


def test_error_names_the_environment_variable():
    with pytest.raises(SettingsError) as caught:
        resolve(environ={"INTENTMATCH_MARGIN": "wide"})

    assert str(caught.value) == (
        "setting 'margin' cannot be 'wide': it must be a number from 0 to 1 (from INTENTMATCH_MARGIN)"
    )


def test_overridden_invalid_value_is_still_an_error():
    with pytest.raises(SettingsError, match="INTENTMATCH_MARGIN"):
        resolve({"margin": 0.1}, environ={"INTENTMATCH_MARGIN": "wide"})


def test_all_invalid_registry_settings_are_reported_with_locations():
    places = {"margin": Location("a.yaml", 3, 5), "top_k": Location("a.yaml", 2, 5)}

    with pytest.raises(RegistryError) as caught:
        resolve(registry={"margin": "wide", "top_k": "0"}, locations=places, environ={})

    assert [(str(problem.location), problem.rule) for problem in caught.value.problems] == [
        ("a.yaml:2:5", "setting"),
        ("a.yaml:3:5", "setting"),
    ]
    assert "setting 'top_k' cannot be '0'" in str(caught.value)


@pytest.mark.parametrize(
    ("name", "hint"),
    [("treshold", "did you mean 'threshold'?"), ("zzz", "known are aggregation, allow, band, ")],
)
def test_unknown_setting_suggests_or_lists_names(name, hint):
    with pytest.raises(SettingsError, match=f"^unknown setting '{name}': ") as caught:
        resolve({name: 1}, environ={})

    assert hint in str(caught.value)


@pytest.mark.parametrize(
    ("name", "written", "expected"),
    [
        *VALUES["parsed"],
        ("encoder", Path("model"), "model"),
        ("cache", Path("folder"), "folder"),
        ("fallback", {"pt_br": "Oi?", "default": ("A?", "B?")}, {"pt-BR": ["Oi?"], "default": ["A?", "B?"]}),
    ],
)
def test_parse_converts_text_and_python_values(name, written, expected):
    assert parse(name, written) == expected


def test_to_dict_leaves_out_local_settings():
    """All other settings are in `to_dict` as plain values and can be passed back to `Settings`."""
    values = Settings(threshold={"de": 0.4}).to_dict()

    assert set(values) == set(PARSERS) - settings.LOCAL
    assert values["threshold"] == {"de": 0.4}
    assert Settings(**values) == Settings(threshold={"de": 0.4})


@pytest.mark.parametrize("value", ["0", 0.0, "0.25", 0.999])
def test_out_of_scope_share_is_below_one(value):
    assert parse("out_of_scope_share", value) == float(value)


def test_out_of_scope_share_may_be_learned_from_tests():
    assert parse("out_of_scope_share", "tests") == FROM_TESTS
    assert Settings(**Settings(out_of_scope_share="tests").to_dict()).out_of_scope_share == "tests"


@pytest.mark.parametrize("value", ["1", 1.0, -0.1, "many", "test", True, None])
def test_other_out_of_scope_shares_are_errors(value):
    with pytest.raises(SettingsError, match="out_of_scope_share"):
        parse("out_of_scope_share", value)


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("a.sqlite", "./bots/a.sqlite"),
        ("data/a.sqlite", "./bots/data/a.sqlite"),
        ("/var/a.sqlite", "/var/a.sqlite"),
        ("~/a.sqlite", "~/a.sqlite"),
        ("off", "off"),
        ("database", "database"),
    ],
)
def test_relative_file_in_yaml_begins_at_its_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, value: str, expected: str
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("bots").mkdir()
    places = {"inbox": Location("bots/shop.yaml", 2, 10)}

    assert resolve(registry={"inbox": value}, locations=places, environ={}).inbox == expected
    assert resolve({"inbox": value}, registry={"inbox": "b"}, locations=places, environ={}).inbox == value


def test_relative_file_of_yaml_that_is_not_on_the_disk_begins_at_the_current_folder() -> None:
    places = {"inbox": Location("no-such-folder/shop.yaml", 2, 10)}

    assert resolve(registry={"inbox": "a.sqlite"}, locations=places, environ={}).inbox == "a.sqlite"


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("static:./small", "static:./bots/small"),
        ("onnx:../small", "onnx:./bots/../small"),
        ("sentence_transformer:org/name", "sentence_transformer:org/name"),
        ("onnx:/models/small", "onnx:/models/small"),
        ("remote:http://localhost:8080#./a", "remote:http://localhost:8080#./a"),
        ("static", "static"),
    ],
)
def test_relative_model_in_yaml_begins_at_its_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, value: str, expected: str
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("bots").mkdir()
    places = {"encoder": Location("bots/shop.yaml", 2, 10)}

    assert resolve(registry={"encoder": value}, locations=places, environ={}).encoder == expected
    assert resolve({"encoder": value}, environ={}).encoder == value


@pytest.mark.parametrize("name", ["auto", "cpu", "mps", "cuda", "cuda:1", "cuda:all", " cuda "])
def test_devices_are_known_by_name(name):
    assert PARSERS["device"](name) == name.strip()
