"""Names to factories: built-in, from other packages, unknown, missing and broken."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from intentmatch.core import plugins
from intentmatch.core.errors import MissingExtraError, UnknownNameError
from intentmatch.encoders.static import load as load_static


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """An empty folder on `sys.path`; what was imported from it is forgotten afterwards."""
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


def test_a_built_in_name_gives_its_factory():
    """A name of the table gives what the table's import string says."""
    assert plugins.factory("encoders", "static") is load_static


def test_every_built_in_can_be_had():
    """Every import string of the table leads to a factory or a format, without its extra being installed."""
    found = {
        (group, name): plugins.named(group, name) for group in plugins.BUILT_IN for name in plugins.BUILT_IN[group]
    }

    assert all(callable(what) for (group, _), what in found.items() if group != "formats")
    assert all(what.name == name for (group, name), what in found.items() if group == "formats")


def test_an_unknown_name_lists_the_known_ones_and_suggests():
    """A slip in a name is answered with all names and the nearest one."""
    with pytest.raises(UnknownNameError) as caught:
        plugins.factory("encoders", "statics", hint="See the README.")

    assert str(caught.value).startswith("unknown encoder 'statics': known are ")
    assert all(name in str(caught.value) for name in plugins.names("encoders"))
    assert str(caught.value).endswith("Did you mean 'static'? See the README.")


def test_a_name_of_one_group_is_unknown_in_another():
    """An encoder is no reranker."""
    with pytest.raises(UnknownNameError, match="unknown reranker 'static': known are cross_encoder"):
        plugins.factory("rerankers", "static")


def test_another_package_can_add_a_name(site: Path):
    """A third party's entry point is listed, and is imported only when it is asked for."""
    install(site, "[intentmatch.encoders]\nacme = acme_encoders:load\n")
    (site / "acme_encoders.py").write_text("def load(model, settings):\n    return f'acme {model}'\n")

    listed = plugins.names("encoders")
    imported_by_listing = "acme_encoders" in sys.modules
    factory = plugins.factory("encoders", "acme")

    assert listed == ["static", "onnx", "sentence_transformer", "remote", "acme"]
    assert not imported_by_listing
    assert factory("small", None) == "acme small"


def test_a_built_in_name_cannot_be_taken_over(site: Path):
    """A third party's entry point of a built-in name is not looked at, and not listed twice."""
    install(site, "[intentmatch.encoders]\nstatic = acme_encoders:load\n")

    assert plugins.factory("encoders", "static") is load_static
    assert plugins.names("encoders").count("static") == 1


def test_a_broken_plugin_raises_its_own_error(site: Path):
    """What goes wrong inside a third party's import is theirs and is seen as it is."""
    install(site, "[intentmatch.rerankers]\nacme = acme_encoders:load\n")
    (site / "acme_encoders.py").write_text("import a_package_they_forgot_to_require\n")

    with pytest.raises(ModuleNotFoundError, match="a_package_they_forgot_to_require"):
        plugins.factory("rerankers", "acme")


def test_require_gives_the_module():
    """A package that is there is imported and handed over."""
    assert plugins.require("json", what="Reading", extra="torch") is importlib.import_module("json")


@pytest.mark.parametrize("module", ["a_missing_package", "a_missing_package.inner"])
def test_a_missing_package_names_the_pip_line(module):
    """A package that is not installed is answered with what needs it and the line that installs it."""
    with pytest.raises(MissingExtraError, match=r'^A lion needs .* pip install "intentmatch\[torch\]"$') as caught:
        plugins.require(module, what="A lion", extra="torch")

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
def test_a_broken_package_raises_its_own_error(site: Path, line):
    """A package that is there but cannot be imported is not reported as missing."""
    (site / "half_installed").mkdir()
    (site / "half_installed" / "__init__.py").write_text(line)

    with pytest.raises(ImportError) as caught:
        plugins.require("half_installed", what="A lion", extra="torch")

    assert "half_installed" in [Path(str(frame.path)).parent.name for frame in caught.traceback]
