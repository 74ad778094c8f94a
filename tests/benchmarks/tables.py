"""Print tables: drawn by rich on a terminal, as plain text elsewhere."""

from __future__ import annotations

import sys
from collections.abc import Sequence

from metrics import plain_table
from rich.console import Console
from rich.table import Table


def print_table(header: Sequence[str], rows: Sequence[Sequence[str]], left: int) -> None:
    """Print a table, the first `left` columns aligned left; as plain text if the terminal is too narrow."""
    table = Table()
    for number, heading in enumerate(header):
        table.add_column(heading, justify="left" if number < left else "right", no_wrap=True)
    for cells in rows:
        table.add_row(*cells)
    console = Console(highlight=False, markup=False)
    if console.is_terminal and console.measure(table).maximum <= console.width:
        console.print(table)
    else:
        write(plain_table(header, rows, left=left))


def write(text: str) -> None:
    """Write text to standard output without wrapping or colours."""
    sys.stdout.write(text + "\n")
