"""The face: complete, sorted, and light."""

from __future__ import annotations

import ast
import json
import subprocess
import sys
from pathlib import Path

import pytest

import intentmatch

HEAVY = {
    "fastapi",
    "huggingface_hub",
    "matplotlib",
    "onnxruntime",
    "dateparser",
    "pydantic",
    "regex",
    "sentence_transformers",
    "sklearn",
    "torch",
    "transformers",
    "urllib3",
    "uvicorn",
    "watchfiles",
}


def run(program: str, folder: Path) -> set[str]:
    """The names of all modules that a program of its own has loaded by its end."""
    program += "\nimport json, sys\nprint(json.dumps(sorted(sys.modules)))"
    finished = subprocess.run(
        [sys.executable, "-c", program], cwd=folder, stdout=subprocess.PIPE, text=True, timeout=60, check=True
    )
    return set(json.loads(finished.stdout.splitlines()[-1]))


def test_all_is_sorted_and_names_each_once():
    """`__all__` reads like an index."""
    assert intentmatch.__all__ == sorted(set(intentmatch.__all__))


def test_all_is_what_the_lazy_table_answers_to():
    """What is promised can be fetched, and what can be fetched is promised."""
    assert set(intentmatch.__all__) == set(intentmatch._HOMES)


def test_type_checkers_see_the_same_names():
    """The imports for type checkers name exactly what the lazy table holds, from the same rooms."""
    tree = ast.parse(Path(intentmatch.__file__).read_text(encoding="utf-8"))
    (checked,) = [node for node in tree.body if isinstance(node, ast.If)]
    homes = {alias.name: node.module for node in checked.body for alias in node.names}

    assert homes == {name: f"intentmatch.{room}" for name, room in intentmatch._HOMES.items()}


@pytest.mark.parametrize("name", intentmatch.__all__)
def test_every_name_can_be_imported(name):
    """Each name leads to the thing of that name, documented."""
    thing = getattr(intentmatch, name)

    assert thing.__name__ == name
    assert thing.__doc__


def test_dir_is_the_promise_and_no_more():
    """Completion shows the public names only."""
    assert dir(intentmatch) == intentmatch.__all__


def test_an_unknown_name_is_an_attribute_error():
    """The lazy face fails like any module."""
    with pytest.raises(AttributeError, match="module 'intentmatch' has no attribute 'Matchr'"):
        _ = intentmatch.Matchr


def test_the_package_is_typed_and_versioned():
    """Type checkers may rely on the annotations, and the version is three numbers."""
    assert Path(intentmatch.__file__).with_name("py.typed").exists()
    assert len([int(part) for part in intentmatch.__version__.split(".")]) == 3


def test_importing_the_face_loads_nothing_but_the_standard_library(tmp_path):
    """A bot pays only for the names that it uses."""
    loaded = run("import intentmatch", tmp_path)

    assert {name for name in loaded if name.startswith("intentmatch")} == {"intentmatch"}
    assert not loaded & {"numpy", "yaml", *HEAVY}


def test_matching_with_the_default_encoder_loads_nothing_heavy(tmp_path):
    """From YAML to result, the default path needs none of the extras, installed or not."""
    (tmp_path / "bot.yaml").write_text(
        "intents:\n"
        "  greeting: {utterances: [hello there, good morning], response: Hi!}\n"
        "  goodbye: {utterances: [see you later, farewell]}\n"
    )
    program = (
        "from intentmatch import Matcher\n"
        "matcher = Matcher.load('bot.yaml')\n"
        "assert matcher.match('hello').candidates[0].intent == 'greeting'\n"
        "assert matcher.match('hello there').response == 'Hi!'\n"
    )

    assert run(program, tmp_path) & HEAVY == set()
