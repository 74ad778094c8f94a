"""`schema`: the JSON Schema that editors read."""

from __future__ import annotations

import json

from click.testing import CliRunner

from intentmatch.cli.commands import cli
from intentmatch.registry.reading.schema import schema


def test_the_schema_is_printed():
    """As it is, and nothing else, so that it can be put into a file."""
    done = CliRunner().invoke(cli, ["schema"], catch_exceptions=False)

    assert done.exit_code == 0
    assert json.loads(done.stdout) == schema()
