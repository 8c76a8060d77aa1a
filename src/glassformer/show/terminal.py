"""Tables in a terminal, through rich; plain text everywhere else."""

from __future__ import annotations

import sys
from typing import Any

from glassformer.show.table import Table

GAP = 3  # between two columns
NARROWEST = 12  # letters of a column of words


def show_on_terminal(view: Any) -> None:
    """Print a view: with rich in a terminal, as plain text in a pipe or a file."""
    if not (sys.stdout.isatty() and isinstance(view, Table)):
        sys.stdout.write(view.text() + "\n")
        return
    from rich import box
    from rich.console import Console
    from rich.table import Table as RichTable
    from rich.text import Text

    console = Console()
    if _least_width(view) > console.width:
        sys.stdout.write(view.text() + "\n")  # too narrow for columns: long lines are more readable
        return
    table = RichTable(title=Text(view.title, style="bold"), title_justify="left", box=box.SIMPLE_HEAD, pad_edge=False)
    for column in view.columns:
        # Numbers are not wrapped.
        table.add_column(Text(column.title), justify="right" if column.right else "left", overflow="fold", no_wrap=column.right)
    for number, row in enumerate(view.rows):
        table.add_row(*[Text(cell) for cell in row], style="bold" if number in view.bold else "")
    console.print(table)
    for note in view.notes:
        console.print(Text(note), soft_wrap=False)


def _least_width(view: Table) -> int:
    """Return the width that a table needs: numbers without line breaks, and enough letters per line for words to be readable."""
    cells = [[column.title, *(row[place] for row in view.rows)] for place, column in enumerate(view.columns)]
    longest = [max(map(len, texts)) for texts in cells]
    return sum(
        GAP + (width if column.right else min(width, NARROWEST)) for width, column in zip(longest, view.columns, strict=True)
    )
