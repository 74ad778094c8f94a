"""Training the network that tells what the parts of a message do."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner
from safetensors.numpy import load_file

from intentmatch.cli.commands import cli
from intentmatch.core.errors import InputError
from intentmatch.distill import ActsRecipe, train_acts
from intentmatch.distill.acts import pieces_of, read_labelled, read_ordinary
from intentmatch.distill.context_network import read_network
from intentmatch.distill.messages import LabelledMessage
from intentmatch.distill.recipe import write_recipe
from intentmatch.reading.dialogue_acts import DialogueActs

torch = pytest.importorskip("torch", reason="needs the extra [distill]")

RECIPE = ActsRecipe(width=8, narrow=4, steps=90, texts=24, learning_rate=0.02)
ACTIONS = ("cancel it", "send it", "open it", "print it", "call them", "book a table")
MESSAGES = [
    *(LabelledMessage(f"please do not {action}", "en", "refuses", source="x") for action in ACTIONS),
    *(LabelledMessage(f"please {action}", "en", None, source="x") for action in ACTIONS),
    *(LabelledMessage(f"thank you {name}", "en", "courtesy", source="x") for name in ("all", "so much", "again")),
]


def write_lines(file: Path, *rows: dict) -> Path:
    file.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return file


@pytest.mark.parametrize("narrow", [0, 4])
def test_network_learns_what_it_is_taught(narrow):
    network = DialogueActs(train_acts(MESSAGES, replace(RECIPE, narrow=narrow)))

    def refuses(text: str) -> float:
        return network.read(pieces_of(text)).acts.refuses

    assert refuses("please do not open a table") > 2 * refuses("please open a table")


def test_training_is_repeatable_and_its_seed_counts():
    recipe = replace(RECIPE, steps=5)
    first, again, other = (train_acts(MESSAGES, r) for r in (recipe, recipe, replace(recipe, seed=2)))

    assert all(np.array_equal(first[name], again[name]) for name in first)
    assert not np.array_equal(first["acts"], other["acts"])


def test_network_keeps_what_it_says_and_learns_the_acts_that_it_lacks():
    known = train_acts(MESSAGES, RECIPE)
    lacking = known | {"acts": known["acts"][:, :-1], "acts_bias": known["acts_bias"][:-1]}

    grown = train_acts(MESSAGES, replace(RECIPE, width=12, narrow=6), start=lacking)

    before, after = DialogueActs(known), DialogueActs(grown)
    for message in MESSAGES:
        pieces = pieces_of(message.text)
        old, new = before.read(pieces), after.read(pieces)
        assert new.begins == pytest.approx(old.begins, abs=1e-4)
        assert new.acts[:-1] == pytest.approx(old.acts[:-1], abs=1e-4)
        assert new.acts[-1] != old.acts[-1]


def test_network_that_cannot_be_grown_is_refused():
    known = train_acts(MESSAGES, replace(RECIPE, steps=1))

    with pytest.raises(InputError, match="knows all acts"):
        train_acts(MESSAGES, RECIPE, start=known)
    with pytest.raises(InputError, match="has no tensor widened"):
        train_acts(MESSAGES, RECIPE, start={name: known[name] for name in known if name != "widened"})
    with pytest.raises(InputError, match="has first of shape"):
        train_acts(MESSAGES, replace(RECIPE, width=4), start=known)


def test_file_that_is_no_network_is_refused(tmp_path):
    file = tmp_path / "acts.safetensors"
    file.write_bytes(b"nothing")

    with pytest.raises(InputError, match="is no network"):
        read_network(file)


def test_command_writes_a_network_that_can_be_read(tmp_path):
    ordinary = write_lines(tmp_path / "log.jsonl", {"text": "where is it", "lang": "en"}, {"text": "wo ist es"})
    labelled = write_lines(tmp_path / "more.jsonl", {"text": "don't", "lang": "en", "act": "refuses"})
    write_recipe(tmp_path / "small.yaml", replace(RECIPE, steps=2))
    target = tmp_path / "acts.safetensors"
    words = ["distill-acts", "--ordinary", ordinary, "--labelled", labelled, "-o", target]

    done = CliRunner().invoke(cli, [*map(str, words), "--recipe", str(tmp_path / "small.yaml")], catch_exceptions=False)

    assert done.exit_code == 0, done.output
    assert f"{target}: " in done.output.replace("\n", "")
    DialogueActs(load_file(target))


def test_ordinary_messages_are_drawn_and_the_labelled_ones_are_all_read(tmp_path):
    file = write_lines(tmp_path / "log.jsonl", *({"text": f"text {n}", "lang": "de"} for n in range(9)))

    assert len(read_ordinary([file], 4, seed=1)) == 4
    assert read_ordinary([file], 4, seed=1) == read_ordinary([file], 4, seed=1)
    assert [m.text for m in read_labelled([file])] == [f"text {n}" for n in range(9)]


@pytest.mark.parametrize("line", ["no json", "[]", '{"lang": "en"}', '{"text": 3}', '{"text": "a", "act": "sings"}'])
def test_bad_line_is_named(line, tmp_path):
    file = tmp_path / "log.jsonl"
    file.write_text('{"text": "fine"}\n' + line + "\n", encoding="utf-8")

    with pytest.raises(InputError, match=r"log\.jsonl:2: not a JSON object with `text`"):
        read_labelled([file])
