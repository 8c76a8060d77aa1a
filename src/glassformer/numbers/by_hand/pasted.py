"""A matrix pasted as text: rows between semicolons, as NumPy and torch print them, or in LaTeX."""

from __future__ import annotations

import re
from typing import TypeAlias

from glassformer.errors import GlassformerError, shown
from glassformer.numbers.by_hand.surd import parse_surd

Cell: TypeAlias = int | float | str  # a string if the number is a fraction or a root
Rows: TypeAlias = list[Cell] | list[list[Cell]]

MOST_CHARACTERS = 100_000
LATEX = re.compile(r"\\begin\{(?:[pbBvV]|small)?(?:matrix|array)\}(?:\{[^{}]*\})?(.*?)\\end\{\w+\}", re.DOTALL)
CALL = re.compile(r"(?:\w+\.)?(?:array|asarray|matrix|mat|tensor)\((.*)\)", re.DOTALL | re.IGNORECASE)
SETTINGS = re.compile(r"(?:\s*,\s*\w+\s*=\s*[^,=\[\]]+)*\s*,?\s*")  # dtype=float32, device='cuda:0', grad_fn=<…>
INNERMOST = re.compile(r"\[([^][]*)\]")
TURNED = re.compile(r"(?:\^(?:T|\{T\}|\\top|\{\\top\}|⊤)|ᵀ|\.T)$")
PLAIN = re.compile(r"[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?")
WRAPPED = re.compile(r"^\\\[(.*)\\\]$|^\\\((.*)\\\)$", re.DOTALL)


def pasted(name: str, text: str) -> Rows | None:
    """Parse the rows of a matrix or the numbers of a vector from text; None if it contains neither."""
    if len(text) > MOST_CHARACTERS:
        return None
    text = WRAPPED.sub(lambda found: found[1] or found[2] or "", text.strip().strip("$").strip()).replace("−", "-")
    turned = TURNED.search(text.rstrip())
    body = text[: turned.start()].rstrip() if turned else text
    rows = _latex(body) if "\\begin" in body else _printed(name, body)
    return rows if rows is None or not turned else _turned(rows)


def _turned(rows: Rows) -> Rows:
    """Transpose; a vector becomes a column. Rows of unequal length are left for the caller to report."""
    lists = [row if isinstance(row, list) else [row] for row in rows]
    if not isinstance(rows[0], list):
        return lists
    return [list(column) for column in zip(*lists, strict=True)] if len({len(row) for row in lists}) == 1 else rows


def _latex(text: str) -> Rows | None:
    found = LATEX.fullmatch(re.sub(r"\\(?:left|right|big[lr]?|Big[lr]?)\s*(?:\\[{}]|[][().|])|\\displaystyle", "", text).strip())
    if found is None:
        return None
    rows = [row for row in re.split(r"\\\\(?:\[[^]]*\])?|\\cr", found[1]) if row.strip() and row.strip() != "\\hline"]
    return [[_cell(_plain_latex(cell)) for cell in row.split("&")] for row in rows] or None


def _plain_latex(cell: str) -> str:
    """`\\frac{1}{\\sqrt{2}}` -> `1/sqrt(2)`, `0{,}5` -> `0.5`."""
    cell = re.sub(r"\\sqrt\s*(?:\{(\d+)\}|(\d))", lambda found: f"sqrt({found[1] or found[2]})", cell)
    cell = re.sub(r"\\[dt]?frac\s*\{([^{}]*)\}\s*\{([^{}]*)\}", r"\1/\2", cell)
    cell = re.sub(r"\\[dt]?frac\s*(\d)\s*(\d)", r"\1/\2", cell)
    return re.sub(r"\\[,;:! ]|\\hline|\\phantom\{[^{}]*\}|[{}]", "", cell.replace("{,}", ".")).strip()


def _printed(name: str, text: str) -> Rows | None:
    call = CALL.fullmatch(text)
    if call is not None:
        inside = call[1].strip()
        end = inside.rfind("]") + 1
        if not inside.startswith("[") or not SETTINGS.fullmatch(inside[end:]):
            return None
        text = inside[:end]
    text = text.translate(str.maketrans("(){}", "[][]")) if not re.search(r"sqrt|√", text) else text
    if re.match(r"\[\s*\[", text):
        between = INNERMOST.sub("", text)
        if not re.fullmatch(r"\[[\s,;]*\]", between):
            return None
        return _numbers([_row(name, row) for row in INNERMOST.findall(text)])
    if text.startswith("[") and text.endswith("]"):
        text = text[1:-1]
    elif len(text.split()) == 1 and ";" not in text and "," not in text:
        return None  # one word is not a matrix
    rows = _numbers([_row(name, line) for line in re.split(r"[;\n]", text) if line.strip()])
    return rows[0] if rows is not None and len(rows) == 1 and ";" not in text else rows


def _row(name: str, text: str) -> list[str]:
    """Split a row at commas or at spaces; if both occur, the meaning of a comma is ambiguous."""
    text = re.sub(r"\s*/\s*", "/", text.strip())
    words = [word.strip() for word in text.rstrip(",").split(",")] if "," in text else text.split()
    if "," in text and any(len(word.split()) > 1 for word in words):
        raise GlassformerError(
            f"{name}: in '{shown(text)}' numbers are separated by commas and by spaces. "
            "Write decimals with a point, and separate numbers by one of the two."
        )
    return words


def _numbers(rows: list[list[str]]) -> list[list[Cell]] | None:
    """The cells of the rows, if each is a number; None for any other text."""
    if not rows or not all(row and all(PLAIN.fullmatch(word) or parse_surd(word) for word in row) for row in rows):
        return None
    return [[_cell(word) for word in row] for row in rows]


def _cell(word: str) -> Cell:
    if not PLAIN.fullmatch(word):
        return word
    return int(word) if re.fullmatch(r"[+-]?\d{1,15}", word) else float(word)
