"""Settings: precedence and origin of values, and validation."""

from __future__ import annotations

import dataclasses
import math
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from intentmatch.core import settings
from intentmatch.core.errors import Location, RegistryError, SettingsError
from intentmatch.core.setting_values import FROM_TESTS, fraction
from intentmatch.core.settings import PARSERS, Settings, parse, resolve

THRESHOLD = "it must be a number from 0 to 1 (on the score) or a percentage from 0% to 100% (on the confidence)"
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
        ("encoder", "", "it must be text"),
        ("encoder", "  ", "it must be text"),
        ("encoder", 5, "it must be text"),
        ("encoder", None, "it must be text"),
        ("device", [], "it must be text"),
        ("cache", "a\0b", "it must be text without NUL and unpaired surrogates"),
        ("encoder", "static:\ud800", "it must be text without NUL and unpaired surrogates"),
        ("precision", "double", "it must be one of auto, float32, float16, bfloat16"),
        ("precision", ["auto"], "it must be one of auto, float32, float16, bfloat16"),
        ("spelling", "gr8=great", "it must map languages to words, for example {en: {gr8: great}}"),
        ("spelling", {"gr8": "great"}, "it must map languages to words, for example {en: {gr8: great}}"),
        (
            "spelling",
            {"english": {"gr8": "great"}},
            "'english' is not `default` or a language code such as en or pt-BR",
        ),
        ("spelling", {"en": {"g r": "great"}}, "'g r' is not one word"),
        ("spelling", {"en": {"!": "great"}}, "'!' is not one word"),
        ("spelling", {"en": {"gr8": " "}}, "'gr8' must stand for words, not ' '"),
        ("spelling", {"en": {"gr8": 8}}, "'gr8' must stand for words, not 8"),
        ("fallback", [], "it must be a text, a list of texts, or map languages to them"),
        ("fallback", 5, "it must be a text, a list of texts, or map languages to them"),
        ("fallback", {"en": {"a": "b"}}, "it must be a text, a list of texts, or map languages to them"),
        ("fallback", {"en": ["Sorry?", " "]}, "it must be text"),
        ("fallback", {"english": "Sorry?"}, "'english' is not `default` or a language code such as en or pt-BR"),
        ("prompts", "query: ", "it must be a mapping with the keys utterance and query"),
        ("prompts", {"passage": "x"}, "its keys are utterance and query, not passage"),
        ("prompts", {"query": None}, "each value must be text"),
        ("aggregation", "mean", "it must be one of mean2, max"),
        ("threshold", 1.5, THRESHOLD),
        ("threshold", True, THRESHOLD),
        ("threshold", "120%", THRESHOLD),
        ("threshold", "-1%", THRESHOLD),
        ("threshold", "x%", THRESHOLD),
        ("threshold", "%", THRESHOLD),
        ("threshold", "nan%", THRESHOLD),
        ("threshold", {"de": "101%"}, THRESHOLD),
        ("threshold", math.nan, THRESHOLD),
        ("threshold", "", THRESHOLD),
        ("threshold", "0.5,,", THRESHOLD),
        ("threshold", "de=high", THRESHOLD),
        ("threshold", {"de": None}, THRESHOLD),
        ("threshold", {"deutsch": 0.5}, "'deutsch' is not `default` or a language code such as en or pt-BR"),
        ("threshold", {"de": {"at": 0.5}}, THRESHOLD),
        ("margin", "3%", "it must be a number from 0 to 1"),
        ("scorer", "svm", "it must be one of head, cosine"),
        ("target", "", AIMS),
        ("target", 0.9, AIMS),
        ("target", {}, AIMS),
        ("target", {"give_up": 0.1}, AIMS),
        ("target", "precision=0.9,balance", AIMS),
        ("target", "precision", "it must be a number from 0 to 1"),
        ("target", "precision=high", "it must be a number from 0 to 1"),
        (
            "target",
            "precision=0.9,recall=0.1",
            "its keys are precision, false_accept, balance, give_up and confidence, not recall",
        ),
        ("target", "false_accept=0.1,give_up=0.1", "give_up needs precision"),
        ("target", "balance=false", "balance must be `true`"),
        ("margin", -0.1, "it must be a number from 0 to 1"),
        ("fuzzy", math.inf, "it must be a number from 0 to 1"),
        ("fuzzy", False, "it must be a number from 0 to 1"),
        ("band", "nan", "it must be a number from 0 to 1"),
        ("band", 10**400, "it must be a number from 0 to 1"),
        ("reranker", "", "it must be text"),
        ("reranker", False, "it must be text"),
        ("top_k", 0, "it must be a whole number, 1 or more"),
        ("top_k", -1, "it must be a whole number, 1 or more"),
        ("top_k", True, "it must be a whole number, 1 or more"),
        ("top_k", 2.5, "it must be a whole number, 1 or more"),
        ("top_k", math.inf, "it must be a whole number, 1 or more"),
        ("top_k", "five", "it must be a whole number, 1 or more"),
        ("top_k", None, "it must be a whole number, 1 or more"),
        ("remote_seconds", 0, "it must be a number of seconds greater than 0"),
        ("remote_seconds", "inf", "it must be a number of seconds greater than 0"),
        *(
            ("device", name, "it must be auto, cpu, mps, cuda, one GPU such as cuda:1, or cuda:all")
            for name in ("gpu", "CUDA", "cuda:", "cuda:one")
        ),
        ("cache", "", "it must be text"),
        ("cache", True, "it must be text"),
        ("inbox", "", "it must be text"),
        ("inbox_mode", "secret", "it must be one of redacted, hashed, plain"),
        ("inbox_keep", 5, "it must be a mapping with the keys messages and days"),
        ("inbox_keep", {"weeks": 5}, "it must be a mapping with the keys messages and days"),
        ("inbox_keep", "messages=none", "it must be a whole number, 1 or more"),
        ("target", "precision=0.95,confidence=1", "precision and confidence of a promise must be between 0 and 1"),
        (
            "target",
            {"precision": 1, "confidence": 0.9},
            "precision and confidence of a promise must be between 0 and 1",
        ),
        ("target", "false_accept=0.1,confidence=0.9", "confidence needs precision"),
        (
            "target",
            "precision=0.9,confidence=0.9,give_up=0.1",
            "a promise (confidence) gives nothing up: leave one of confidence and give_up out",
        ),
        ("inbox_sample", 2, "it must be a number from 0 to 1"),
        (
            "inbox_sample",
            {"part": 0.1},
            "it must be a number from 0 to 1, or a mapping with the keys share and messages",
        ),
        ("inbox_sample", "share=0.1,messages=0", "it must be a whole number, 1 or more"),
        ("inbox_keep", {"days": 0}, "it must be a whole number, 1 or more"),
        ("reranker_budget", {"hour": 5}, "it must be a mapping with the keys minute and day"),
        ("lint", 3, "it must map rule ids to levels, for example few-utterances=off"),
        ("lint", "", "it must be one of off, info, warning, error"),
        ("lint", "few-utterances=off,two-clusters", "it must be one of off, info, warning, error"),
        ("lint", {"few-utterances": "loud"}, "it must be one of off, info, warning, error"),
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
        ("encoder", " static:./model ", "static:./model"),
        ("encoder", Path("model"), "model"),
        ("top_k", "7", 7),
        ("remote_seconds", "2.5", 2.5),
        ("cache", False, "off"),
        ("cache", "off", "off"),
        ("cache", Path("folder"), "folder"),
        ("spelling", {"pt_br": {"Vlw": " valeu "}, "default": {}}, {"pt-BR": {"Vlw": "valeu"}, "default": {}}),
        ("spelling", {}, {}),
        ("fallback", " Sorry? ", {"default": ["Sorry?"]}),
        ("fallback", ["Sorry?", "Pardon?"], {"default": ["Sorry?", "Pardon?"]}),
        ("fallback", {"pt_br": "Oi?", "default": ("A?", "B?")}, {"pt-BR": ["Oi?"], "default": ["A?", "B?"]}),
        ("fallback", {}, {}),
        ("prompts", {"query": "q: "}, {"query": "q: "}),
        ("prompts", {}, {}),
        ("inbox", False, "off"),
        ("inbox", "misses.sqlite", "misses.sqlite"),
        ("inbox_keep", {"days": "30"}, {"messages": 10_000, "days": 30}),
        ("inbox_keep", "messages=5, days = 7", {"messages": 5, "days": 7}),
        ("inbox_keep", "{messages: 5, days: 7}", {"messages": 5, "days": 7}),
        ("inbox_sample", "{share: 0.1}", {"share": 0.1, "messages": 1000}),
        ("target", "{precision: 0.95, confidence: 0.9}", {"precision": 0.95, "confidence": 0.9}),
        ("target", "{balance: true}", {"balance": True}),
        ("lint", "{few-utterances: off}", {"few-utterances": "off"}),
        ("inbox_keep", {}, {"messages": 10_000, "days": 90}),
        ("inbox_sample", "0.05", {"share": 0.05, "messages": 1000}),
        ("inbox_sample", {"share": "0.05"}, {"share": 0.05, "messages": 1000}),
        ("inbox_sample", "share=1, messages=5", {"share": 1.0, "messages": 5}),
        ("reranker_budget", "minute=5", {"minute": 5, "day": 5_000}),
        ("lint", "few-utterances=off, two-clusters = warning", {"few-utterances": "off", "two-clusters": "warning"}),
        ("lint", {"near-duplicate": "error"}, {"near-duplicate": "error"}),
        ("lint", {}, {}),
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
