"""The server as a process: workers, slow clients, logs, metrics and telemetry."""

from intentmatch.server import require_extra

require_extra()
