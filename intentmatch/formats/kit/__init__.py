"""What the dialects share: sources, trees, drafts, spans, losses and writers."""
