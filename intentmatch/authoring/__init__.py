"""Author a registry while it runs: edits with their effect, revisions to come back to, and a log of who wrote what.

Commands, the HTTP API and pages call the same functions:

- `workspace.Workspace` holds the files of one registry: plan and write edits, revisions, restore, the audit log.
- `effect.effect_of` says which answers an edit changes, before it is written.
- `evaluator.Evaluator` evaluates revisions in the background; `score_revision.evaluate` does so at once.
- `bots.Bots` creates, removes and restores the bots of a folder.
- `operations` has the one way that an edit takes: described, planned, written, reloaded, evaluated, answered.
"""
