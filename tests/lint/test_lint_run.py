"""The report: everything together, on registries of every kind."""

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
from intentmatch.lint.run import OF_SENTENCES, RULES

WORDS = st.sampled_from(["hello", "hi", "order", "parcel", "where", "wo", "ist", "мой", "заказ", "?", "", "4", "é"])
UTTERANCES = st.builds(
    Utterance,
    st.lists(WORDS, max_size=4).map(" ".join) | st.text(max_size=6),
    st.sampled_from([None, "en", "de", "ru", "pt-BR", "pt"]),
)
INTENTS = st.builds(Intent, st.sampled_from("abcdefghij"), st.lists(UTTERANCES, max_size=9).map(tuple))
REGISTRIES = st.lists(INTENTS, max_size=10, unique_by=lambda intent: intent.name).map(
    lambda some: Registry(tuple(some))
)


def by_meaning(problems: tuple[Problem, ...]) -> list[Problem]:
    names = {rule.id for rule in BY_MEANING}
    return [problem for problem in problems if problem.rule in names]


@given(registry=REGISTRIES, turn=st.integers(0, 9))
def test_any_registry_has_a_report_and_the_order_of_its_intents_changes_nothing(registry, turn):
    """Empty, of one intent, of lines without words or in several languages: nothing raises, all is sorted."""
    turned = Registry(registry.intents[turn:] + registry.intents[:turn])

    first, second = (lint(each, encoder=WordHashEncoder(), cache="off") for each in (registry, turned))

    assert list(first.problems) == sorted(first.problems)
    assert {problem.rule for problem in first.problems} <= set(CATALOGUE)
    assert by_meaning(first.problems) == by_meaning(second.problems)
    assert first.overlaps == second.overlaps
    assert list(first.coverage) == [intent.name for intent in registry]


def test_nothing_to_read_is_one_problem(tmp_path: Path):
    """An empty folder, a missing one and a registry without intents need no encoder."""
    for path, rule in [(tmp_path, "no-files"), (tmp_path / "nowhere", "not-found"), (Registry(()), "no-intents")]:
        report = lint(path, encoder=None)
        assert [problem.rule for problem in report.problems] == [rule]
        assert (report.coverage, report.overlaps, report.ignored) == ({}, (), 0)


def test_what_could_be_read_is_looked_at_beside_the_errors(tmp_path: Path):
    """A file that is no YAML does not hide what the others mean; `validate` and meaning stand in one list."""
    (tmp_path / "1.yaml").write_text("intents: [", encoding="utf-8")
    (tmp_path / "2.yaml").write_text("intents: {a: {utterances: [hello, Hello]}, b: {}}", encoding="utf-8")

    report = lint(tmp_path, encoder=WordHashEncoder())

    assert [(Path(p.location.path).name, p.rule) for p in report.problems] == [
        ("1.yaml", "yaml-syntax"),
        ("2.yaml", "few-utterances"),
        ("2.yaml", "duplicate-utterance"),
        ("2.yaml", "no-utterances"),
    ]


def test_a_language_that_the_encoder_was_not_trained_on_is_reported():
    """With the encoder that the settings name, which is the embedded one."""
    lines = [Utterance(text, "nv") for text in ("yáʼátʼééh", "hágoóneeʼ", "ahéheeʼ")]
    report = lint(Registry((Intent("a", tuple(lines)),)))

    assert [problem.rule for problem in report.problems] == ["language-not-covered"]


def test_the_aggregation_is_that_of_the_settings():
    """Lines are left out as the matcher would score them; an argument wins over the registry."""
    greetings = ["hello there", "hello you there", "hello again there", "the big parcel"]
    lines = {"a": greetings, "b": ["my big parcel", "the old big parcel", "a very big parcel"]}
    intents = tuple(Intent(name, tuple(map(Utterance, texts))) for name, texts in lines.items())

    def said(registry: Registry, **settings: str) -> list[str]:
        report = lint(registry, encoder=WordHashEncoder(), **settings)
        return [problem.message for problem in report.problems if problem.rule == "misplaced-utterance"]

    mean, nearest = said(Registry(intents)), said(Registry(intents, {"aggregation": "max"}))

    assert mean
    assert nearest
    assert mean != nearest
    assert said(Registry(intents), aggregation="max") == nearest
    assert said(Registry(intents, {"aggregation": "max"}), aggregation="mean2") == mean


def test_progress_is_told():
    """As a build tells it."""
    told = []
    lint(
        Registry((Intent("a", (Utterance("hello"),)),)),
        encoder=WordHashEncoder(),
        cache="off",
        progress=lambda done, total: told.append((done, total)),
    )

    assert told[-1] == (1, 1)


def test_each_rule_is_named_after_its_id():
    """A function for each rule by meaning, but for what is asked of the encoder and of the suppressions."""
    elsewhere = {"language-not-covered", "bad-suppression", "unused-suppression"}

    assert {rule.__name__.replace("_", "-") for rule in (*RULES, *OF_SENTENCES)} == {
        rule.id for rule in BY_MEANING
    } - elsewhere


def test_the_catalogue_names_every_rule_of_the_reader():
    """Each id that the reader and its rules use, with the severity that they give it, and no other."""
    used = rules_in(Path(reader.__file__).parent)

    assert {(rule.id, rule.severity) for rule in BY_FORM} == used


@pytest.mark.parametrize("name", room.__all__)
def test_the_room_keeps_its_promises(name):
    """What it lists is there."""
    assert hasattr(room, name)
