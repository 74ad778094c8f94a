"""YAML text to positioned nodes to a `Registry` value."""

from intentmatch.registry.reader import examine, is_yaml, read_comments, read_registry
from intentmatch.registry.rules import check

__all__ = ["check", "examine", "is_yaml", "read_comments", "read_registry"]
