"""YAML text to positioned nodes to a `Registry` value."""

from intentmatch.registry.expansion import expand
from intentmatch.registry.reader import (
    examine,
    is_yaml,
    read_comments,
    read_registry,
    read_tests,
    read_text,
    yaml_files,
)
from intentmatch.registry.rules import check, check_tests

__all__ = [
    "check",
    "check_tests",
    "examine",
    "expand",
    "is_yaml",
    "read_comments",
    "read_registry",
    "read_tests",
    "read_text",
    "yaml_files",
]
