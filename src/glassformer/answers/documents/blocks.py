"""The places of a document where something is claimed: lines and formulas with a sign of equality, and what joins them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Literal, NamedTuple

LONGEST_BLOCK = 20_000  # characters; a longer line is counted and not read
LONGEST_FORMULA = 200  # lines that one formula may run over
MOST_JOINED = 6  # lines that a sentence may run over

BlockKind = Literal["text", "fence", "scope", "passed"]

FORMULA = r"(?:equation|align|aligned|gather|gathered|split|multline|eqnarray|alignat|flalign|displaymath)"
SIGNS = (
    r"[=≈≃≅≐≒＝→⟶∈≡]|->|(?<=[\w)\]$] )~(?= ?[0-9])"
    r"|\\(?:approx|simeq|cong|doteq|sim|to|rightarrow|longrightarrow|mapsto|in|equiv|triangleq|coloneqq)(?![A-Za-z])"
)
SAYS = r"\b(?:equals|gives|yields|makes|totals|is|are)\b[^\n0-9]{0,30}[0-9]"
TOTALS = r"\b(?:[Tt]otals?|TOTALS?|[Ss]um|SUM|[Oo]verall|[Pp]roduct|[Aa]ltogether)\b"
ITEMS = r":[ \t]{0,8}[*_$~≈]{0,4}[ \t]{0,4}[0-9][0-9,._ kKMB]{0,40}[*_$ \t.]{0,8}$"
ROWS = (
    r"^[ \t]{0,8}\|(?:[^\n|]{0,160}\|){0,8}?[^\n|]{0,80}[0-9)²][ \t]{0,8}\|[ \t*_~≈$]{0,8}[0-9][0-9,.]{0,20}[kKMB]?"
    r"[ \t*_$]{0,8}\|"
)
SCOPES = (
    r"^[ \t]{0,20}(?:#{1,6}[ \t]|\\(?:sub){0,2}section|[*_(]{0,4}[0-9]{1,2}[.)][ \t]"
    r"|[*_]{0,4}(?:Q|Question|Problem|Exercise|Example|Task|Case|Part|Aufgabe)[ \t.:#]{0,8}[0-9])"
    r"|\b(?:[Ss]uppose|[Aa]ssume|[Cc]onsider|[Gg]iven|[Ll]et)\b"
)
# Lines without any of these hold nothing to read; the scan for them is what a long document costs.
TRIGGER = re.compile(r"[0-9=≈≃≅≐≒＝→⟶∈≡`~#$\\]")
INTERESTING = re.compile(
    rf"(?P<fence>^[ \t>]{{0,12}}(?:`{{3,}}|~{{3,}}))|(?P<open>\$\$|\\\[|\\begin\{{{FORMULA}\*?\}})|(?P<sign>{SIGNS})"
    rf"|(?P<says>{SAYS})|(?P<total>{TOTALS})|(?P<item>{ITEMS})|(?P<row>{ROWS})|(?P<scope>{SCOPES})",
    re.MULTILINE,
)
SIGN = re.compile(SIGNS)
_SCOPE = re.compile(SCOPES, re.MULTILINE)
_ENDS_OPEN = re.compile(r"(?:[+×·/=≈^(\[{]|(?<=\s)[-−*]|\\times|\\cdot|\\approx|\\frac)[ \t$]*$")
_STARTS_JOINED = re.compile(r"[ \t&$]*(?:=(?!=)|≈|\\approx|\\simeq|[×·)\]]|/(?!/)|\\times\b|\\cdot\b|\+(?! ))")


class Block(NamedTuple):
    """A stretch of text to be read as one: a line, a sentence over several lines, or a formula."""

    start: int
    end: int
    kind: BlockKind
    info: str = ""  # of a fence: what stands after it


def blocks(text: str, place: int = 0, stop: int | None = None) -> Iterator[Block]:
    """Every stretch with something to read, in order; `passed` for a line that only seemed to have something."""
    stop = len(text) if stop is None else stop
    while (trigger := TRIGGER.search(text, place, stop)) is not None:
        start, end = line_around(text, trigger.start())
        match = INTERESTING.search(text, max(start, place), min(end, stop))
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
        if block.kind != "fence" and _SCOPE.search(text, block.start, min(block.end, block.start + LONGEST_BLOCK)):
            yield Block(block.start, block.start, "scope")
        yield block
        place = max(min(block.end, stop), match.end())


def line_around(text: str, place: int) -> tuple[int, int]:
    """Where the line around a place begins and ends."""
    end = text.find("\n", place)
    return text.rfind("\n", 0, place) + 1, len(text) if end < 0 else end


def _fenced(text: str, start: int, end: int) -> Block:
    """From a fence to the one that closes it, or to the end of the text."""
    line = text[start : min(end, start + 200)]
    mark = line.lstrip(" \t>")
    fence = mark[: len(mark) - len(mark.lstrip(mark[0]))]
    place = end
    while (found := text.find(fence, place)) >= 0:
        first, last = line_around(text, found)
        if text[first : min(last, first + 200)].strip(" \t>") == fence[0] * len(
            text[first : min(last, first + 200)].strip(" \t>")
        ):
            return Block(start, last, "fence", mark[len(fence) :].strip().strip("{}.").lower())
        place = last
    return Block(start, len(text), "fence", mark[len(fence) :].strip().strip("{}.").lower())


def _formula(text: str, match: re.Match[str], start: int, end: int) -> Block:
    """From the line with the opening sign to the line with the closing one; without it the line alone."""
    sign = match[0]
    closing = {"$$": "$$", "\\[": "\\]"}.get(sign, sign.replace("begin", "end"))
    found = text.find(closing, match.end(), match.end() + LONGEST_BLOCK)
    if found < 0 or text.count("\n", match.end(), found) > LONGEST_FORMULA:
        return Block(start, end, "text")
    return Block(start, line_around(text, found)[1], "text")


def _joined(text: str, start: int, end: int) -> Block:
    """A line, with the lines before and after that its formulas or its last sign reach into."""
    for _ in range(MOST_JOINED):
        before = line_around(text, start - 1) if start > 0 else (0, 0)
        line = text[before[0] : before[1]] if start > 0 else ""
        if not (line.strip() and end - before[0] < LONGEST_BLOCK and _reaches(text, before[0], start, end)):
            break
        start = before[0]
    for _ in range(MOST_JOINED):
        if end >= len(text):
            break
        after = line_around(text, end + 1)
        line = text[after[0] : after[1]]
        if not line.strip() or after[1] - start > LONGEST_BLOCK or not _goes_on(text[start:end], line):
            break
        end = after[1]
    return Block(start, end, "text")


def _reaches(text: str, before: int, start: int, end: int) -> bool:
    """Whether a line belongs to the one before it: that one ends open, or a dollar sign is open between them."""
    line, this = text[before : start - 1], text[start:end]
    if len(line) > LONGEST_BLOCK or SIGN.search(line):
        return False
    if _STARTS_JOINED.match(this) or (_ENDS_OPEN.search(line[-200:]) and not line.rstrip().endswith("**")):
        return True
    return _open_dollar(line) and _open_dollar(this)


def _goes_on(this: str, after: str) -> bool:
    if len(this) > LONGEST_BLOCK or len(after) > LONGEST_BLOCK:
        return False
    if _STARTS_JOINED.match(after) or (_ENDS_OPEN.search(this[-200:]) and not this.rstrip().endswith("**")):
        return True
    return _open_dollar(this) and _open_dollar(after)


def _open_dollar(line: str) -> bool:
    return (line.count("$") - line.count("\\$") - 2 * line.count("$$")) % 2 == 1
