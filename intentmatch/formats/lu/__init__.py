"""Bot Framework .lu files in the old and the new syntax, with their imports."""

from __future__ import annotations

import re

from intentmatch.formats.kit.format import Format, Sure
from intentmatch.formats.kit.source import File
from intentmatch.formats.lu import reading, writing

_SUFFIX = ".lu"
_SIGN = re.compile(
    r"> !# @app\.|@ (ml|list|regex|prebuilt|patternany|phraselist) |\$\s*PREBUILT\s*:|\$[^:]+:\s*simple\b"
    r"|[-*+] .*\{@[^{}=]+=",
)


def recognise(file: File) -> Sure:
    """Recognise declarations and labels. An intent without them could be any text."""
    if any(_SIGN.match(line.lstrip()) for line in file.lines):
        return Sure.CERTAIN if file.suffix == _SUFFIX else Sure.LIKELY
    return Sure.LIKELY if file.suffix == _SUFFIX else Sure.NO


FORMAT = Format("lu", "Bot Framework .lu files", recognise, reading.read, writing.write, writing.SAYS)
