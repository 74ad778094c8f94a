"""Two registries, or two states of one, compared answer by answer."""
