"""Subword pieces of a text, and what is known of each: its vector, and the languages that use it."""
