"""From a message to a `MatchResult`: the matcher, its pipeline and where its registry comes from."""
