"""Engines for many machines. Each has a folder of its own, and is imported only where it is used."""
