"""YAML that people like to read: in blocks, in the order it was given, in its own script, quoted where it must be."""

from __future__ import annotations

from typing import Any

import yaml


class _Dumper(yaml.SafeDumper):
    """Lists stand deeper than their keys, and what is longer than a line has several."""

    def increase_indent(self, flow: bool = False, indentless: bool = False) -> None:
        """Indent."""
        super().increase_indent(flow, False)

    def ignore_aliases(self, data: Any) -> bool:
        """What is the same twice is written twice."""
        return True


def _text(dumper: yaml.SafeDumper, value: str) -> yaml.ScalarNode:
    return dumper.represent_scalar("tag:yaml.org,2002:str", value, "|" if "\n" in value.strip("\n") else None)


_Dumper.add_representer(str, _text)


def standard(value: Any) -> str:
    """YAML for any reader: what could be taken for a number or a truth value is quoted."""
    written: str = yaml.dump(value, Dumper=_Dumper, allow_unicode=True, sort_keys=False, width=float("inf"))
    return written
