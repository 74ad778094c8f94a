"""Read, check and edit registries: YAML files with intents, slots, rules, settings and tests."""

from intentmatch.registry.checks import check, check_tests
from intentmatch.registry.reading.reader import (
    examine,
    is_yaml,
    not_found,
    read_comments,
    read_registry,
    read_tests,
    read_text,
    yaml_files,
)
from intentmatch.registry.templates.expansion import expand

__all__ = [
    "check",
    "check_tests",
    "examine",
    "expand",
    "is_yaml",
    "not_found",
    "read_comments",
    "read_registry",
    "read_tests",
    "read_text",
    "yaml_files",
]
