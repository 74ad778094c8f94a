"""Requests and responses of the calls for authors, by noun."""
