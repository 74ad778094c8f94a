"""Adapters for bot frameworks: one module per framework, each with an extra of its own.

Import the module you need, such as `intentmatch.integrations.slack`; this package imports none of them. An adapter
translates between a framework's types and those of `intentmatch.Dialogue`, and uses only the public API.
"""
