"""Reading CSV and TSV with any common delimiter, quoting and line ending."""

from __future__ import annotations

import csv
import re
from collections.abc import Iterator
from itertools import chain
from pathlib import Path

from glassformer.errors import GlassformerError, shown
from glassformer.files.paths import path_text
from glassformer.training.data.columns import Raw, columns
from glassformer.training.data.lines import LONGEST_LINE, read_lines
from glassformer.training.data.row_options import RowOptions

DELIMITERS = ",;\t|"
DECLARED_DELIMITER = re.compile(r"sep=(.)", re.IGNORECASE)  # first line written by Excel


class Numbered:
    """The lines of a file, with the number of the last line read: a quoted row may span several."""

    def __init__(self, path: Path) -> None:
        self.name, self.number, self.source = path_text(path), 0, read_lines(path)

    def __iter__(self) -> Iterator[str]:
        for line in self.source:
            if line.cut:
                raise GlassformerError(
                    f"{self.name} line {line.number} has more than {LONGEST_LINE:,} bytes: it was not read. Shorten it."
                )
            self.number = line.number
            yield line.text + "\n"


def read_csv(path: Path, asked: RowOptions) -> Iterator[Raw]:
    """Read a header and rows; the delimiter is inferred from the header."""
    lines = Numbered(path)
    source = iter(lines)
    first = next((line for line in source if line.strip()), "")
    named = DECLARED_DELIMITER.fullmatch(first.strip("\n"))
    if named:
        first = next((line for line in source if line.strip()), "")
    if not first:
        raise GlassformerError(f"{lines.name} is empty: there is no data.")
    sign = named[1] if named else "\t" if ".tsv" in path.suffixes else _sign_in(first, asked)
    limit = csv.field_size_limit(LONGEST_LINE)  # otherwise an unclosed quote would consume the whole file
    start = lines.number
    try:
        rows = csv.reader(chain([first], source), delimiter=sign, strict=True)
        names = [column.strip() for column in next(rows)]
        chosen = columns(names, asked, lines.name, rule="The first line must name the columns.")
        start = lines.number + 1
        for row in rows:
            place = f"{lines.name} line {start}"
            if row and len(row) != len(names):
                yield Raw(place, None, None, _other_fields(place, len(row), len(names), sign))
            elif row:
                yield chosen.row(place, dict(zip(names, row, strict=True)).__getitem__)
            start = lines.number + 1
    except csv.Error as error:
        why = shown(str(error), limit=100)
        hint = (
            'A double quote inside a quoted text is written twice: "".'
            if "expected after" in why
            else "Is a double quote never closed?"
        )
        raise GlassformerError(f"{lines.name} line {start}: {why}. {hint}") from None
    finally:
        csv.field_size_limit(limit)


def _sign_in(header: str, asked: RowOptions) -> str:
    """Return the delimiter: the one that yields the text columns, else the one that yields most columns."""
    wanted = [{asked.text.casefold()}, {name.casefold() for name in asked.texts}]

    def found(sign: str) -> tuple[bool, int]:
        try:
            names = {column.strip().casefold() for column in next(csv.reader([header], delimiter=sign))}
        except csv.Error:
            names = set()
        return len(names) > 1 and any(texts <= names for texts in wanted), len(names)

    return max(DELIMITERS, key=found)


def _other_fields(place: str, fields: int, wanted: int, sign: str) -> str:
    between = "tab" if sign == "\t" else sign
    rule = f'A text that contains "{between}" or goes over several lines must be in double quotes.'
    return f"{place} has {fields} field{'' if fields == 1 else 's'}, the header has {wanted}. {rule}"
