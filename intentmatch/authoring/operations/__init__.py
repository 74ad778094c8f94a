"""One edit, whoever makes it: described, planned, written with its condition, reloaded, evaluated, answered.

Command line, HTTP, studio, MCP, inbox and `grow` only translate to and from these values:

- `operation` has the values: an `Operation` becomes a `Plan` to look at, and then a `Done`.
- `served` carries out an operation for a bot that answers meanwhile.
- `local` writes what a person has confirmed at a command.
"""
