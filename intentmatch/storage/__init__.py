"""Atomic files, safetensors files, and the cache of vectors."""
