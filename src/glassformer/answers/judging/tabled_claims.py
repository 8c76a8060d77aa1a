"""Claims in a table or a list, one row or line a thing: each is said as a sentence of its own."""

from __future__ import annotations

import re

from glassformer.answers.judging.sentences import claims_in
from glassformer.answers.questions.encoders import full_name
from glassformer.answers.questions.phrases import MODEL

Claims = list[tuple[str, str]]
LONGEST, MOST_ROWS = 3_000, 40

_BULLET = re.compile(r"^\s*(?:[-*•]|\(?[0-9a-h]{1,2}[.)])\s+")
_VERB = re.compile(r"\b(?:is|are|was|has|have|uses?|contains?|takes?|needs?|supports?|consists?|costs?|[a-z]+ed)\b", re.I)
_NUMBER = re.compile(r"[~≈]?\s?\d[\d,]*(?:\.\d+)?\s?(?:[kKMB]|million|billion)?")
_NAMED = re.compile(rf"{full_name()}|{MODEL}", re.I)
# The head of a column, and the sentence that a cell of it makes.
_COLUMNS: tuple[tuple[str, str], ...] = (
    (r"(?:number of |num\.? |# ?|n_?)?(?:encoder |transformer )?(?:layers|blocks)(?: \(?L\)?)?|(?-i:L)|depth",
        "{it} has {value} layers."),
    (r"(?:number of |num\.? |# ?|n_?)?(?:self-|attention )*heads(?: \(?[Ah]\)?)?|(?-i:[Ah])",
        "{it} has {value} attention heads."),
    (r"embedding(?: (?:size|dim(?:ension)?|width))?", "The embedding size of {it} is {value}."),
    (r"(?:hidden|model)(?: (?:size|dim(?:ension)?|width))?(?: \(?[HDd]\)?)?|d_?model|width|(?-i:[HDd])",
        "The hidden size of {it} is {value}."),
    (r"(?:ffn|mlp|feed-?forward|intermediate)(?: (?:size|dim(?:ension)?|width|hidden))?|d_?ff", "The d_ff of {it} is {value}."),
    (r"head (?:size|dim(?:ension)?|width)|d_?k|d_?head", "The head dimension of {it} is {value}."),
    (r"(?:vocab(?:ulary)?)(?: size)?|(?-i:V)", "The vocabulary size of {it} is {value}."),
    (r"(?:(?:max(?:imum)?|sequence|context|input)\.? )+(?:length|positions|tokens)",
        "The maximum sequence length of {it} is {value}."),
    (r"(?:total )?(?:# ?|number of )?(?:params|parameters)(?: ?\((?P<unit>M|millions?|B|K)\))?", "{it} has {value} parameters."),
)  # fmt: skip


def lined_up(text: str) -> Claims:
    """The claims of a table or of a list; none where one cell or line of it is not understood."""
    lines = [line.strip() for line in text.strip().split("\n") if line.strip()]
    if len(text) > LONGEST or not 2 <= len(lines) <= MOST_ROWS:
        return []
    return _of_rows(lines) if all("|" in line for line in lines) else _of_items(lines)


def _of_rows(lines: list[str]) -> Claims:
    """A table with the encoders in its first column."""
    rows = [[cell.strip(" *`_") for cell in line.strip("|").split("|")] for line in lines]
    rows = [row for row in rows if not all(re.fullmatch(r":?-*:?", cell) for cell in row)]
    head, *body = rows
    if not body or any(len(row) != len(head) for row in body):
        return []
    claims: Claims = []
    for row in body:
        if not _NAMED.fullmatch(row[0]):
            return []
        for name, cell in zip(head[1:], row[1:], strict=True):
            if not re.search(r"\d", cell):
                continue
            sentence = _sentence(name, row[0], cell)
            said = claims_in(sentence) if sentence else []
            if not said:
                return []
            claims += said
    return claims


def _sentence(head: str, it: str, cell: str) -> str:
    for pattern, said in _COLUMNS:
        if (found := re.fullmatch(pattern, head, re.I)) and _NUMBER.fullmatch(cell):
            unit = (found.groupdict().get("unit") or "")[:1].upper()
            if "parameters" in said and not unit and re.fullmatch(r"[\d.]{1,6}", cell):
                return ""  # of millions, as it seems, and nobody says so
            return said.format(it=it, value=cell if not unit or cell[-1:].isalpha() else f"{cell}{unit}")
    return ""


def _of_items(lines: list[str]) -> Claims:
    """Lines with a sign before each; what they are about is named in the first, or in a line above them."""
    above = "" if _BULLET.match(lines[0]) else lines.pop(0)
    if len(lines) < 2 or not all(_BULLET.match(line) for line in lines) or re.search(r"\?|\d", _NAMED.sub("", above)):
        return []
    items = [_BULLET.sub("", line).rstrip(" .;,") for line in lines]
    named = {found[0].removesuffix("'s") for found in _NAMED.finditer(above or items[0])}
    claims: Claims = []
    for item in items:
        said = claims_in(_of_it(item, named.copy().pop() if len(named) == 1 else "")) if re.search(r"\d", item) else []
        if not said:
            return []
        claims += said
    return claims


def _of_it(item: str, name: str) -> str:
    """A line as a sentence about what the list is about."""
    if not name or _NAMED.search(item):
        return f"{item}."
    if re.match(r"[~≈]?\d", item) or not _VERB.search(item):
        return f"{name} has {item}."
    item = re.sub(r"^(?:it|this model|the model) ", f"{name} ", item, flags=re.I)
    return f"{item}." if item.startswith(name) else f"In {name}, {item[0].lower()}{item[1:]}."
