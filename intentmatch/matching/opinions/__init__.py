"""Second opinions over HTTP on doubtful messages, each with time limit, budget, circuit breaker and cache."""
