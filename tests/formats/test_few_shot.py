"""Tests for few-shot examples: prompts of LangChain, document stores of LlamaIndex, and which key is the message."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from contracts.format import Subject, contract

from intentmatch import formats
from intentmatch.formats.few_shot import FORMAT

# Written by `FewShotPromptTemplate.save` of langchain-core 1.7.2.
PROMPT = """\
_type: few_shot
example_prompt:
  input_variables:
  - input
  - output
  name: null
  template: 'Message: {input}

    Intent: {output}'
  template_format: f-string
example_selector: null
example_separator: '


  '
examples:
- input: where is my order
  output: order_status
- input: 'track it: now'
  output: order_status
- input: hi
  output: greet
input_variables:
- input
prefix: Classify.
suffix: 'Message: {input}

  Intent:'
"""


def store(*nodes: tuple[str, dict[str, Any]]) -> dict[str, Any]:
    """What `storage_context.persist` of llama-index-core 0.14.25 writes to docstore.json, for texts with metadata."""
    data = {
        f"n{number}": {
            "__data__": {
                "id_": f"n{number}",
                "embedding": None,
                "metadata": metadata,
                "relationships": {},
                "text": text,
            },
            "__type__": "1",
        }
        for number, (text, metadata) in enumerate(nodes)
    }
    return {"docstore/metadata": {key: {"doc_hash": "x"} for key in data}, "docstore/data": data}


STORE = store(("where is my order", {"intent": "order_status"}), ("hi", {"intent": "greet"}))
SUBJECTS = [
    Subject(FORMAT, {"prompt.yaml": PROMPT}),
    Subject(FORMAT, {"docstore.json": json.dumps(STORE)}),
    Subject(FORMAT, {"examples.json": json.dumps([{"input": "hi", "output": "greet"}] * 2)}),
]
test_obeys_contract = contract(*SUBJECTS, ids=["prompt", "store", "list"])


def read(folder: Path, content: Any, name: str = "prompt.yaml", **more: Any) -> formats.Imported:
    text = content if isinstance(content, str) else json.dumps(content)
    (folder / name).write_text(text, encoding="utf-8")
    return formats.read(folder / name, **more)


def in_short(found: formats.Imported) -> list[tuple[str, str]]:
    return [(intent.name, line.text) for intent in found.registry for line in intent.utterances]


EXPECTED = [("order_status", "where is my order"), ("order_status", "track it: now"), ("greet", "hi")]


def test_variable_of_the_prompt_is_the_message(tmp_path: Path) -> None:
    """And a note says so."""
    found = read(tmp_path, PROMPT)

    assert found.format == "few-shot"
    assert in_short(found) == EXPECTED
    assert [(line.location.line, line.location.column) for line in found.registry.utterances] == [
        (17, 3),
        (19, 3),
        (21, 3),
    ]
    (note,) = found.problems
    assert (note.rule, note.message) == ("guessed-columns", "the message is `input`, the intent is `output`")


@pytest.mark.parametrize("name", ["examples.json", "examples.yaml"])
def test_examples_in_a_file_of_their_own_are_read(tmp_path: Path, name: str) -> None:
    """They are no unread file."""
    examples = [{"input": text, "output": intent} for intent, text in EXPECTED]
    (tmp_path / name).write_text(json.dumps(examples), encoding="utf-8")
    prompt = {"_type": "few_shot", "examples": name, "input_variables": ["input"], "suffix": "{input}"}
    found = read(tmp_path, prompt, "prompt.json")

    assert in_short(found) == EXPECTED
    assert found.registry.utterances[0].location.path == str(tmp_path / name)


@pytest.mark.parametrize("path", ["gone.json", "../gone.json", "/etc/hosts"])
def test_missing_file_of_examples_is_an_error_with_its_place(tmp_path: Path, path: str) -> None:
    """A file outside of the folder is never read."""
    prompt = f"_type: few_shot\nexamples: {path}\ninput_variables: [input]\n"
    (problem,) = read(tmp_path, prompt).problems

    assert (problem.severity, problem.rule) == ("error", "missing-file")
    assert (problem.location.line, problem.location.column) == (2, 11)
    assert repr(path) in problem.message


@pytest.mark.parametrize("keys", [("question", "label"), ("text", "intent"), ("query", "class")])
def test_known_keys_need_no_guess(tmp_path: Path, keys: tuple[str, str]) -> None:
    examples = [dict(zip(keys, (text, intent), strict=True)) for intent, text in EXPECTED]
    found = read(tmp_path, {"_type": "few_shot", "examples": examples, "input_variables": ["x"]})

    assert in_short(found) == EXPECTED
    assert found.problems == ()


def test_user_can_name_the_keys(tmp_path: Path) -> None:
    found = read(tmp_path, PROMPT, columns={"text": "output", "intent": "input"})

    assert in_short(found)[0] == ("where is my order", "order_status")


def test_long_answers_are_responses(tmp_path: Path) -> None:
    examples = [{"input": "where are you", "output": "We are in Rome."}, {"input": "who", "output": "Two people."}]
    found = read(tmp_path, {"_type": "few_shot", "examples": examples, "input_variables": ["input"]})

    assert [(intent.name, dict(intent.responses)) for intent in found.registry] == [
        ("where_are_you", {"": "We are in Rome."}),
        ("who", {"": "Two people."}),
    ]


def test_keys_without_a_variable_are_told_by_their_content(tmp_path: Path) -> None:
    """The keys are a header, whatever the first example is."""
    examples = [{"says": text, "means": intent, "n": number} for number, (intent, text) in enumerate(EXPECTED)]
    found = read(tmp_path, {"_type": "few_shot", "examples": examples})

    assert in_short(found) == EXPECTED
    assert "text is column 1 ('says'), intent is column 2 ('means')" in found.problems[0].message


def test_keys_with_several_meanings_are_an_error(tmp_path: Path) -> None:
    examples = [{"one": "happy day", "two": "sad day"}, {"one": "tall man", "two": "short man"}]
    (problem,) = read(tmp_path, {"_type": "few_shot", "examples": examples}).problems

    assert (problem.severity, problem.rule) == ("error", "no-column")
    assert "one, two" in problem.message


def test_nodes_have_metadata_or_an_object(tmp_path: Path) -> None:
    """Also in one store. A brace that begins no object is text."""
    found = read(
        tmp_path,
        store(
            ('{"query": "where is my order", "intent": "order_status"}', {}),
            ("hi", {"intent": "greet"}),
            ("{name} speaking", {"intent": "greet"}),
        ),
        "docstore.json",
    )

    assert in_short(found) == [
        ("order_status", "where is my order"),
        ("greet", "hi"),
        ("greet", "{name} speaking"),
    ]
    assert found.problems == ()


def test_text_of_a_document_is_read_from_its_resource(tmp_path: Path) -> None:
    data = {"a": {"__data__": {"metadata": {"intent": "greet"}, "text_resource": {"text": "hi"}}}}

    assert in_short(read(tmp_path, {"docstore/data": data}, "docstore.json")) == [("greet", "hi")]


def test_metadata_that_is_not_imported_is_reported(tmp_path: Path) -> None:
    found = read(tmp_path, store(("hi", {"intent": "greet", "file_name": "a.txt"})), "docstore.json")

    assert [problem.message for problem in found.problems] == ["columns that are not imported: file_name"]


def test_nodes_without_intents_are_an_error(tmp_path: Path) -> None:
    (problem,) = read(tmp_path, store(("some text", {}), ("more text", {})), "docstore.json").problems

    assert (problem.severity, problem.rule) == ("error", "no-column")


def test_value_that_is_no_text_is_reported(tmp_path: Path) -> None:
    examples = [{"input": ["x"], "output": "a"}, {"input": "hi", "output": "a"}]
    found = read(tmp_path, {"_type": "few_shot", "examples": examples, "input_variables": ["input"]})

    assert in_short(found) == [("a", "hi")]
    assert [problem.rule for problem in found.problems if problem.severity == "warning"] == [
        "incomplete-row",
        "wrong-type",
    ]
