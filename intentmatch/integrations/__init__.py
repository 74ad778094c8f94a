"""intentmatch inside bot frameworks: one file a framework, each with an extra of its own.

Import the one you need, `from intentmatch.integrations.slack import ...`; nothing is imported here. An adapter
translates between a framework's own types and those of `intentmatch.Dialogue`, and imports from the public face alone.
"""
