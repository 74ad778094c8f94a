"""Training the network that reads a yes or a no."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from click.testing import CliRunner
from safetensors.numpy import load_file

from intentmatch.cli.commands import cli
from intentmatch.distill import AnswersRecipe, read_answers, train_answers
from intentmatch.distill.acts import pieces_of
from intentmatch.distill.answers import joined
from intentmatch.distill.messages import HELD_OUT_LANGUAGES, LabelledAnswer, languages
from intentmatch.distill.recipe import write_recipe
from intentmatch.reading.answers import ANSWERS, AnswerReader

torch = pytest.importorskip("torch", reason="needs the extra [distill]")

RECIPE = AnswersRecipe(width=16, steps=120, texts=24, learning_rate=0.02)
LINES = {
    "yes": ("go ahead", "do it then", "why not"),
    "no": ("rather not", "leave it", "skip that"),
    "conditional": ("only if it is free", "only on Friday"),
    "neither": ("where is my parcel", "how much is it"),
}
TAUGHT = [LabelledAnswer(text, "en", answer) for answer, texts in LINES.items() for text in texts]


def test_network_learns_what_it_is_taught():
    network = AnswerReader(train_answers(TAUGHT, RECIPE))

    said = {text: network.read(pieces_of(text)) for text in ("go ahead then", "rather leave it")}

    assert said["go ahead then"].yes > 2 * said["rather leave it"].yes, said


def test_training_is_repeatable_and_its_seed_counts():
    recipe = replace(RECIPE, steps=5)
    first, again, other = (train_answers(TAUGHT, r) for r in (recipe, recipe, replace(recipe, seed=2)))

    assert all(np.array_equal(first[name], again[name]) for name in first)
    assert not np.array_equal(first["answers"], other["answers"])


@pytest.mark.parametrize(
    ("first", "second", "together"),
    [
        ("yes", "yes", "yes"),
        ("no", "no", "no"),
        ("yes", "no", "unsure"),
        ("unsure", "yes", "unsure"),
        ("yes", "conditional", "conditional"),
        ("yes", "neither", "neither"),  # what is asked for beside a yes decides
        ("conditional", "neither", "neither"),
    ],
)
def test_two_answers_in_one_message(first, second, together):
    assert joined(first, second) == joined(second, first) == together


def test_every_language_has_each_answer_and_some_languages_are_kept_aside():
    trained, kept = ([one for one in read_answers(part) if one.source == "answers"] for part in ("train", "measure"))

    four = {(c, a) for c in languages() for a in ANSWERS if a != "neither"}  # ordinary messages are no answers
    assert {(one.language, one.answer) for one in trained + kept} >= four
    assert not {one.language for one in trained} & {*HELD_OUT_LANGUAGES}
    assert {*HELD_OUT_LANGUAGES} <= {one.language for one in kept}


def test_command_writes_a_network_that_can_be_read(tmp_path):
    write_recipe(tmp_path / "small.yaml", replace(RECIPE, steps=2))
    target = tmp_path / "answers.safetensors"
    words = ["distill-answers", "--recipe", str(tmp_path / "small.yaml"), "-o", str(target)]

    done = CliRunner().invoke(cli, words, catch_exceptions=False)

    assert done.exit_code == 0, done.output
    AnswerReader(load_file(target))
