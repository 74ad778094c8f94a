"""Tests for objects that the command line names as `module:name`."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest
from command_line import run

from intentmatch.cli.python_names import is_python_name, python_object
from intentmatch.core.errors import InputError, UnknownNameError

MODULE = """\
class Router: pass
class Route:
    def __init__(self, name, *utterances):
        self.name, self.utterances = name, list(utterances)
router = Router()
router.routes = [Route("greet", "hello", "hi there"), Route("leave", "bye")]
class nested:
    router = router
"""


@pytest.fixture
def shop(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The current folder, with the modules `shop_one`, `shop_package.routes` and `shop_broken`."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "shop_one.py").write_text(MODULE)
    (tmp_path / "shop_package").mkdir()
    (tmp_path / "shop_package" / "routes.py").write_text(MODULE)
    (tmp_path / "shop_broken.py").write_text("1 / 0\n")
    (tmp_path / "shop_needs.py").write_text("import no_such_library\n")
    for name in [name for name in sys.modules if name.startswith("shop_")]:
        monkeypatch.delitem(sys.modules, name)
    return tmp_path


@pytest.mark.parametrize("name", ["shop_one:router", "shop_package.routes:router", "shop_one:nested.router"])
def test_object_of_a_module_in_the_current_folder_is_imported(shop: Path, name: str) -> None:
    """The search path of Python is as before afterwards."""
    before = list(sys.path)
    done = run("import", name, "--language", "en")

    assert done.exit_code == 0
    assert "semantic-router: 2 intents, 3 utterances, languages: en" in done.stdout
    assert sys.path == before


def test_import_of_an_object_writes_yaml_and_json(shop: Path) -> None:
    assert run("import", "shop_one:router", "-o", "intents").exit_code == 0
    assert "hi there" in (shop / "intents" / "intents.yaml").read_text()
    assert json.loads(run("import", "shop_one:router", "--json").stdout)["format"] == "semantic-router"


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("shop_gone:router", "there is no module 'shop_gone'; run the command in the folder of the module"),
        ("shop_one.py:router", "there is no module 'shop_one.py'; name the module without .py: shop_one"),
        ("shop_package.gone:router", "there is no module 'shop_package.gone'"),
        ("shop_broken:router", "shop_broken cannot be imported: ZeroDivisionError: division by zero"),
        ("shop_needs:router", "shop_needs cannot be imported: No module named 'no_such_library'"),
        ("shop_one:routr", "Did you mean 'router'? It is looked for in shop_one."),
        ("shop_one:router.nothing", "unknown name 'nothing': known are routes"),
        ("shop_one:Router", "shop_one:Router is an object of builtins.type. Known are a router of semantic-router"),
    ],
)
def test_name_that_leads_nowhere_is_refused(shop: Path, name: str, message: str) -> None:
    done = run("import", name)

    assert done.exit_code == 2
    assert message in done.stderr
    assert "Traceback" not in done.stderr


def test_name_of_a_module_inside_of_data_is_never_imported(shop: Path) -> None:
    """Only the command line names modules."""
    (shop / "router.json").write_text(json.dumps({"router_type": "shop_broken:router", "routes": []}))

    assert run("import", "router.json").exit_code == 2
    assert "shop_broken" not in sys.modules


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("shop:router", True),
        ("shop.routes:make.router", True),
        ("shop", False),
        ("shop:", False),
        (":router", False),
        ("a/b:c", False),
        ("C:\\bot", False),
        ("1shop:router", False),
        ("-", False),
    ],
)
def test_form_of_a_name(text: str, expected: bool) -> None:
    assert is_python_name(text) is expected


def test_file_with_a_colon_in_its_name_is_a_file(shop: Path) -> None:
    (shop / "shop:router").write_text("text,intent\nhello,greet\n")

    assert not is_python_name("shop:router")
    assert "csv: 1 intent" in run("import", "shop:router").stdout


@pytest.mark.parametrize("text", ["shop", "a/b:c"])
def test_other_texts_are_refused(text: str) -> None:
    with pytest.raises(InputError, match="write MODULE:NAME"), python_object(text):
        pass


def test_search_path_is_restored_after_an_error(shop: Path) -> None:
    before = list(sys.path)
    with pytest.raises(UnknownNameError), python_object("shop_one:gone"):
        pass

    assert sys.path == before
