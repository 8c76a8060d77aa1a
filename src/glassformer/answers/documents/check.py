"""A whole document read: block by block, within limits, nothing left out without being counted."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from glassformer.answers.documents.blocks import LONGEST_BLOCK, SIGN, Block, blocks, line_around
from glassformer.answers.documents.code import PROSE, code_lines
from glassformer.answers.documents.counted import Counted, is_certain
from glassformer.answers.documents.formulas import formula_remarks
from glassformer.answers.documents.judge import Judge
from glassformer.answers.documents.lines import Line, lines_of
from glassformer.answers.documents.markup import bullet_width, laid_aside
from glassformer.answers.documents.questions import (
    MOST_QUESTIONS,
    UNREAD,
    Question,
    block_questions,
    described_questions,
    front_matter,
)
from glassformer.answers.documents.result import CheckedDocument, DocumentKind, Found, Kind
from glassformer.answers.documents.settings import Settings, settings_in
from glassformer.answers.documents.sources import Source, read_file, source_of
from glassformer.answers.documents.statements import read_tokens
from glassformer.answers.documents.tables import row_with_sign
from glassformer.answers.documents.totals import labelled
from glassformer.answers.documents.vectors import vector_remarks
from glassformer.answers.expressions import exactly
from glassformer.answers.verdicts import Judged
from glassformer.spec.errors import shown

MOST_FINDINGS = 5_000
MOST_LOOKED_AT = 300_000  # lines with digits or signs
MOST_CHARACTERS = 400_000  # in a longer document only the equalities are judged


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
    doubtful = [place for place, found in reader.judge.miscounts.items() if not is_certain(found, reader.judge.uses)]
    if doubtful:  # right after all, as of all layers: read again without those
        reader = Reader.over(source, settings, lines, latex=latex, withdrawn=frozenset(doubtful))
    asked = [reader.question(question) for question in described_questions(lines)]
    remarks = [*formula_remarks(lines, reader.judge.statements, source.text), *vector_remarks(lines)]
    found = sorted([*reader.judge.found, *asked, *remarks], key=lambda one: (one.start, one.end))
    return CheckedDocument(shown(name), kind, source.text, tuple(found), reader.beyond, source.cells)


@dataclass
class Reader:
    """Goes through a document once."""

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
        counted = Counted(settings, {line.number: line.part for line in lines}, latex)
        reader = cls(source.text, Judge(source.text, counted, withdrawn=withdrawn), latex)
        front, after = front_matter(source.text)
        if front:
            reader._questions(front, 2, source.text.index("\n") + 1, claims_only=True)
        reader._blocks(after, len(source.text))
        reader.judge.settle()
        return reader

    def question(self, question: Question) -> Found:
        start = sum(len(line) + 1 for line in self.text.split("\n")[: question.line - 1])
        return self._found(start, line_around(self.text, start)[1], question.line, "question", question.judged())

    def _blocks(self, start: int, end: int) -> None:
        for block in blocks(self.text, start, end):
            if self._is_full(block.start, end):
                return
            self._block(block)

    def _is_full(self, place: int, end: int) -> bool:
        """Whether no more is read; what is left up to the end is counted."""
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
        """The line of a place; places come in order."""
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
        """A fenced block: claims about a spec, prose, or code."""
        first = line_around(self.text, block.start)[1] + 1
        last = max(first, self.text.rfind("\n", first, block.end))
        closed = self.text[last : block.end].lstrip(" \t>\n").startswith(("```", "~~~"))
        last = last if closed else block.end
        language = block.info.partition(" ")[0]
        if language == "glassformer":
            self._questions(self.text[first:last], self._line_at(block.start) + 1, first)
        elif block.info in PROSE:
            self._blocks(first, last)
        else:
            self._code(first, last, language)

    def _code(self, start: int, end: int, language: str) -> None:
        for found in code_lines(self.text, start, end, language):
            if self._is_full(found.start, end):
                return
            if found.kind == "claim":
                self._prose(found.start, found.end)
            else:
                self.judge.memory.effort += 10 + (found.end - found.start) // 2
                tokens = read_tokens(self.text[found.start : found.end], found.start)
                if sum(token.kind == "relation" for token in tokens) == 1:
                    self.judge.block(tokens, self._line_at(found.start), found.start)

    def _questions(self, content: str, line: int, start: int, *, claims_only: bool = False) -> None:
        starts = [start]
        for raw in content.split("\n"):
            starts.append(starts[-1] + len(raw) + 1)
        for one in block_questions(content, line):
            number = one.line if isinstance(one, Question) else one
            place = starts[number - line]
            judged = Judged("", "", "unclear", None, notes=(UNREAD,))
            if claims_only and not isinstance(one, Question):
                continue
            if isinstance(one, Question):
                self.asked += 1
                limit = f"Not judged: more than {MOST_QUESTIONS} claims about a spec in one document."
                judged = one.judged() if self.asked <= MOST_QUESTIONS else Judged("", "", "unclear", None, notes=(limit,))
            self.judge.found.append(self._found(place, starts[number - line + 1] - 1, number, "question", judged))

    def _too_long(self, block: Block) -> None:
        size = block.end - block.start
        self.beyond += max(0, sum(1 for _ in SIGN.finditer(self.text, block.start, block.end)) - 1)
        said = f"Not judged: a line of {size:,} characters is too long (limit {LONGEST_BLOCK:,})."
        judged = Judged("", "", "unclear", None, notes=(said,))
        self.judge.found.append(self._found(block.start, block.end, self._line_at(block.start), "limit", judged))

    def _found(self, start: int, end: int, line: int, kind: Kind, judged: Judged) -> Found:
        text = shown(" ".join(self.text[start : min(end, start + 400)].split()), limit=200)
        return Found(line=line, start=start, end=end, text=text, kind=kind, judged=judged)
