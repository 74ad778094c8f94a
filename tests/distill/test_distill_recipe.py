"""Recipes: reading, writing and invalid values."""

from __future__ import annotations

from dataclasses import asdict, fields
from pathlib import Path

import pytest

from intentmatch.core.errors import InputError
from intentmatch.distill import Recipe, read_recipe
from intentmatch.distill.recipe import write_recipe


def recipe_of(folder: Path, text: str) -> Recipe:
    (folder / "recipe.yaml").write_text(text, encoding="utf-8")
    return read_recipe(folder / "recipe.yaml", Recipe)


def test_recipe_round_trip(tmp_path: Path) -> None:
    numbers = {name: value for name, value in asdict(Recipe()).items() if not isinstance(value, dict)}
    changed = {name: value * 2 + 1 for name, value in numbers.items()}
    recipe = Recipe(
        **changed, language_weights={"no": 0.5, "pt-BR": 2.0}, source_weights={"books": 0.5, "no": 0.0, "": 2.0}
    )

    write_recipe(tmp_path / "recipe.yaml", recipe)

    assert read_recipe(tmp_path / "recipe.yaml", Recipe) == recipe
    lines = (tmp_path / "recipe.yaml").read_text(encoding="utf-8").splitlines()
    assert [line.partition(":")[0] for line in lines if line[0].isalpha()] == [field.name for field in fields(Recipe)]


@pytest.mark.parametrize("text", ["", "# nothing\n", "{}", "seed: 1\n"])
def test_missing_fields_keep_their_defaults(tmp_path: Path, text: str) -> None:
    assert recipe_of(tmp_path, text) == Recipe()


def test_integers_are_valid_floats_and_source_names_become_text(tmp_path: Path) -> None:
    recipe = recipe_of(tmp_path, "dropout: 0\nsteps: 7\nsource_weights: {2019: 3, books: 0.5}\n")

    assert recipe == Recipe(dropout=0.0, steps=7, source_weights={"2019": 3.0, "books": 0.5})
    assert isinstance(recipe.dropout, float)
    assert isinstance(recipe.source_weights["2019"], float)


def test_language_codes_are_normalized(tmp_path: Path) -> None:
    recipe = recipe_of(tmp_path, "language_weights: {PT_br: 2, 'no': 3}\n")

    assert recipe == Recipe(language_weights={"pt-BR": 2.0, "no": 3.0})


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("stepz: 3", "a recipe has no field 'stepz'; did you mean 'steps'?"),
        ("colour: 3", "a recipe has no field 'colour'; the fields are seed, pieces, rows, dim"),
        ("7: 3", "a recipe has no field '7'; the fields are"),
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
        ("source_weights: books", "source_weights must map the name of a source to a number of 0 or more"),
        ("source_weights: {books: much}", "source_weights must map the name of a source to a number of 0 or more"),
        ("source_weights: {books: -1}", "source_weights must map the name of a source to a number of 0 or more"),
        ("language_weights: [de]", "language_weights must map a language code to a number of 0 or more"),
        ("language_weights: {de: much}", "language_weights must map a language code to a number of 0 or more"),
        ("language_weights: {de: -1}", "language_weights must map a language code to a number of 0 or more"),
        ("language_weights: {german: 2}", "language_weights: 'german' is not a language code; use one such as `de`"),
        ("language_weights: {no: 2}", "language_weights: 'False' is not a language code; use one such as"),
        ("- steps: 3", "a recipe must be a mapping of field names to values"),
        ("steps", "a recipe must be a mapping of field names to values"),
        ("steps: [", "cannot be read: "),
    ],
)
def test_invalid_recipe_is_refused_with_a_reason(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(InputError) as caught:
        recipe_of(tmp_path, text)

    assert str(caught.value).startswith(str(tmp_path / "recipe.yaml"))
    assert message in str(caught.value)


def test_unreadable_file_is_reported(tmp_path: Path) -> None:
    (tmp_path / "latin.yaml").write_bytes("# grüße\n".encode("latin-1"))
    for file in (tmp_path / "missing.yaml", tmp_path, tmp_path / "latin.yaml"):
        with pytest.raises(InputError, match=f"{file.name} cannot be read: "):
            read_recipe(file, Recipe)
