"""Subword tokenizer of the embedded model."""
