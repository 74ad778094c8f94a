"""Who may ask: API keys, rate limits and signatures."""
