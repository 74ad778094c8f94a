"""What every request passes: limits, the request log and problem details."""
