"""Training the weights that tell whether an answer gives a value."""

from __future__ import annotations

import numpy as np
from click.testing import CliRunner
from safetensors.numpy import load_file

from intentmatch.cli.commands import cli
from intentmatch.distill.messages import HELD_OUT_LANGUAGES, LabelledValue, languages, read_values
from intentmatch.distill.values import train_values
from intentmatch.reading import given_values as module
from intentmatch.reading.given_values import GivenValues

DAYS = ("Monday", "Tuesday", "Wednesday", "Thursday")


def labelled(before: str, value: str, behind: str, *, gives: bool) -> LabelledValue:
    return LabelledValue(before + value + behind, "en", len(before), len(before + value), gives)


def test_weights_learn_what_they_are_taught():
    """Which of two days is given: the text is the same."""
    taught = [labelled("not ", day, ", Sunday", gives=False) for day in DAYS]
    taught += [labelled("not Sunday, ", day, "", gives=True) for day in DAYS]

    weights = GivenValues(train_values(taught))

    text = "not Saturday, Friday"
    assert weights.chance(text, 4, 12) < 0.3 < 0.7 < weights.chance(text, 14, 20)


def test_kept_lines_and_languages_are_not_trained_on():
    trained, kept = read_values("train"), read_values("measure")

    assert not {one.text for one in trained} & {one.text for one in kept}
    assert not {one.language for one in trained} & {*HELD_OUT_LANGUAGES}
    assert {(one.language, one.gives) for one in kept} == {
        (code, gives) for code in languages() for gives in (True, False)
    }
    assert all(one.text[one.start : one.end].strip() for one in trained + kept)


def test_command_trains_the_weights_of_this_release(tmp_path):
    """They belong to the network of acts beside them: whoever trains that one has to train these anew."""
    target = tmp_path / "values.safetensors"

    done = CliRunner().invoke(cli, ["distill-values", "-o", str(target)], catch_exceptions=False)

    assert done.exit_code == 0, done.output
    own, shipped = load_file(target), load_file(module.FILE)
    assert {name: tensor.shape for name, tensor in own.items()} == {name: one.shape for name, one in shipped.items()}
    similarity = np.dot(own["gives"].astype(float), shipped["gives"].astype(float))
    assert similarity > 0.99 * np.linalg.norm(own["gives"].astype(float)) * np.linalg.norm(
        shipped["gives"].astype(float)
    )
