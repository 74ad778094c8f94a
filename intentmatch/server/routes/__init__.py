"""HTTP routes, a file a topic, and the shapes of requests and responses."""
