"""Around every request: limits, the request log and problem details."""

from intentmatch.server import require_extra

require_extra()
