"""Texts from a column of a table: .csv, .tsv, .json, .jsonl or .parquet, row by row; errors name the place."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from glassformer.errors import GlassformerError, shown
from glassformer.files.text_lines import lines_of
from glassformer.files.texts import Text

if TYPE_CHECKING:
    from glassformer.training.data.columns import Raw

TABLES = (".csv", ".tsv", ".json", ".jsonl", ".parquet")
REMEMBERED = 8192  # places of the last rows: a message is about a row of the windows at work


def holds_table(path: Path) -> bool:
    """Return whether a file is a table, by its name; any other file has one text per line."""
    kind = Path(path.stem).suffix if path.suffix.lower() == ".gz" else path.suffix
    return kind.lower() in TABLES


class TableTexts:
    """The texts of one column, or the pairs of texts of two (`premise,hypothesis`), in order."""

    size: int | None = None
    position = 0

    def __init__(self, path: Path, column: str) -> None:
        with lines_of(path):  # a file that is missing is reported before a model is loaded
            self.path, self.column = path, column
        self.places: deque[str] = deque(maxlen=REMEMBERED)
        self.read = 0

    def name(self, number: int) -> str:
        """Return the place of a text in the file, by its number from 0."""
        return self.places[number - self.read + len(self.places)]

    def __iter__(self) -> Iterator[Text]:
        from glassformer.training.data.readers import read_table
        from glassformer.training.data.row_options import RowOptions

        for row in read_table(self.path, RowOptions(text=self.column, text_option="column", label=None)):
            self.places.append(row.place)
            self.read += 1
            yield _text(row)


def _text(row: Raw) -> Text:
    if row.others:
        if len(row.others) > 1:
            raise GlassformerError(f"{row.place}: at most two columns make a text, found {1 + len(row.others)}: --column A,B.")
        first, second = (_text(row._replace(text=text, others=())) for text in (row.text, *row.others))
        return str(first), str(second)
    if row.fault:
        raise GlassformerError(row.fault)
    if row.text is None:
        return ""
    if isinstance(row.text, list) and all(isinstance(word, str) for word in row.text):
        return " ".join(row.text)
    if not isinstance(row.text, str):
        raise GlassformerError(f"{row.place}: a text is expected, found {shown(row.text)}.")
    return row.text
