"""A whole document read: block by block, within limits, nothing left out without being counted."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from glassformer.answers.documents.blocks import LONGEST_BLOCK, SIGN, Block, blocks, line_around
from glassformer.answers.documents.code import PROSE, code_lines
from glassformer.answers.documents.findings import CheckedDocument, DocumentKind, Finding, Kind, Question, Verdict
from glassformer.answers.documents.judge import Judge
from glassformer.answers.documents.markup import bullet_width, laid_aside
from glassformer.answers.documents.memory import Memory
from glassformer.answers.documents.questions import front_matter, questions
from glassformer.answers.documents.sources import Source, read_file, source_of
from glassformer.answers.documents.statements import relations
from glassformer.answers.documents.tables import row_with_sign
from glassformer.answers.documents.totals import labelled
from glassformer.answers.expressions import Token, exactly, fold, tokens
from glassformer.spec.errors import shown

MOST_FINDINGS = 5_000
MOST_LINES = 300_000  # lines with digits or signs that are looked at


def read_solution(path: str | Path) -> CheckedDocument:
    """A worked solution from a .md, .txt, .tex or .ipynb file, checked."""
    path = Path(path)
    text, kind = read_file(path)
    return check_document(text, name=path.name, kind=kind)


def check_document(text: str, *, name: str, kind: DocumentKind) -> CheckedDocument:
    """A worked solution checked: every equality of the text with its verdict, and the questions that it carries."""
    source = source_of(text, name=name, kind=kind)
    reader = Reader(source, latex=kind == "tex")
    reader.read()
    findings = tuple(sorted(reader.findings, key=lambda finding: (finding.start, finding.end)))
    return CheckedDocument(shown(name), kind, source.text, findings, tuple(reader.questions), reader.beyond, source.cells)


@dataclass
class Reader:
    """Goes through a document once."""

    source: Source
    latex: bool
    findings: list[Finding] = field(default_factory=list)
    questions: list[Question] = field(default_factory=list)
    beyond: int = 0
    looked_at: int = 0
    line: int = 1
    place: int = 0

    def __post_init__(self) -> None:
        self.text = self.source.text
        self.memory = Memory()
        self.judge = Judge(self.memory, self.text)

    def read(self) -> None:
        front, after = front_matter(self.text)
        if front:
            self._questions(front, 2, self.text.index("\n") + 1)
        for block in blocks(self.text, after):
            if self._is_full():
                self.beyond += sum(1 for _ in SIGN.finditer(self.text, block.start))
                break
            self._block(block)
        confirmed = {(finding.start, finding.end): finding for finding in self.judge.confirmed()}
        self.findings = [confirmed.get((finding.start, finding.end), finding) for finding in self.findings]

    def _is_full(self) -> bool:
        self.looked_at += 1
        return len(self.findings) >= MOST_FINDINGS or self.looked_at > MOST_LINES or self.memory.exhausted

    def _block(self, block: Block) -> None:
        if block.kind == "passed":
            return
        line = self._line_at(block.start)
        if block.kind == "scope":
            self.memory.scope += 1
        elif block.kind == "fence":
            self._fence(block, line)
        elif block.end - block.start > LONGEST_BLOCK:
            self._too_long(block, line)
        else:
            self._prose(block.start, block.end, line)

    def _line_at(self, place: int) -> int:
        """The line of a place; places come in order."""
        self.line += (
            self.text.count("\n", self.place, place) if place >= self.place else -self.text.count("\n", place, self.place)
        )
        self.place = place
        return self.line

    def _prose(self, start: int, end: int, line: int) -> None:
        self.memory.effort += 10 + (end - start) * 2 // 3
        piece = row_with_sign(self.text, start, end) or laid_aside(self.text[start:end], latex=self.latex)
        width = bullet_width(piece)
        found = fold(tokens(" " * width + piece[width:], start))
        findings = self.judge.block(relations(found), line, start)
        self.findings.extend(findings)
        if not findings:
            self._number_alone(found, line, start)

    def _number_alone(self, found: list[Token], line: int, start: int) -> None:
        """A labelled number: an item of a list, or the total of the items above."""
        item = labelled(found)
        if item is None:
            return
        line += self.text.count("\n", start, item.start)
        if item.total:
            first = next(token.start for token in found if token.kind != "edge")
            self.findings.append(self.judge.total(item, line, start=first))
        else:
            self.memory.arrive(item.figure, exactly(item.figure.value), line, "nothing")
            self.memory.meet({item.figure.value})

    def _fence(self, block: Block, line: int) -> None:
        """A fenced block: questions, prose, or code."""
        first = line_around(self.text, block.start)[1] + 1
        last = max(first, self.text.rfind("\n", first, block.end))
        last = block.end if last <= first and not self.text[first : block.end].lstrip(" \t>").startswith(("```", "~~~")) else last
        if block.info.split(" ")[0] == "glassformer":
            self._questions(self.text[first:last], line + 1, first)
        elif block.info in PROSE:
            for inner in blocks(self.text, first, last):
                if self._is_full():
                    self.beyond += sum(1 for _ in SIGN.finditer(self.text, inner.start, last))
                    break
                self._block(inner)
        else:
            self._code(first, last, block.info.split(" ")[0])

    def _code(self, start: int, end: int, language: str) -> None:
        for found in code_lines(self.text, start, end, language):
            if self._is_full():
                self.beyond += sum(1 for _ in SIGN.finditer(self.text, found.start, end))
                break
            line = self._line_at(found.start)
            if found.kind == "comment" or found.kind == "assertion":
                self._prose(found.start, found.end, line)
                continue
            self.memory.effort += 10 + (found.end - found.start) // 2
            if found.kind == "assignment":
                self.judge.assign(relations(fold(tokens(self.text[found.start : found.end], found.start))), line, found.start)
            self._add(
                found.start,
                found.end,
                line,
                "nothing",
                "code",
                "An assignment in code." if found.kind == "assignment" else "Code.",
            )

    def _questions(self, content: str, line: int, start: int) -> None:
        found = questions(content, line)
        self.questions.extend(found.found)
        for number, text in found.unread:
            place = start
            for _ in range(number - line):
                place = self.text.find("\n", place) + 1
            said = "Not understood in a block of questions: first 'spec: …', then 'question = answer'."
            self._add(place, place + len(text), number, "unclear", "formula", said)

    def _too_long(self, block: Block, line: int) -> None:
        size = block.end - block.start
        self.beyond += max(0, sum(1 for _ in SIGN.finditer(self.text, block.start, block.end)) - 1)
        said = f"Not judged: a line of {size:,} characters is too long (limit {LONGEST_BLOCK:,})."
        self._add(block.start, block.end, line, "unclear", "limit", said)

    def _add(self, start: int, end: int, line: int, verdict: Verdict, kind: Kind, said: str) -> None:
        text = shown(" ".join(self.text[start : min(end, start + 400)].split()), limit=200)
        self.findings.append(Finding(line=line, start=start, end=end, text=text, verdict=verdict, kind=kind, sentence=said))
