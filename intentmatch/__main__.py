"""`python -m intentmatch`, the same as the command `intentmatch`."""

from intentmatch.cli import main

main()
