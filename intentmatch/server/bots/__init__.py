"""The bots of a server: matchers in use, batching, shared models and reloads."""
