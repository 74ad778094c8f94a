"""Errors, types, results, settings and plugins: the values that every other package passes around."""
