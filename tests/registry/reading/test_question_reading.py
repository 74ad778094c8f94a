"""`questions:` in the YAML: read from one or several files, checked, and kept in every form of a registry."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from intentmatch import Registry, RegistryError
from intentmatch.evaluation.compare.sides import relocated
from intentmatch.formats import render
from intentmatch.registry import examine, read_registry
from intentmatch.registry.editing.document import Document
from intentmatch.registry.editing.formatting import formatted
from intentmatch.registry.reading.json_form import from_plain, to_plain

INTENTS = "language: en\nintents:\n  order: {utterances: [where is my order, track my parcel]}\n"
QUESTIONS = """language: en
rules: {soon: (now|today)}
questions:
  urgent:  # for the hotline
    question: Is it urgent?
    answers:
      yes: [I need it <soon>, this is an emergency, be quick, it cannot wait, as soon as possible]
      no:
        en: [no hurry, take your time, there is no rush, whenever you can, it can wait]
        de: [keine Eile, lass dir Zeit]
"""


def registry_in(folder: Path, **files: str) -> Registry:
    for name, text in files.items():
        (folder / f"{name}.yaml").write_text(text, encoding="utf-8")
    return read_registry(folder)


def problems_of(folder: Path, questions: str) -> list[str]:
    (folder / "questions.yaml").write_text(f"questions:\n{questions}", encoding="utf-8")
    (folder / "intents.yaml").write_text(INTENTS, encoding="utf-8")
    return [f"{p.location.line}:{p.location.column} {p.rule}" for p in examine(folder)[1]]


def test_unquoted_yes_and_no_are_names_of_answers(tmp_path):
    (question,) = registry_in(tmp_path, intents=INTENTS, questions=QUESTIONS).questions

    assert (question.name, question.text) == ("urgent", "Is it urgent?")
    assert list(question.answers) == ["yes", "no"]
    assert question.yes == "yes"


def test_lines_are_templates_with_languages(tmp_path):
    (question,) = registry_in(tmp_path, intents=INTENTS, questions=QUESTIONS).questions

    assert [line.text for line in question.answers["yes"][:2]] == ["I need it now", "I need it today"]
    assert {line.language for line in question.answers["no"]} == {"en", "de"}
    assert question.answers["no"][-1].location.line == 10


def test_a_question_counts_for_the_fingerprint_and_no_question_does_not(tmp_path):
    without = registry_in(tmp_path, intents=INTENTS)

    assert registry_in(tmp_path, questions=QUESTIONS).fingerprint != without.fingerprint
    assert "questions" not in to_plain(without)


def test_every_form_of_a_registry_keeps_questions(tmp_path):
    registry = registry_in(tmp_path, intents=INTENTS, questions=QUESTIONS)
    again = tmp_path / "again"
    again.mkdir()

    assert from_plain(json.loads(json.dumps(to_plain(registry)))).questions == registry.questions
    moved = relocated(registry, str(tmp_path), "REF:bot").questions[0]
    assert moved.location.path == moved.lines[0].location.path == "REF:bot/questions.yaml"
    for name, text in render(examine(tmp_path, expand=False)[0], "intentmatch")[0].items():
        (again / name).write_text(text, encoding="utf-8")
    assert read_registry(again).fingerprint == registry.fingerprint


def test_another_format_reports_that_it_has_no_questions(tmp_path):
    registry = registry_in(tmp_path, intents=INTENTS, questions=QUESTIONS)

    lost = [problem.message for problem in render(registry, "rasa")[1]]
    assert "this format cannot express the question 'urgent' and its answers" in lost


def test_the_standard_layout_leaves_questions_alone():
    assert formatted(Document("bot.yaml", QUESTIONS)).text == QUESTIONS


@pytest.mark.parametrize(
    ("questions", "expected"),
    [
        ("  q: {answers: {yes: [a b, c d, e f, g h, i j]}}\n", ["2:3 bad-question"]),
        ("  q:\n    answers: {a: [a b, c d, e f, g h, i j], b: []}\n", ["2:3 bad-question"]),
        ("  q:\n    answers:\n      a: [a b, c d, e f, g h, i j]\n      b: [k]\n", ["5:11 few-lines"]),
        (
            "  q:\n    answers:\n      a: [a b, c d, e f, g h, i j]\n      b: [k, l, m, n, A B!]\n",
            ["5:23 conflicting-answer"],
        ),
        (
            "  q:\n    answers:\n      a: [a b, c d, e f, g h, 'i {j}']\n      b: [k, l, m, n, o]\n",
            ["4:34 slot-in-question"],
        ),
        ("  q:\n    answer: {a: [a, b, c, d, e], b: [f, g, h, i, j]}\n", ["3:5 unknown-key"]),
        ("  q:\n    answers: [yes, no]\n", ["3:14 wrong-type"]),
        ("  q: urgent\n", ["2:6 wrong-type"]),
    ],
)
def test_each_mistake_is_reported_at_its_place(tmp_path, questions, expected):
    assert problems_of(tmp_path, questions) == expected


def test_two_files_cannot_have_one_question(tmp_path):
    with pytest.raises(RegistryError) as raised:
        registry_in(tmp_path, intents=INTENTS, a=QUESTIONS, b=QUESTIONS.split("\n", 2)[2])

    (problem,) = [problem for problem in raised.value.problems if problem.rule == "question-redefined"]
    assert problem.location.line == 2
    assert "a.yaml:4" in problem.hint
