"""Intents that begin as a description."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from intentmatch import Matcher
from intentmatch.artefact.store import load_artefact, save_artefact
from intentmatch.evaluation.folds import split
from intentmatch.learning.fold_plan import Utterances, plan_rounds
from intentmatch.lint import lint
from intentmatch.registry import examine

BOT = """\
intents:
  order_status:
    title: Where an order is
    description: where an order or a parcel is and when it arrives
  refund:
    description: get money back for a purchase
    not: [which payment methods do you take]
  hours:
    description: when the shop opens and closes on a day of the week
"""


def read(path: Path, text: str) -> tuple[dict[str, list[str]], list[tuple[str, str, int]]]:
    """The lines of each intent, and rule, severity and line of each problem."""
    (path / "bot.yaml").write_text(text, encoding="utf-8")
    registry, problems = examine(path)
    lines = {intent.name: [line.text for line in intent.all_utterances] for intent in registry}
    return lines, [(problem.rule, problem.severity, problem.location.line) for problem in problems]


@pytest.mark.parametrize(
    ("message", "intent"),
    [("where is my parcel", "order_status"), ("I want my money back", "refund"), ("when do you close", "hours")],
)
def test_registry_of_descriptions_ranks_the_intent_first(tmp_path: Path, message: str, intent: str) -> None:
    (tmp_path / "bot.yaml").write_text(BOT, encoding="utf-8")
    assert Matcher.load(tmp_path, cache="off").match(message).candidates[0].intent == intent


def test_description_alone_is_a_warning(tmp_path: Path) -> None:
    lines, problems = read(tmp_path, BOT)
    assert lines["order_status"] == ["where an order or a parcel is and when it arrives", "Where an order is"]
    assert [found for found in problems if found[0] == "description-only"] == [
        ("description-only", "warning", 2),
        ("description-only", "warning", 5),
        ("description-only", "warning", 8),
    ]


@pytest.mark.parametrize(("count", "read_too"), [(1, True), (8, True), (9, False)])
def test_description_is_read_beside_eight_lines_but_not_nine(tmp_path: Path, count: int, read_too: bool) -> None:
    own = [f"money back {number}" for number in range(count)]
    lines, problems = read(tmp_path, f"intents: {{a: {{description: a refund please, utterances: {own}}}}}")
    assert lines["a"] == [*own, *(["a refund please"] if read_too else [])]
    assert not [found for found in problems if found[0] == "description-only"]


def test_template_counts_as_one_line(tmp_path: Path) -> None:
    text = 'intents: {a: {description: other words, utterances: ["(a|b|c|d|e|f|g|h|i) line"]}}'
    assert "other words" in read(tmp_path, text)[0]["a"]


def test_description_has_the_language_of_the_lines(tmp_path: Path) -> None:
    """Otherwise a registry in one language would have lines of an unknown one."""
    (tmp_path / "bot.yaml").write_text(
        "intents: {a: {description: Geld, utterances: {de: [Rückgabe]}}, b: {description: Zeit}}", encoding="utf-8"
    )
    assert {line.language for line in examine(tmp_path)[0].utterances} == {"de"}


def test_descriptions_count_neither_as_utterances_nor_as_messages(tmp_path: Path) -> None:
    """Calibration and evaluation ask about what users say, and nobody says a description."""
    matcher = few_lines(tmp_path)
    registry = matcher.registry
    assert [len(intent.utterances) for intent in registry] == [1, 1, 0]
    assert (registry.utterance_count, len(registry.utterances)) == (2, 6)
    artefact = matcher.artefact
    folds = split(registry, artefact.wide_vectors, artefact.negative_vectors, "loo", 0).folds
    asked = [row for one in folds for row in one.asked]
    assert [registry.utterances[row].text for row in asked] == ["where is it", "money back"]
    described = registry.is_described
    plan = plan_rounds(Utterances(artefact.wide_vectors, registry.owners, lines=registry.lines, described=described))
    assert [registry.utterances[row].text for row in np.flatnonzero(plan.asked)] == ["where is it", "money back"]


def test_evaluation_holds_out_a_line_beside_its_description(tmp_path: Path) -> None:
    registry = few_lines(tmp_path).registry
    rest = registry.keeping({row for row, text in enumerate(registry.folded) if text != "money back"})
    assert (rest["refund"].utterances, rest["refund"].described) == ((), registry["refund"].described)


@pytest.mark.parametrize("lines", ["", "    utterances: [where is it]\n"])
def test_lint_examines_intents_without_lines(tmp_path: Path, lines: str) -> None:
    (tmp_path / "bot.yaml").write_text(BOT.replace("    description: where", f"{lines}    description: where"))
    found = {problem.rule for problem in lint(tmp_path, cache="off").problems}
    assert "description-only" in found
    assert ("few-utterances" in found) == bool(lines)


def test_artefact_keeps_descriptions_apart_from_utterances(tmp_path: Path) -> None:
    matcher = few_lines(tmp_path)
    save_artefact(matcher.artefact, tmp_path / "bot.imx")
    assert load_artefact(tmp_path / "bot.imx").registry.intents == matcher.registry.intents


def test_description_that_is_a_line_or_describes_two_intents_is_left_out(tmp_path: Path) -> None:
    """It would be a conflict that nobody has written."""
    text = (
        "intents: {a: {description: hello}, c: {description: same}, d: {description: same}, b: {utterances: [hello]}}"
    )
    assert read(tmp_path, text)[0] == {"a": ["a"], "c": ["c"], "d": ["d"], "b": ["hello"]}


def test_intent_without_lines_and_description_stays_an_error(tmp_path: Path) -> None:
    assert ("no-utterances", "error", 1) in read(tmp_path, "intents: {a: {title: A}, b: {utterances: [hello]}}")[1]


@pytest.mark.parametrize(
    ("description", "said", "excluded"),
    [
        ("refunds, but not pricing questions", "refunds", ["pricing questions"]),
        (
            "money back (except for gift cards), any time. Also vouchers",
            "money back, any time. Also vouchers",
            ["gift cards"],
        ),
        ("when it comes. Not about an order already placed.", "when it comes.", ["an order already placed"]),
        ("Rückgaben, aber keine Fragen zum Preis", "Rückgaben", ["Fragen zum Preis"]),
        ("the app hangs, not responding", "the app hangs, not responding", []),
        ("it was sent but not delivered", "it was sent but not delivered", []),
        ("but not this", "but not this", []),
    ],
)
def test_what_a_description_excludes_is_a_negative(
    tmp_path: Path, description: str, said: str, excluded: list[str]
) -> None:
    (tmp_path / "bot.yaml").write_text(
        f'intents: {{a: {{description: "{description}", utterances: {{de: [x]}}}}, b: {{utterances: [y]}}}}',
        encoding="utf-8",
    )
    intent = examine(tmp_path)[0]["a"]
    assert [line.text for line in intent.described] == [said]
    assert [line.text for line in intent.excluded] == excluded
    assert intent.negatives == ()


def test_excluded_messages_are_pushed_away_and_never_asked_about(tmp_path: Path) -> None:
    text = BOT.replace("get money back for a purchase", "get money back for a purchase, but not what a thing costs")
    (tmp_path / "bot.yaml").write_text(BOT, encoding="utf-8")
    before = Matcher.load(tmp_path, cache="off").match("what does this purchase cost", top_k=3)
    (tmp_path / "bot.yaml").write_text(text, encoding="utf-8")
    matcher = Matcher.load(tmp_path, cache="off")
    after = matcher.match("what does this purchase cost", top_k=3)
    scores = [next(one.score for one in result.candidates if one.intent == "refund") for result in (before, after)]
    assert scores[1] < scores[0] - 0.03
    artefact = matcher.artefact
    folds = split(matcher.registry, artefact.wide_vectors, artefact.negative_vectors, "loo", 0).folds
    assert sorted(row for one in folds for row in one.negatives) == [0]
    save_artefact(artefact, tmp_path / "bot.imx")
    assert load_artefact(tmp_path / "bot.imx").registry.intents == matcher.registry.intents


def few_lines(path: Path) -> Matcher:
    """The bot with one line for each of the first two intents."""
    text = BOT.replace("    description: where", "    utterances: [where is it]\n    description: where")
    (path / "bot.yaml").write_text(text.replace("  refund:\n", "  refund:\n    utterances: [money back]\n"))
    return Matcher.load(path / "bot.yaml", cache="off")


def test_edits_do_not_see_the_description(tmp_path: Path) -> None:
    (tmp_path / "bot.yaml").write_text(BOT, encoding="utf-8")
    assert not any(intent.utterances for intent in examine(tmp_path, expand=False)[0])
