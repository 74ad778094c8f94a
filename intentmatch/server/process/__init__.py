"""The server as a process: workers, slow clients, logs, metrics and telemetry."""
