"""Read YAML files into a `Registry`, with a located `Problem` for every mistake."""
