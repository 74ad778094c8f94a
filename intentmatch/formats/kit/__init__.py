"""Parts that the formats share: sources, JSON and YAML trees, drafts, spans, losses and writers."""
