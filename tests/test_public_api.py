"""The public API: complete, sorted, and light to import."""

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
    """Run a program in a new process and return the names of the modules it loaded."""
    program += "\nimport json, sys\nprint(json.dumps(sorted(sys.modules)))"
    finished = subprocess.run(
        [sys.executable, "-c", program], cwd=folder, stdout=subprocess.PIPE, text=True, timeout=60, check=True
    )
    return set(json.loads(finished.stdout.splitlines()[-1]))


def test_all_is_sorted_without_duplicates():
    assert intentmatch.__all__ == sorted(set(intentmatch.__all__))


def test_all_equals_the_lazy_table():
    assert set(intentmatch.__all__) == set(intentmatch._HOMES)


def test_type_checkers_see_the_same_names():
    tree = ast.parse(Path(intentmatch.__file__).read_text(encoding="utf-8"))
    (checked,) = [node for node in tree.body if isinstance(node, ast.If)]
    homes = {alias.name: node.module for node in checked.body for alias in node.names}

    assert homes == {name: f"intentmatch.{room}" for name, room in intentmatch._HOMES.items()}


@pytest.mark.parametrize("name", intentmatch.__all__)
def test_every_name_can_be_imported(name):
    thing = getattr(intentmatch, name)

    assert thing.__name__ == name
    assert thing.__doc__


def test_dir_lists_the_public_names_only():
    assert dir(intentmatch) == intentmatch.__all__


def test_an_unknown_name_is_an_attribute_error():
    with pytest.raises(AttributeError, match="module 'intentmatch' has no attribute 'Matchr'"):
        _ = intentmatch.Matchr


def test_the_package_is_typed_and_versioned():
    assert Path(intentmatch.__file__).with_name("py.typed").exists()
    assert len([int(part) for part in intentmatch.__version__.split(".")]) == 3


def test_import_loads_only_the_standard_library(tmp_path):
    loaded = run("import intentmatch", tmp_path)

    assert {name for name in loaded if name.startswith("intentmatch")} == {"intentmatch"}
    assert not loaded & {"numpy", "yaml", *HEAVY}


def test_default_encoder_loads_no_extras(tmp_path):
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
