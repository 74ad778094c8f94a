"""Plugin lookup: built-ins, entry points, unknown names, missing and broken packages."""

from __future__ import annotations

import importlib
import importlib.metadata
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from intentmatch.core import plugins
from intentmatch.core.errors import MissingExtraError, UnknownNameError
from intentmatch.encoders.static import load as load_static


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """An empty folder on `sys.path`; modules imported from it are unloaded afterwards."""
    monkeypatch.syspath_prepend(str(tmp_path))
    before = set(sys.modules)
    yield tmp_path
    for name in set(sys.modules) - before:
        del sys.modules[name]


def install(site: Path, entry_points: str) -> None:
    info = site / "acme_encoders-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: acme-encoders\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text(entry_points)


def test_built_in_name_returns_its_factory():
    assert plugins.factory("encoders", "static") is load_static


def test_every_built_in_imports_without_extras():
    found = {
        (group, name): plugins.named(group, name) for group in plugins.BUILT_IN for name in plugins.BUILT_IN[group]
    }

    assert all(callable(entry) for (group, _), entry in found.items() if group != "formats")
    assert all(entry.name == name for (group, name), entry in found.items() if group == "formats")


def test_unknown_name_lists_and_suggests_known_names():
    with pytest.raises(UnknownNameError) as caught:
        plugins.factory("encoders", "statics", hint="See the README.")

    assert str(caught.value).startswith("unknown encoder 'statics': known are ")
    assert all(name in str(caught.value) for name in plugins.names("encoders"))
    assert str(caught.value).endswith("Did you mean 'static'? See the README.")


def test_groups_have_separate_names():
    with pytest.raises(
        UnknownNameError,
        match="unknown reranker 'static': known are chat, cross_encoder, decisions, onnx, remote, systemone, words",
    ):
        plugins.factory("rerankers", "static")


def test_entry_point_of_another_package_is_found(site: Path):
    """It is listed by name and imported only when requested."""
    install(site, "[intentmatch.encoders]\nacme = acme_encoders:load\n")
    (site / "acme_encoders.py").write_text("def load(model, settings):\n    return f'acme {model}'\n")

    listed = plugins.names("encoders")
    imported_by_listing = "acme_encoders" in sys.modules
    factory = plugins.factory("encoders", "acme")

    assert listed == ["static", "onnx", "sentence_transformer", "remote", "acme"]
    assert not imported_by_listing
    assert factory("small", None) == "acme small"


def test_files_of_packages_are_read_again_only_after_an_install(site: Path, monkeypatch: pytest.MonkeyPatch):
    before = plugins.names("encoders")
    with monkeypatch.context() as patch:
        patch.delattr(importlib.metadata, "entry_points")
        assert plugins.names("encoders") == before

    install(site, "[intentmatch.encoders]\nacme = acme_encoders:load\n")
    assert plugins.names("encoders") == [*before, "acme"]


def test_entry_point_cannot_replace_a_built_in(site: Path):
    """An entry point with a built-in name is ignored and not listed twice."""
    install(site, "[intentmatch.encoders]\nstatic = acme_encoders:load\n")

    assert plugins.factory("encoders", "static") is load_static
    assert plugins.names("encoders").count("static") == 1


def test_import_error_of_a_plugin_is_not_caught(site: Path):
    install(site, "[intentmatch.rerankers]\nacme = acme_encoders:load\n")
    (site / "acme_encoders.py").write_text("import a_package_they_forgot_to_require\n")

    with pytest.raises(ModuleNotFoundError, match="a_package_they_forgot_to_require"):
        plugins.factory("rerankers", "acme")


def test_require_returns_the_module():
    assert plugins.require("json", what="Reading", extra="torch") is importlib.import_module("json")


@pytest.mark.parametrize("module", ["a_missing_package", "a_missing_package.inner"])
def test_missing_package_names_the_pip_command(module):
    with pytest.raises(MissingExtraError, match=r'^A model needs .* pip install "intentmatch\[torch\]"$') as caught:
        plugins.require(module, what="A model", extra="torch")

    assert caught.value.extra == "torch"


@pytest.mark.parametrize(
    "line",
    [
        "import a_dependency_of_its_own",
        "from half_installed import _native_part",
        "import half_installed._native_part",
        "raise ImportError('built for another numpy')",
        "raise ModuleNotFoundError('no name given')",
    ],
)
def test_import_error_of_an_installed_package_is_not_caught(site: Path, line):
    (site / "half_installed").mkdir()
    (site / "half_installed" / "__init__.py").write_text(line)

    with pytest.raises(ImportError) as caught:
        plugins.require("half_installed", what="A model", extra="torch")

    assert "half_installed" in [Path(str(frame.path)).parent.name for frame in caught.traceback]
