"""`check_solution` and `check_text`: read a document block by block, within limits; whatever is skipped is counted."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from glassformer.answers.documents.blocks import LONGEST_BLOCK, SIGN, Block, blocks, line_around
from glassformer.answers.documents.counted import Counted, is_certain
from glassformer.answers.documents.formulas import formula_remarks
from glassformer.answers.documents.judge import Judge
from glassformer.answers.documents.lines import Line, lines_of
from glassformer.answers.documents.markup import bullet_width, code_claims, laid_aside
from glassformer.answers.documents.questions import MOST_QUESTIONS, UNREAD, block_questions, described_questions
from glassformer.answers.documents.result import CheckedDocument, DocumentKind, Found, Kind
from glassformer.answers.documents.settings import Settings, settings_in
from glassformer.answers.documents.sources import Source, read_file, source_of
from glassformer.answers.documents.stated import stated_shapes
from glassformer.answers.documents.statements import read_tokens
from glassformer.answers.documents.tables import row_with_sign
from glassformer.answers.documents.totals import labelled
from glassformer.answers.documents.vectors import vector_remarks
from glassformer.answers.verdicts import Judged
from glassformer.errors import shown
from glassformer.expressions import exactly

PROSE = frozenset(("", "text", "txt", "plain", "plaintext", "math", "latex", "tex", "markdown", "md", "output", "console"))
MOST_FINDINGS = 5_000
MOST_LOOKED_AT = 300_000  # lines with digits or signs
MOST_CHARACTERS = 400_000  # in a longer document only equations are judged


def check_solution(path: str | Path) -> CheckedDocument:
    """Judge a worked solution in a .md, .txt, .tex or .ipynb file."""
    path = Path(path)
    text, kind = read_file(path)
    return check_text(text, name=path.name, kind=kind)


def check_text(text: str, *, name: str = "the solution", kind: DocumentKind = "md") -> CheckedDocument:
    """Judge a worked solution: `check_text("3 × 4 = 13").wrong` is 1."""
    source = source_of(text, name=name, kind=kind)
    latex = kind == "tex"
    lines = lines_of(source.text, latex=latex) if len(source.text) <= MOST_CHARACTERS else []
    settings = settings_in(lines)
    reader = Reader.over(source, settings, lines, latex=latex)
    doubtful = [place for place, found in reader.judge.miscounts.items() if not is_certain(found, reader.judge.uses, lines)]
    if doubtful:  # may be right, for example for all layers: read again without those
        reader = Reader.over(source, settings, lines, latex=latex, withdrawn=frozenset(doubtful))
    for line, question in described_questions(lines):
        reader._add(line.start, line.start + len(line.text), "question", question.judged())
    stated = list(stated_shapes(lines))
    remarks = [*formula_remarks(lines, stated, reader.judge.statements, source.text), *vector_remarks(lines, stated)]
    found = sorted([*reader.judge.found, *remarks], key=lambda one: (one.start, one.end))
    return CheckedDocument(shown(name), kind, source.text, tuple(found), reader.beyond, source.cells)


@dataclass
class Reader:
    """Reads a document once, from start to end."""

    text: str
    judge: Judge
    latex: bool
    beyond: int = 0
    looked_at: int = 0
    asked: int = 0
    line: int = 1
    place: int = 0

    @classmethod
    def over(
        cls, source: Source, settings: Settings, lines: Sequence[Line], *, latex: bool, withdrawn: frozenset[int] = frozenset()
    ) -> Reader:
        counted = Counted(settings, {line.number: line for line in lines})
        reader = cls(source.text, Judge(source.text, counted, withdrawn=withdrawn), latex)
        reader._blocks(0, len(source.text))
        reader.judge.settle()
        return reader

    def _blocks(self, start: int, end: int) -> None:
        for block in blocks(self.text, start, end):
            if self._is_full(block.start, end):
                return
            self._block(block)

    def _is_full(self, place: int, end: int) -> bool:
        """Return whether a limit is reached; the remaining equations are then counted."""
        self.looked_at += 1
        full = len(self.judge.found) >= MOST_FINDINGS or self.looked_at > MOST_LOOKED_AT or self.judge.memory.exhausted
        self.beyond += sum(1 for _ in SIGN.finditer(self.text, place, end)) if full else 0
        return full

    def _block(self, block: Block) -> None:
        if block.kind == "scope":
            self.judge.memory.scope += 1
        elif block.kind == "fence":
            self._fence(block)
        elif block.kind == "text" and block.end - block.start > LONGEST_BLOCK:
            self._too_long(block)
        elif block.kind == "text":
            self._prose(block.start, block.end)

    def _line_at(self, place: int) -> int:
        """Return the line number of a position."""
        forward = place >= self.place
        self.line += self.text.count("\n", self.place, place) if forward else -self.text.count("\n", place, self.place)
        self.place = place
        return self.line

    def _prose(self, start: int, end: int) -> None:
        self.judge.memory.effort += 10 + (end - start) * 2 // 3
        piece = row_with_sign(self.text, start, end) or laid_aside(self.text[start:end], latex=self.latex)
        width = bullet_width(piece)
        tokens = read_tokens(" " * width + piece[width:], start)
        if self.judge.block(tokens, self._line_at(start), start):
            return
        item = labelled(tokens)  # a labelled number: an item of a list, or the total of the items above
        if item is not None and item.total:
            self.judge.total(item, start=next(token.start for token in tokens if token.kind != "edge"))
        elif item is not None:
            self.judge.memory.arrive(item.figure, exactly(item.figure.value), self.judge.line_of(item.start), judged=False)
            self.judge.memory.met.add(item.figure.value)

    def _fence(self, block: Block) -> None:
        """Read a fenced block: claims about a spec, prose, or code."""
        first = line_around(self.text, block.start)[1] + 1
        last = max(first, self.text.rfind("\n", first, block.end))
        closed = self.text[last : block.end].lstrip(" \t>\n").startswith(("```", "~~~"))
        last = last if closed else block.end
        read = (
            self._questions
            if block.info.partition(" ")[0] == "glassformer"
            else self._blocks
            if block.info in PROSE
            else self._code
        )
        read(first, last)

    def _code(self, start: int, end: int) -> None:
        """Read code without running it: assignments are recorded, claims are judged."""
        for first, last, claimed in code_claims(self.text, start, end):
            if self._is_full(first, end):
                return
            if claimed:
                self._prose(first, last)
                continue
            self.judge.memory.effort += 10 + (last - first) // 2
            tokens = read_tokens(self.text[first:last], first)
            if sum(token.kind == "relation" for token in tokens) == 1:
                self.judge.block(tokens, self._line_at(first), first)

    def _questions(self, start: int, end: int) -> None:
        for first, last, question in block_questions(self.text, start, end):
            self.asked += 1
            said = UNREAD if question is None else f"Not judged: more than {MOST_QUESTIONS} claims about a spec in one document."
            judged = question.judged() if question is not None and self.asked <= MOST_QUESTIONS else None
            self._add(first, last, "question", judged or unread(said))

    def _too_long(self, block: Block) -> None:
        self.beyond += max(0, sum(1 for _ in SIGN.finditer(self.text, block.start, block.end)) - 1)
        size = f"a line of {block.end - block.start:,} characters is too long (limit {LONGEST_BLOCK:,})"
        self._add(block.start, block.end, "limit", unread(f"Not judged: {size}."))

    def _add(self, start: int, end: int, kind: Kind, judged: Judged) -> None:
        text = shown(" ".join(self.text[start : min(end, start + 400)].split()), limit=200)
        line = self._line_at(start)
        self.judge.found.append(Found(line=line, start=start, end=end, text=text, kind=kind, judged=judged))


def unread(said: str) -> Judged:
    return Judged("", "", "unclear", None, notes=(said,))
