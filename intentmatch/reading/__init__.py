"""Reads a message once, before anything is compared: its words and pieces, language, typing mistakes, noise."""
