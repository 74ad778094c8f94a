"""Templates: their syntax, expansion into sentences, and the slots they fill."""
