"""The recipe: read, written, and what cannot be one."""

from __future__ import annotations

from dataclasses import asdict, fields
from pathlib import Path

import pytest

from intentmatch.core.errors import InputError
from intentmatch.distill import Recipe, read_recipe
from intentmatch.distill.recipe import write_recipe


def recipe_of(folder: Path, text: str) -> Recipe:
    (folder / "recipe.yaml").write_text(text, encoding="utf-8")
    return read_recipe(folder / "recipe.yaml")


def test_what_was_written_is_read(tmp_path: Path) -> None:
    """Every field of it, in the order they are described in."""
    numbers = {name: value for name, value in asdict(Recipe()).items() if not isinstance(value, dict)}
    changed = {name: value * 2 + 1 for name, value in numbers.items()}
    recipe = Recipe(
        **changed, language_weights={"no": 0.5, "pt-BR": 2.0}, source_weights={"books": 0.5, "no": 0.0, "": 2.0}
    )

    write_recipe(tmp_path / "recipe.yaml", recipe)

    assert read_recipe(tmp_path / "recipe.yaml") == recipe
    lines = (tmp_path / "recipe.yaml").read_text(encoding="utf-8").splitlines()
    assert [line.partition(":")[0] for line in lines if line[0].isalpha()] == [field.name for field in fields(Recipe)]


@pytest.mark.parametrize("text", ["", "# nothing\n", "{}", "seed: 1\n"])
def test_what_it_leaves_out_keeps_its_default(tmp_path: Path, text: str) -> None:
    """An empty file is the recipe of the embedded model."""
    assert recipe_of(tmp_path, text) == Recipe()


def test_numbers_may_be_written_either_way(tmp_path: Path) -> None:
    """A whole number where a broken one is meant, and the name of a source that YAML takes for something else."""
    recipe = recipe_of(tmp_path, "dropout: 0\nsteps: 7\nsource_weights: {2019: 3, books: 0.5}\n")

    assert recipe == Recipe(dropout=0.0, steps=7, source_weights={"2019": 3.0, "books": 0.5})
    assert isinstance(recipe.dropout, float)
    assert isinstance(recipe.source_weights["2019"], float)


def test_languages_are_brought_to_their_usual_case(tmp_path: Path) -> None:
    """As those of the text are."""
    recipe = recipe_of(tmp_path, "language_weights: {PT_br: 2, 'no': 3}\n")

    assert recipe == Recipe(language_weights={"pt-BR": 2.0, "no": 3.0})


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("stepz: 3", "a recipe has no 'stepz'; did you mean 'steps'?"),
        ("colour: 3", "a recipe has no 'colour'; known are seed, pieces, rows, dim"),
        ("7: 3", "a recipe has no '7'; known are"),
        ("steps: many", "steps must be a whole number of 0 or more, not 'many'"),
        ("steps: 2.5", "steps must be a whole number of 0 or more, not 2.5"),
        ("steps: true", "steps must be a whole number of 0 or more, not True"),
        ("steps: -1", "steps must be a whole number of 0 or more, not -1"),
        ("steps:", "steps must be a whole number of 0 or more, not None"),
        ("dropout: [0.1]", "dropout must be a number of 0 or more, not [0.1]"),
        ("dropout: -0.1", "dropout must be a number of 0 or more, not -0.1"),
        ("dropout: .nan", "dropout must be a number of 0 or more, not nan"),
        ("learning_rate: .inf", "learning_rate must be a number of 0 or more, not inf"),
        ("temperature: 0", "temperature must be more than 0"),
        ("dim: 0", "dim must be more than 0"),
        ("pairs: 0", "pairs must be more than 0"),
        ("rows: 0", "rows must be more than 0"),
        ("source_weights: books", "source_weights maps the name of a source to a number of 0 or more"),
        ("source_weights: {books: much}", "source_weights maps the name of a source to a number of 0 or more"),
        ("source_weights: {books: -1}", "source_weights maps the name of a source to a number of 0 or more"),
        ("language_weights: [de]", "language_weights maps a language code to a number of 0 or more"),
        ("language_weights: {de: much}", "language_weights maps a language code to a number of 0 or more"),
        ("language_weights: {de: -1}", "language_weights maps a language code to a number of 0 or more"),
        ("language_weights: {german: 2}", "language_weights: 'german' is no language code; write one such as `de`"),
        ("language_weights: {no: 2}", "language_weights: 'False' is no language code; write one such as"),
        ("- steps: 3", "a recipe is a mapping of names to values"),
        ("steps", "a recipe is a mapping of names to values"),
        ("steps: [", "cannot be read: "),
    ],
)
def test_what_is_no_recipe_is_named(tmp_path: Path, text: str, message: str) -> None:
    """With the file, what stands there and what could."""
    with pytest.raises(InputError) as caught:
        recipe_of(tmp_path, text)

    assert str(caught.value).startswith(str(tmp_path / "recipe.yaml"))
    assert message in str(caught.value)


def test_a_file_that_cannot_be_read_is_named(tmp_path: Path) -> None:
    """None there, a folder, or no UTF-8."""
    (tmp_path / "latin.yaml").write_bytes("# grüße\n".encode("latin-1"))
    for file in (tmp_path / "missing.yaml", tmp_path, tmp_path / "latin.yaml"):
        with pytest.raises(InputError, match=f"{file.name} cannot be read: "):
            read_recipe(file)
