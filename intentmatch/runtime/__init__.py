"""How the process runs: threads of numeric libraries and pauses of the garbage collector."""
