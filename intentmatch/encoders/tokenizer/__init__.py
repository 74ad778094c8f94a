"""Subword tokenizer of the embedded encoder."""
