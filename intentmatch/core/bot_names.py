"""Names of bots in a folder or a database of bots: a name stands in URLs unescaped, and before the colon of a key."""

from __future__ import annotations

import re

# The first character is no dot: a hidden folder, and "..", are no bots.
VALID_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}")

HOW_TO_NAME = "use at most 100 ASCII letters, digits, `-`, `_` and `.`, and start with a letter or digit"
