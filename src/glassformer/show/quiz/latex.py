"""Quiz papers as LaTeX for pdfLaTeX, XeLaTeX and LuaLaTeX; all user text is escaped."""

from __future__ import annotations

import re
from collections.abc import Iterable

from glassformer.show.quiz.markdown import GREEK, math_grid, math_name
from glassformer.show.quiz.page import Blank, Block, Choices, Given, Heading, Lines, Page, Text
from glassformer.show.table import LATEX_SIGNS

PREAMBLE = r"""\documentclass[11pt,a4paper]{article}
\usepackage{iftex}
\ifPDFTeX
  \usepackage[utf8]{inputenc}
  \usepackage[T1]{fontenc}
  \newcommand{\foreign}[2]{[#1]}
\else
  \usepackage{fontspec}
  \newcommand{\foreign}[2]{#2}
\fi
\usepackage{amsmath,amssymb}
\usepackage[margin=2.2cm]{geometry}
\setlength{\parindent}{0pt}
\setlength{\parskip}{4pt}
\sloppy
"""
SIGNS = LATEX_SIGNS | {
    "ᵀ": r"$^{\top}$", "²": "$^{2}$", "³": "$^{3}$", "′": "$'$", "½": r"$\tfrac12$", "∈": r"$\in$", "ℝ": r"$\mathbb{R}$",
    "≤": r"$\le$", "≥": r"$\ge$", "≠": r"$\ne$", "∞": r"$\infty$", "⊙": r"$\odot$", "∂": r"$\partial$", "Σ": r"$\Sigma$",
    "α": r"$\alpha$", "β": r"$\beta$", "γ": r"$\gamma$", "ε": r"$\varepsilon$", "μ": r"$\mu$", "σ": r"$\sigma$",
    "–": "--", "—": "---", "“": "``", "”": "''", "‘": "`", "’": "'", "'": "'", "\"": r"\textquotedbl{}",
    "<": r"$<$", ">": r"$>$", "|": r"$|$", "-": "-", "`": r"\textasciigrave{}",
}  # fmt: skip
_TOKEN = re.compile(
    r"√\(([\w /·+-]{1,40})\)|√([A-Za-z]_\w{1,12}|\w{1,12})|(?<![\w\\])([A-Za-zα-ω])_([A-Za-z0-9]{1,12})(?![A-Za-z0-9_])|(.)", re.S
)


def latex_page(page: Page) -> str:
    """Return a paper as one document."""
    body = [rf"\section*{{{inline(page.title)}}}", rf"{inline(page.subtitle)}\par"]
    body += [latex_blocks(blocks) for blocks in page.questions]
    return PREAMBLE + "\\begin{document}\n" + "\n\n".join(body) + "\n\\end{document}\n"


def latex_blocks(blocks: Iterable[Block]) -> str:
    """Return blocks, one below the other."""
    return "\n".join(_block(block) for block in blocks)


def inline(text: str) -> str:
    """Return escaped text, with symbols such as W_Q and √d_k as formulas."""
    pieces = _TOKEN.sub(_piece, " ".join(text.split()))
    return re.sub(r"(?<!\\)\$\$", " ", pieces)  # merge adjacent formulas


def _block(block: Block) -> str:
    match block:
        case Heading(text):
            return rf"\subsection*{{{inline(text)}}}"
        case Text(text):
            return rf"{inline(text)}\par"
        case Given(name, grid):
            return rf"\[ {math_name(name)} = {math_grid(grid)} \]"
        case Choices(options):
            items = "\n".join(rf"  \item[{option.letter}] {inline(option.text)}" for option in options)
            return f"\\begin{{itemize}}\n{items}\n\\end{{itemize}}"
        case Blank(wanted):
            return rf"Answer ({inline(wanted)}): \rule{{5cm}}{{0.4pt}}\par\medskip"
        case Lines(title, lines, code):
            items = "\n".join(rf"  \item {{}}{_typed(line) if code else inline(line)}" for line in lines)
            listed = f"\n\\begin{{itemize}}\n{items}\n\\end{{itemize}}" if lines else r"\par"
            return rf"\textbf{{{inline(title)}}}{listed}"


def _typed(text: str) -> str:
    """Return a command in typewriter font, escaped character by character."""
    return rf"\texttt{{{''.join(_sign(sign) for sign in text)}}}"


def _piece(found: re.Match[str]) -> str:
    bracketed, rooted, letter, index, sign = found.groups()
    if bracketed is not None:
        return rf"$\sqrt{{{_formula(bracketed)}}}$"
    if rooted is not None:
        return rf"$\sqrt{{{_formula(rooted)}}}$"
    if letter is not None:
        return f"${_symbol(letter, index)}$"
    return _sign(sign)


def _formula(text: str) -> str:
    parts = re.split(r"([A-Za-z]_[A-Za-z0-9]{1,12})", text.replace("·", r"\cdot "))
    return "".join(
        _symbol(*part.split("_")) if "_" in part and part[:1].isalpha() else part.replace("_", r"\_") for part in parts
    )


def _symbol(letter: str, index: str) -> str:
    low = index if len(index) == 1 else rf"\text{{{index}}}"
    return f"{GREEK.get(letter, letter)}_{{{low}}}"


def _sign(sign: str) -> str:
    if sign in SIGNS:
        return SIGNS[sign]
    if ord(sign) < 0x180:  # Latin letters, which every engine supports
        return sign if sign.isprintable() else " "
    return rf"\foreign{{U+{ord(sign):04X}}}{{{sign}}}"
