"""Who may call: API keys, rate limits and signed webhooks."""

from intentmatch.server import require_extra

require_extra()
