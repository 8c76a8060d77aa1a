"""Tables in a terminal, through rich; plain text everywhere else."""

from __future__ import annotations

import sys
from typing import Any

from glassformer.show.table import Table


def show_on_terminal(view: Any) -> None:
    """Print a view: with rich where a person looks at a terminal, as plain text in a pipe or a file."""
    if not (sys.stdout.isatty() and isinstance(view, Table)):
        sys.stdout.write(view.text() + "\n")
        return
    from rich import box
    from rich.console import Console
    from rich.table import Table as RichTable
    from rich.text import Text

    table = RichTable(title=Text(view.title, style="bold"), title_justify="left", box=box.SIMPLE_HEAD, pad_edge=False)
    for column in view.columns:
        table.add_column(Text(column.title), justify="right" if column.right else "left", overflow="fold")
    for number, row in enumerate(view.rows):
        table.add_row(*[Text(cell) for cell in row], style="bold" if number in view.bold else "")
    console = Console()
    console.print(table)
    for note in view.notes:
        console.print(Text(note), soft_wrap=False)
