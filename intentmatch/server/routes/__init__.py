"""HTTP routes, one file a topic, and the models of requests and responses."""

from intentmatch.server import require_extra

require_extra()
