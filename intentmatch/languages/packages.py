"""Languages that other installed packages bring.

The entry-point group is `intentmatch.languages`. An entry has the code of a language as its name and a package as its
value, which holds the language's file: `tl = "my_package"` is `my_package/tl.yaml`. The package is not imported.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import NamedTuple

from intentmatch.languages import files

GROUP = "intentmatch.languages"
# Such as ISO 639 has. A code also becomes the name of a file: `../x` would be one of another folder.
_CODE = re.compile("[a-z]{2,3}")
_OURS = Path(__file__).parent
_LOG = logging.getLogger(__name__)


class PackagedLanguages(NamedTuple):
    """What other packages bring, by language code."""

    files: Mapping[str, Path]
    left_out: Mapping[str, str]
    """Why an entry is not read."""


@cache
def packaged_languages() -> PackagedLanguages:
    """Return the languages of other packages; the log warns of those that are left out."""
    # Imported late: it takes long, and languages with a file of our own do not need it.
    from importlib.metadata import entry_points

    found: dict[str, Path] = {}
    left_out: dict[str, str] = {}
    # An invalid entry must not fail the bots that do not speak its language.
    for entry in entry_points(group=GROUP):
        try:
            found[entry.name] = _checked(entry.name, entry.value)
        except (ValueError, OSError) as error:
            left_out[entry.name] = f"the language {entry.name} of the package {entry.value} is left out: {error}"
            _LOG.warning("%s", left_out[entry.name])
    return PackagedLanguages(found, left_out)


def _checked(code: str, package: str) -> Path:
    """Return the file of a language. Raises `ValueError` or `OSError` if it cannot be read or is not wanted."""
    if not _CODE.fullmatch(code):
        raise ValueError(f"{code!r} is no code of a language, such as 'tl', which is the name of the entry point")
    # Otherwise installing a package would change what every bot of this language reads.
    if (_OURS / f"{code}.yaml").exists():
        raise ValueError("intentmatch has this language; a bot changes its words with `languages:` in YAML")
    file = _file(code, package)
    if file is None:
        raise ValueError(f"the package has no file {code}.yaml")
    files.check(file)
    return file


def _file(code: str, package: str) -> Path | None:
    from importlib.util import find_spec

    try:
        spec = find_spec(package)
    # `find_spec` imports the parents of a dotted name, and refuses a module that has no spec.
    except (ImportError, ValueError):
        return None
    places = (Path(place) / f"{code}.yaml" for place in (spec and spec.submodule_search_locations) or ())
    return next((place for place in places if place.is_file()), None)
