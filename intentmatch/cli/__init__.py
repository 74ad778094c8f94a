"""The command line: prints and exits; every command is a thin call into the rooms below."""


def main() -> None:
    """Run the command line."""
