"""Languages that other installed packages bring.

The entry-point group is `intentmatch.languages`. An entry has the code of a language as its name and a package as its
value, which holds the language's file: `tl = "my_package"` is `my_package/tl.yaml`. The package is not imported.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping
from functools import cache
from pathlib import Path

from intentmatch.languages import files

GROUP = "intentmatch.languages"
_LOG = logging.getLogger(__name__)


@cache
def packaged_languages() -> Mapping[str, Path]:
    """Return the files of other packages by language code; the log warns of those that are missing or invalid."""
    # Imported late: it takes long, and languages with a file of our own do not need it.
    from importlib.metadata import entry_points

    found: dict[str, Path] = {}
    for entry in entry_points(group=GROUP):
        file = _file(entry.name, entry.value)
        if file is None:
            _LOG.warning("the package %s has no file %s.yaml: the language is left out", entry.value, entry.name)
            continue
        try:
            files.check(file)
        except (files.LanguageFileError, OSError, UnicodeDecodeError) as error:
            _LOG.warning("the language %s is left out: %s", entry.name, error)
            continue
        found[entry.name] = file
    return found


def _file(code: str, package: str) -> Path | None:
    from importlib.util import find_spec

    try:
        spec = find_spec(package)
    except (ImportError, ValueError):
        return None
    places = (Path(place) / f"{code}.yaml" for place in (spec and spec.submodule_search_locations) or ())
    return next((place for place in places if place.is_file()), None)
