"""Compare the answers of two registries, or of two states of one registry."""
