"""The bots of a server: matchers in use, batching, shared models and reloads."""

from intentmatch.server import require_extra

require_extra()
