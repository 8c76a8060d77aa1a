"""Splits a document into blocks that may contain claims: lines and formulas with an equals sign, joined where needed."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Literal, NamedTuple

LONGEST_BLOCK = 20_000  # characters; a longer line is counted but not read
LONGEST_FORMULA = 200  # the most lines in a formula
MOST_JOINED = 6  # the most lines in a sentence

BlockKind = Literal["text", "fence", "scope", "passed"]

SIGN = re.compile(
    r"[=≈≃≅≐≒＝→⟶∈≡]|->|(?<=[\w)\]$][ ])~(?=[ ]?[0-9])|\\(?:approx|simeq|cong|doteq|sim|to|rightarrow|longrightarrow|mapsto|in"
    r"|equiv|triangleq|coloneqq)(?![A-Za-z])"
)
# A heading, a numbered item or the number of a question starts a new section; an assumption gives symbols new values.
HEADING = re.compile(
    r"^[ \t]{0,20}(?:\#{1,6}[ \t]|\\(?:sub){0,2}section|[*_]{0,4}[0-9]{1,2}\.[ \t]"
    r"|[*_]{0,4}(?:Q|Question|Problem|Exercise|Example|Task|Case|Part|Aufgabe)[ \t.:#]{0,8}[0-9])",
    re.MULTILINE,
)
_SUPPOSES = re.compile(
    r"^[ \t]{0,20}[*_]{0,4}\(?[0-9]{1,2}\)[ \t]|\b(?:[Ss]uppose|[Aa]ssume|[Cc]onsider|[Gg]iven|[Ll]et)\b", re.MULTILINE
)
# Lines without any of these are skipped; this scan dominates the cost of a long document.
_TRIGGER = re.compile(r"[0-9=≈≃≅≐≒＝→⟶∈≡`~#$\\]")
_INTERESTING = re.compile(
    # Spaces and # are escaped or within brackets throughout.
    rf"""(?P<fence>^[ \t>]{{0,12}}(?:`{{3,}}|~{{3,}}))
    |(?P<open>\$\$|\\\[|\\begin\{{(?:equation|align|aligned|alignat|gather|gathered|split|multline|eqnarray|flalign)\*?\}})
    |(?P<sign>{SIGN.pattern})
    |(?P<says>\b(?:equals|gives|yields|makes|totals|is|are)\b[^\n0-9]{{0,30}}[0-9])
    |(?P<total>\b(?:[Tt]otals?|TOTALS?|[Ss]um|SUM|[Oo]verall|[Pp]roduct|[Aa]ltogether)\b)
    |(?P<item>:[ \t]{{0,8}}[*_$~≈]{{0,4}}[ \t]{{0,4}}[0-9][0-9,._ kKMB]{{0,40}}[*_$ \t.]{{0,8}}$)
    |(?P<row>^[ \t]{{0,8}}\|)
    |(?P<scope>{HEADING.pattern})|(?P<supposes>{_SUPPOSES.pattern})""",
    re.MULTILINE | re.VERBOSE,
)
_ENDS_OPEN = re.compile(r"(?:[+×·/=≈^(\[{]|(?<=\s)[-−*]|\\times|\\cdot|\\approx|\\frac)[ \t$]*$")
_STARTS_JOINED = re.compile(r"[ \t&$]*(?:=(?!=)|≈|\\approx|\\simeq|[×·)\]]|/(?!/)|\\times\b|\\cdot\b|\+(?! ))")


class Block(NamedTuple):
    """A piece of text that is read as a unit: a line, a sentence over several lines, or a formula."""

    start: int
    end: int
    kind: BlockKind
    info: str = ""  # for a fence: the text after it


def blocks(text: str, place: int = 0, stop: int | None = None) -> Iterator[Block]:
    """Yield every block with something to read, in order; `passed` for a line that turned out to have nothing."""
    stop = len(text) if stop is None else stop
    while (trigger := _TRIGGER.search(text, place, stop)) is not None:
        start, end = line_around(text, trigger.start())
        match = _INTERESTING.search(text, max(start, place), min(end, stop))
        if match is None:
            place = end + 1
            yield Block(start, start, "passed")
            continue
        if match.lastgroup == "fence":
            block = _fenced(text, start, end)
        elif match.lastgroup == "open":
            block = _formula(text, match, start, end)
        else:
            block = _joined(text, max(start, place), end)
        last = min(block.end, block.start + LONGEST_BLOCK)
        if block.kind != "fence" and (HEADING.search(text, block.start, last) or _SUPPOSES.search(text, block.start, last)):
            yield Block(block.start, block.start, "scope")
        yield block
        place = max(min(block.end, stop), match.end())


def line_around(text: str, place: int) -> tuple[int, int]:
    """Return the start and end of the line around a position."""
    end = text.find("\n", place)
    return text.rfind("\n", 0, place) + 1, len(text) if end < 0 else end


def _fenced(text: str, start: int, end: int) -> Block:
    """Return the block from a fence to its closing fence, or to the end of the text."""
    mark = text[start : min(end, start + 200)].lstrip(" \t>")
    fence = mark[: len(mark) - len(mark.lstrip(mark[0]))]
    info = mark[len(fence) :].strip().strip("{}.").lower()
    place = end
    while (found := text.find(fence, place)) >= 0:
        first, last = line_around(text, found)
        if not text[first : min(last, first + 200)].strip(" \t>").strip(fence[0]):
            return Block(start, last, "fence", info)
        place = last
    return Block(start, len(text), "fence", info)


def _formula(text: str, match: re.Match[str], start: int, end: int) -> Block:
    """Return the block from the line with the opening sign to the line with the closing one, or only the first line."""
    sign = match[0]
    closing = {"$$": "$$", "\\[": "\\]"}.get(sign, sign.replace("begin", "end"))
    found = text.find(closing, match.end(), match.end() + LONGEST_BLOCK)
    if found < 0 or text.count("\n", match.end(), found) > LONGEST_FORMULA:
        return Block(start, end, "text")
    return Block(start, line_around(text, found)[1], "text")


def _joined(text: str, start: int, end: int) -> Block:
    """Return a line with the lines before and after it that its formulas extend into."""
    for _ in range(MOST_JOINED):
        first, last = line_around(text, start - 1) if start > 0 else (0, 0)
        before = text[first:last]
        if not before.strip() or end - first > LONGEST_BLOCK or SIGN.search(before) or not _goes_on(before, text[start:end]):
            break
        start = first
    for _ in range(MOST_JOINED):
        first, last = line_around(text, end + 1) if end < len(text) else (0, 0)
        after = text[first:last]
        if not after.strip() or last - start > LONGEST_BLOCK or not _goes_on(text[start:end], after):
            break
        end = last
    return Block(start, end, "text")


def _goes_on(line: str, after: str) -> bool:
    """Return whether two lines belong together: an open end, an operator at the start, or an open dollar sign."""
    if _STARTS_JOINED.match(after) or (_ENDS_OPEN.search(line[-200:]) and not line.rstrip().endswith("**")):
        return True
    return _open_dollar(line) and _open_dollar(after)


def _open_dollar(line: str) -> bool:
    return (line.count("$") - line.count("\\$") - 2 * line.count("$$")) % 2 == 1
