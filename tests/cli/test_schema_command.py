"""`intentmatch schema`."""

from __future__ import annotations

import json

from click.testing import CliRunner

from intentmatch.cli.commands import cli
from intentmatch.registry.reading.schema import schema


def test_prints_the_json_schema_and_nothing_else():
    done = CliRunner().invoke(cli, ["schema"], catch_exceptions=False)

    assert done.exit_code == 0
    assert json.loads(done.stdout) == schema()
