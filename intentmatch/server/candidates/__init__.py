"""A second registry beside the first: it answers unheard, or for a share of the conversations, until it is promoted."""
