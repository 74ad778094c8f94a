"""Templates: syntax, expansion into sentences, and fillers of slots."""
