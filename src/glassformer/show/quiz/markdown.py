"""Quiz papers as Markdown; all user text is escaped."""

from __future__ import annotations

from collections.abc import Iterable

from glassformer.show.matrix import Grid, latex_number
from glassformer.show.quiz.page import Blank, Block, Choices, Given, Heading, Lines, Page, Text

GREEK = {"α": r"\alpha", "β": r"\beta", "γ": r"\gamma", "ε": r"\varepsilon", "μ": r"\mu", "σ": r"\sigma"}


def markdown_page(page: Page) -> str:
    """Return a paper as one document."""
    parts = [f"# {plain(page.title)}", plain(page.subtitle)]
    parts += [markdown_blocks(blocks) for blocks in page.questions]
    return "\n\n".join(parts) + "\n"


def markdown_blocks(blocks: Iterable[Block]) -> str:
    """Return blocks, with empty lines between them."""
    return "\n\n".join(_block(block) for block in blocks)


def _block(block: Block) -> str:
    match block:
        case Heading(text):
            return f"## {plain(text)}"
        case Text(text):
            return plain(text)
        case Given(name, grid):
            return f"$${math_name(name)} = {math_grid(grid)}$$"
        case Choices(options):
            return "\n".join(f"- **{option.letter}** {plain(option.text)}" for option in options)
        case Blank(wanted):
            return f"Answer ({plain(wanted)}): \\_\\_\\_\\_\\_\\_\\_\\_"
        case Lines(title, lines, code):
            return "\n".join([f"**{plain(title)}**", "", *(f"- {_code(line) if code else plain(line)}" for line in lines)])


def math_name(name: str) -> str:
    """Return a symbol as it is written in a formula: `W_Q`, `d_model`, `W_Q (head 1)`."""
    letter, _, rest = name.partition(" ")
    head, _, tail = letter.partition("_")
    inner = GREEK.get(head, head if head.isascii() and head.isalnum() else "")
    symbol = f"{inner}_{{\\text{{{_letters(tail)}}}}}" if tail else inner
    return symbol + (rf"\;\text{{{_letters(rest)}}}" if rest else "")


def math_grid(grid: Grid) -> str:
    """Return a matrix with row names on the left and column names on top."""
    if not grid.row_names and not grid.column_names:
        return grid.latex()
    corner = [""] if grid.row_names else []
    names = [[rf"\text{{{_letters(name)}}}"] for name in grid.row_names] or [[]] * len(grid.rows)
    heads = [" & ".join([*corner, *(rf"\text{{{_letters(name)}}}" for name in grid.column_names)])] if grid.column_names else []
    body = [" & ".join([*name, *(latex_number(cell) for cell in row)]) for name, row in zip(names, grid.rows, strict=True)]
    columns = ("l|" if grid.row_names else "") + "r" * len(grid.rows[0])
    return rf"\begin{{array}}{{{columns}}} " + r" \\ ".join([*heads, *body]) + r" \end{array}"


def plain(text: str) -> str:
    """Return text on one line, escaped for Markdown and for HTML and formulas in it."""
    flat = " ".join(text.split())
    escaped = "".join(f"\\{sign}" if sign in "\\`*_[]<>#|$~&!{}" else sign for sign in flat)
    return f"\\{escaped}" if escaped[:1] in "-+=" else escaped


def _code(text: str) -> str:
    return f"`{' '.join(text.replace('`', ' ').split())}`"


def _letters(text: str) -> str:
    return "".join(sign for sign in text if sign.isalnum() or sign in " ()")
