"""`intentmatch deploy ray`: what it checks before it needs Ray."""

from __future__ import annotations

import importlib.util

import pytest
from click.testing import CliRunner

from intentmatch.cli.commands import cli
from intentmatch.core.errors import MissingExtraError, RegistryError


def deploy(tmp_path, text, *words):
    file = tmp_path / "cluster.yaml"
    file.write_text(text, encoding="utf-8")
    return CliRunner().invoke(cli, ["deploy", "ray", "--config", str(file), *words])


def test_valid_file_passes_the_check(tmp_path):
    done = deploy(tmp_path, "intents: shop\n", "--check")

    assert (done.exit_code, done.output) == (0, f"{tmp_path / 'cluster.yaml'} is valid.\n")


@pytest.mark.parametrize("words", [["--check"], []])
def test_invalid_file_is_reported(tmp_path, words):
    done = deploy(tmp_path, "intens: shop\n", *words)

    assert done.exit_code == RegistryError.exit_code
    assert "did you mean `intents`?" in done.output


def test_missing_extra_is_named(tmp_path, monkeypatch):
    find = importlib.util.find_spec
    monkeypatch.setattr(importlib.util, "find_spec", lambda name, *more: None if name == "ray" else find(name, *more))

    done = deploy(tmp_path, "intents: shop\n")

    assert done.exit_code == MissingExtraError.exit_code
    assert 'pip install "intentmatch[ray]"' in done.output
