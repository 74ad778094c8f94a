"""YAML files to a `Registry`, with a problem and its place for everything that is wrong."""
