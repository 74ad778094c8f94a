"""Author a registry while it runs: edits with their effect, revisions to come back to, and a log of who wrote what.

Commands, the HTTP API and pages call the same functions: a `Workspace` holds the files of one registry.
"""
