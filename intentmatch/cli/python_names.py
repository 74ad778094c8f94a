"""Objects that the user names on the command line as `module:name`, as uvicorn and gunicorn do.

The module is imported, which runs its code. Only words of the command line name modules, never data.
"""

from __future__ import annotations

import importlib
import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from intentmatch.core.errors import InputError, UnknownNameError

_NAME = re.compile(r"(?P<module>[^\W\d][\w.]*):(?P<name>[^\W\d][\w.]*)")


def is_python_name(text: str) -> bool:
    """Return whether a text has the form `module:name` and is not a file."""
    return _NAME.fullmatch(text) is not None and not Path(text).exists()


@contextmanager
def python_object(text: str) -> Iterator[Any]:
    """Import the object that `module:name` names; modules of the current folder can be imported meanwhile.

    Raises `InputError` if the module cannot be imported or has no such name.
    """
    match = _NAME.fullmatch(text)
    if match is None:
        raise InputError(f"{text!r} does not name an object; write MODULE:NAME, such as shop.routes:router")
    folder = str(Path.cwd())
    # As `python -m` does; a program that is installed has its own folder in front.
    sys.path.insert(0, folder)
    try:
        yield _attribute(_module(match["module"]), match["name"])
    finally:
        sys.path.remove(folder)


def _module(name: str) -> Any:
    # The module may be a moment old, as in a notebook or a test.
    importlib.invalidate_caches()
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError as error:
        # The module itself or a package above it is missing, and not something that it imports.
        if error.name is not None and f"{name}.".startswith(f"{error.name}."):
            hint = f"; name the module without .py: {name.removesuffix('.py')}" if name.endswith(".py") else ""
            hint = hint or "; run the command in the folder of the module, or add the folder to PYTHONPATH"
            raise InputError(f"there is no module {name!r}{hint}") from None
        raise InputError(f"{name} cannot be imported: {error}") from error
    # The code of the module runs here, and may raise anything.
    except Exception as error:
        raise InputError(f"{name} cannot be imported: {type(error).__name__}: {error}") from error


def _attribute(module: Any, path: str) -> Any:
    found = module
    for name in path.split("."):
        if not hasattr(found, name):
            known = [other for other in vars(found) if not other.startswith("_")] if hasattr(found, "__dict__") else []
            raise UnknownNameError("name", name, known, f"It is looked for in {module.__name__}.")
        found = getattr(found, name)
    return found
