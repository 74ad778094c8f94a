"""Edits of YAML files that change nothing but the lines in question."""
