"""Output to a legacy code page."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import pytest

RESPONSE = "\u041f\u0440\u0438\u0432\u0435\u0442 \U0001f600 \u2192 caf\u00e9"
GREETING = "\u043f\u0440\u0438\u0432\u0435\u0442"
YAML = f"""
intents:
  greet:
    response: "{RESPONSE}"
    utterances: ["{GREETING}", hello]
"""


@pytest.mark.parametrize("encoding", ["cp1252", "cp437"])
def test_command_prints_characters_that_a_code_page_lacks(tmp_path, encoding):
    """As JSON writes them; output in JSON is always UTF-8."""
    (tmp_path / "intents.yaml").write_text(YAML, encoding="utf-8")

    printed = {}
    for flags in ((), ("--json",)):
        done = subprocess.run(
            [sys.executable, "-m", "intentmatch", "match", "--intents", "intents.yaml", *flags, GREETING],
            env={**os.environ, "PYTHONIOENCODING": encoding, "PYTHONUTF8": "0", "INTENTMATCH_CACHE": "off"},
            cwd=tmp_path,
            capture_output=True,
            timeout=120,
            check=False,
        )
        assert done.returncode == 0, done.stderr.decode(errors="replace")
        printed[flags] = done.stdout

    assert "\\u043f\\u0440" in printed[()].decode(encoding)
    assert json.loads(printed["--json",])["response"] == RESPONSE
