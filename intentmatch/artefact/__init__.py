"""The built registry: how it is made, and the file that holds it."""
