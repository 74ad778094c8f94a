"""The report of `lint` as a whole."""

from __future__ import annotations

from pathlib import Path

import pytest
from fakes import WordHashEncoder
from hypothesis import given
from hypothesis import strategies as st
from rule_ids import rules_in

from intentmatch import lint as room
from intentmatch import registry as reader
from intentmatch.core.errors import Problem
from intentmatch.core.types import Intent, Registry, Utterance
from intentmatch.lint import CATALOGUE, lint
from intentmatch.lint.catalogue import BY_FORM, BY_MEANING
from intentmatch.lint.run import LINE_RULES, SENTENCE_RULES

WORDS = st.sampled_from(["hello", "hi", "order", "parcel", "where", "wo", "ist", "мой", "заказ", "?", "", "4", "é"])
UTTERANCES = st.builds(
    Utterance,
    st.lists(WORDS, max_size=4).map(" ".join) | st.text(max_size=6),
    st.sampled_from([None, "en", "de", "ru", "pt-BR", "pt"]),
)
INTENTS = st.builds(Intent, st.sampled_from("abcdefghij"), st.lists(UTTERANCES, max_size=9).map(tuple))
REGISTRIES = st.lists(INTENTS, max_size=10, unique_by=lambda intent: intent.name).map(
    lambda intents: Registry(tuple(intents))
)


def by_meaning(problems: tuple[Problem, ...]) -> list[Problem]:
    names = {rule.id for rule in BY_MEANING}
    return [problem for problem in problems if problem.rule in names]


@given(registry=REGISTRIES, turn=st.integers(0, 9))
def test_every_registry_has_a_sorted_report_independent_of_intent_order(registry, turn):
    turned = Registry(registry.intents[turn:] + registry.intents[:turn])

    first, second = (lint(each, encoder=WordHashEncoder(), cache="off") for each in (registry, turned))

    assert list(first.problems) == sorted(first.problems)
    assert {problem.rule for problem in first.problems} <= set(CATALOGUE)
    assert by_meaning(first.problems) == by_meaning(second.problems)
    assert first.overlaps == second.overlaps
    assert list(first.coverage) == [intent.name for intent in registry]


def test_registry_without_intents_is_one_problem(tmp_path: Path):
    """An empty folder, a missing folder and an empty registry; no encoder is loaded."""
    for path, rule in [(tmp_path, "no-files"), (tmp_path / "nowhere", "not-found"), (Registry(()), "no-intents")]:
        report = lint(path, encoder=None)
        assert [problem.rule for problem in report.problems] == [rule]
        assert (report.coverage, report.overlaps, report.ignored) == ({}, (), 0)


def test_readable_files_are_linted_beside_broken_ones(tmp_path: Path):
    """The problems of `validate` and `lint` are in one list."""
    (tmp_path / "1.yaml").write_text("intents: [", encoding="utf-8")
    (tmp_path / "2.yaml").write_text("intents: {a: {utterances: [hello, Hello]}, b: {}}", encoding="utf-8")

    report = lint(tmp_path, encoder=WordHashEncoder())

    assert [(Path(p.location.path).name, p.rule) for p in report.problems] == [
        ("1.yaml", "yaml-syntax"),
        ("2.yaml", "few-utterances"),
        ("2.yaml", "duplicate-utterance"),
        ("2.yaml", "no-utterances"),
    ]


def test_language_not_covered_by_the_encoder_is_reported():
    """The encoder is that of the settings, here the embedded one."""
    lines = [Utterance(text, "nv") for text in ("yáʼátʼééh", "hágoóneeʼ", "ahéheeʼ")]
    report = lint(Registry((Intent("a", tuple(lines)),)))

    assert [problem.rule for problem in report.problems] == ["language-not-covered"]


def test_aggregation_of_the_settings_is_used():
    """An argument overrides the settings of the registry."""
    greetings = ["hello there", "hello you there", "hello again there", "the big parcel"]
    lines = {"a": greetings, "b": ["my big parcel", "the old big parcel", "a very big parcel"]}
    intents = tuple(Intent(name, tuple(map(Utterance, texts))) for name, texts in lines.items())

    def messages(registry: Registry, **settings: str) -> list[str]:
        report = lint(registry, encoder=WordHashEncoder(), **settings)
        return [problem.message for problem in report.problems if problem.rule == "misplaced-utterance"]

    mean, nearest = messages(Registry(intents)), messages(Registry(intents, {"aggregation": "max"}))

    assert mean
    assert nearest
    assert mean != nearest
    assert messages(Registry(intents), aggregation="max") == nearest
    assert messages(Registry(intents, {"aggregation": "max"}), aggregation="mean2") == mean


def test_progress_is_reported():
    calls = []
    lint(
        Registry((Intent("a", (Utterance("hello"),)),)),
        encoder=WordHashEncoder(),
        cache="off",
        progress=lambda done, total: calls.append((done, total)),
    )

    assert calls[-1] == (1, 1)


def test_rule_functions_have_the_names_of_their_ids():
    """The other rules are found by the encoder and by the suppressions."""
    elsewhere = {"language-not-covered", "bad-suppression", "unused-suppression"}

    assert {rule.__name__.replace("_", "-") for rule in (*LINE_RULES, *SENTENCE_RULES)} == {
        rule.id for rule in BY_MEANING
    } - elsewhere


def test_catalogue_lists_every_rule_of_the_reader_with_its_severity():
    used = rules_in(Path(reader.__file__).parent)

    assert {(rule.id, rule.severity) for rule in BY_FORM} == used


@pytest.mark.parametrize("name", room.__all__)
def test_public_names_exist(name):
    assert hasattr(room, name)
