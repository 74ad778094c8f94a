"""The floors of the house: a room imports only from floors below its own."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from graphlib import TopologicalSorter
from pathlib import Path

import pytest

import intentmatch

PACKAGE = Path(intentmatch.__file__).parent

FLOORS: tuple[frozenset[str], ...] = tuple(
    frozenset(floor.split())
    for floor in (
        "languages runtime",
        "text",
        "core",
        "slots storage",
        "pieces",
        "encoders reading registry",
        "distill formats index",
        "learning",
        "artefact",
        "lint matching",
        "dialogue inbox",
        "__init__",
        "evaluation review",
        "adaptation authoring",
        "studio integrations",
        "server",
        "deploy",
        "cli",
    )
)

# `python -m intentmatch` is the command line by another door.
BESIDE_CLI = {"__main__"}

ROOMS = {path.stem for path in PACKAGE.glob("*.py")} | {path.parent.name for path in PACKAGE.glob("*/__init__.py")}


def floor_of(room: str) -> int:
    return next(
        number for number, floor in enumerate(FLOORS) if room in floor or (room in BESIDE_CLI and "cli" in floor)
    )


def files_of(room: str) -> list[Path]:
    folder = PACKAGE / room
    return sorted(folder.rglob("*.py")) if folder.is_dir() else [folder.with_suffix(".py")]


def imported_modules(file: Path) -> Iterator[str]:
    """Every module of ours that a file names in an import, wherever in the file, as a dotted path."""
    package = ["intentmatch", *file.relative_to(PACKAGE).parent.parts]
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            above = package[: len(package) - node.level + 1] if node.level else []
            source = ".".join([*above, *([node.module] if node.module else [])])
            yield from (f"{source}.{alias.name}" for alias in node.names)


def rooms_used(file: Path) -> set[str]:
    """The rooms that a file imports from; a name of the face counts as the face."""
    paths = [name.split(".") for name in imported_modules(file) if name.split(".")[0] == "intentmatch"]
    return {path[1] if len(path) > 1 and path[1] in ROOMS else "__init__" for path in paths}


def modules_used(file: Path, modules: Mapping[str, Path]) -> set[str]:
    """The modules that a file imports; `from intentmatch.core import plugins` names one, or a thing in one."""
    named = {name if name in modules else name.rpartition(".")[0] for name in imported_modules(file)}
    return {name for name in named if name in modules and modules[name] != file}


def test_every_room_has_one_floor_and_every_floor_its_rooms():
    """A new room needs a floor, and a floor names only rooms that are there."""
    placed = [room for floor in FLOORS for room in floor]

    assert sorted(placed) == sorted(ROOMS - BESIDE_CLI)


@pytest.mark.parametrize("room", sorted(ROOMS - {"__init__"}))
def test_a_room_imports_only_from_floors_below(room):
    """Imports inside functions and for type checkers count; siblings on one floor do not know each other."""
    used = {other for file in files_of(room) for other in rooms_used(file)} - {room}
    beside_or_above = {other for other in used if floor_of(other) >= floor_of(room)}

    assert beside_or_above - ({"cli"} if room in BESIDE_CLI else set()) == set()


def test_no_modules_import_each_other_in_a_circle():
    """Imports inside functions and for type checkers count: a circle is one noun, or hides a third."""
    modules = {
        ".".join(("intentmatch", *file.relative_to(PACKAGE).with_suffix("").parts)).removesuffix(".__init__"): file
        for file in PACKAGE.rglob("*.py")
    }
    used = {module: modules_used(file, modules) for module, file in modules.items()}

    TopologicalSorter(used).prepare()  # raises CycleError with the modules of a circle


def test_the_face_imports_nothing_of_ours_when_it_is_imported():
    """The face names its rooms for type checkers and fetches them when they are first asked for."""
    tree = ast.parse((PACKAGE / "__init__.py").read_text(encoding="utf-8"))
    at_once = [node for node in tree.body if isinstance(node, ast.Import | ast.ImportFrom)]
    named = [alias.name for node in at_once for alias in node.names]
    sources = [node.module or "" for node in at_once if isinstance(node, ast.ImportFrom)]

    assert not [name for name in [*named, *sources] if name.startswith("intentmatch")]


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("from intentmatch.core import plugins", {"core"}),
        ("from intentmatch import Matcher", {"__init__"}),
        ("import intentmatch", {"__init__"}),
        ("import intentmatch.storage.vector_cache as c", {"storage"}),
        ("from intentmatch.registry.reading.nodes import Node", {"registry"}),
        ("def f():\n    from intentmatch.artefact.build import build", {"artefact"}),
        ("if TYPE_CHECKING:\n    import intentmatch.matching.pipeline", {"matching"}),
        ("from . import exact", {"index"}),
        ("from .. import learning", {"learning"}),
        ("from ..storage.vector_cache import VectorCache", {"storage"}),
        ("import numpy, intentmatch_more", set()),
    ],
)
def test_the_walk_sees_every_way_to_import(tmp_path, monkeypatch, source, expected):
    """Absolute, relative, aliased, inside a function or for type checkers: an import is an import."""
    monkeypatch.setitem(globals(), "PACKAGE", tmp_path)
    (tmp_path / "index").mkdir()
    file = tmp_path / "index" / "fake.py"
    file.write_text(source)

    assert rooms_used(file) == expected
