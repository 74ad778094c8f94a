"""What the commands print: each module turns one kind of value into terminal text."""
