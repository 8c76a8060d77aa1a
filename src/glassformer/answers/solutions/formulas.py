"""Formulas of a document followed with the shapes that it gives: traps, products that do not fit, results confirmed."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from glassformer.answers.documents import CheckedDocument
from glassformer.answers.shapes import FormulaShapes, check_formula
from glassformer.answers.solutions.remarks import Remark
from glassformer.answers.solutions.said_shapes import SCRIPT, Said, Sizes, normal, results_in, sizes_in, tidy
from glassformer.answers.solutions.sections import Section, sections
from glassformer.spec import GlassformerError, shown

MOST_FORMULAS = 40  # of a section
LONGEST = 400
MOST_CHECKS = 150  # of a document
_WORD = r"(?:\\text\{[A-Za-z]{2,20}\}|\\mathrm\{[A-Za-z]{2,20}\}|[A-Z][A-Za-z]{0,19}|[a-z](?=[_^=\s]))"
_LEFT = rf"{_WORD}{SCRIPT}{{0,2}}(?:[ \t]*\([A-Za-z][\w, \t]{{0,30}}\))?"
_MATH = re.compile(r"\$\$(.{1,600}?)\$\$|\\\[(.{1,600}?)\\\]|\$([^$\n]{1,300})\$", re.DOTALL)
_STATEMENT = re.compile(rf"(?P<left>{_LEFT})[ \t]*=(?!=)[ \t]*(?P<body>[^=\n]{{1,300}})$")
_PLAIN = re.compile(rf"(?<![\w\\$^_(]){_LEFT}[ \t]*=(?!=)[ \t]*(?P<body>[^=\n,;:.$]{{2,200}})(?=[,;:.$]|$)", re.MULTILINE)


@dataclass(frozen=True)
class Formula:
    """A statement `left = body` and where it stands."""

    left: str
    body: str
    place: int

    @property
    def text(self) -> str:
        return f"{self.left} = {self.body}"

    @property
    def target(self) -> str:
        """The name that it defines, in one spelling; of a function its word."""
        return key(re.sub(r"\\text|\\mathrm|\(.*", "", self.left))


def formula_remarks(document: CheckedDocument) -> Iterator[Remark]:
    """Remarks on the formulas of every section."""
    checks = 0
    for section in sections(document.text):
        text = section.text
        if "=" not in text:
            continue
        reader = _Reader(section, sizes_in(text), formulas_in(text))
        if not reader.sizes.shapes:
            continue
        yield from reader.remarks(MOST_CHECKS - checks)
        checks += reader.checks
        if checks >= MOST_CHECKS:
            return


def formulas_in(text: str) -> list[Formula]:
    """Statements in formulas and in plain lines, in order, each once."""
    found: dict[str, Formula] = {}
    covered = list(text)
    for match in _MATH.finditer(text):
        inner = next(group for group in match.groups() if group is not None)
        covered[match.start() : match.end()] = ["\n" if sign == "\n" else " " for sign in match[0]]
        for part in re.split(r"\\\\|\\quad|\\qquad|;|,(?=[ \t]*[A-Z][\w^{}]{0,6}[ \t]*=)", inner):
            _add(found, " ".join(part.replace("&", " ").split()).rstrip(" .,"), match.start())
    for match in _PLAIN.finditer("".join(covered)):
        _add(found, re.split(r"\s(?:and|where|with|so|then|is|are)\s", match[0])[0].strip(), match.start())
    return list(found.values())[:MOST_FORMULAS]


def _add(found: dict[str, Formula], text: str, place: int) -> None:
    match = _STATEMENT.match(text) if len(text) <= LONGEST else None
    if match is not None and re.search(r"[A-Za-z]", match["body"]):
        formula = Formula(match["left"].strip(), match["body"].strip(), place)
        found.setdefault(re.sub(r"\s", "", formula.text), formula)


@dataclass
class _Reader:
    section: Section
    sizes: Sizes
    formulas: list[Formula]
    checks: int = 0

    def remarks(self, limit: int) -> Iterator[Remark]:
        said: set[tuple[str, str]] = set()
        confirmed: dict[str, tuple[int, str]] = {}
        checked: list[tuple[Formula, FormulaShapes]] = []
        for formula in self.formulas[: max(0, limit)]:
            answer = self._followed(formula)
            if answer is None:
                continue
            checked.append((formula, answer))
            for remark in self._faults(formula, answer):
                if (remark.code, remark.sentence) not in said:
                    said.add((remark.code, remark.sentence))
                    yield remark
            if answer.failure is None and not any(trap.claim for trap in answer.traps):
                confirmed |= self._confirmed(formula, answer)
        yield from _together(confirmed)
        yield from self._results(checked)

    def _followed(self, formula: Formula) -> FormulaShapes | None:
        """The formula with the definitions that it needs; None where something is not known or cannot be read."""
        targets: dict[str, list[Formula]] = {}
        for other in self.formulas:
            targets.setdefault(other.target, []).append(other)
        if len({re.sub(r"\s", "", other.body) for other in targets[formula.target]}) > 1:
            return None  # said in two ways: which one is meant?
        given = {key(name): said.shape for name, said in self.sizes.certain.items()}
        needed, waiting = [formula], [formula]
        while waiting:
            for name in sorted(_names_in(waiting.pop().body)):
                definitions = targets.get(name, [])
                if len({re.sub(r"\s", "", other.body) for other in definitions}) > 1:
                    return None
                if definitions and definitions[0] not in needed:
                    needed.append(definitions[0])
                    waiting.append(definitions[0])
        if any(key(name) in {one.target for one in needed} for name in self.sizes.dropped):
            return None
        used = {name for one in needed for name in (*_names_in(one.body), one.target)}
        shapes = {name: shape for name, shape in given.items() if _is_used(name, used)}
        symbols = {key(name): value for name, value in self.sizes.values.items() if key(name) not in shapes}
        if not shapes:
            return None
        self.checks += 1
        before = sorted(needed[1:], key=lambda one: one.place)
        try:
            return check_formula("; ".join(one.text for one in (*before, formula)), {**symbols, **shapes})
        except GlassformerError:
            return None

    def _faults(self, formula: Formula, answer: FormulaShapes) -> Iterator[Remark]:
        line = self.section.line_at(formula.place)
        if self.section.warns(line):
            return
        meant = shown(answer.meant_text or "", limit=200)
        if answer.failure is not None:
            said = f"{answer.failure.sentence} {answer.failure.explanation}".strip()
            yield Remark(code="does_not_fit", line=line, sentence=shown(said, limit=400), corrected=meant)
            return
        for trap in answer.traps:
            yield Remark(code=trap.code, line=line, sentence=shown(trap.sentence, limit=400), corrected=meant)

    def _confirmed(self, formula: Formula, answer: FormulaShapes) -> dict[str, tuple[int, str]]:
        """Names with a shape in the text that the formula computes, too."""
        found = {}
        for name, said in self.sizes.certain.items():
            if key(name) == formula.target and "(" not in formula.left:
                found[name] = (self.section.line_at(said.place), " × ".join(map(str, answer.shape(answer.rows[-1]))))
        return found

    def _results(self, checked: list[tuple[Formula, FormulaShapes]]) -> Iterator[Remark]:
        """`The output has the dimension of [768, 6]`, where there is one formula that it can be the output of."""
        attentions = [found for found in checked if "softmax" in found[0].body.lower() and found[1].failure is None]
        if len(attentions) != 1:
            return
        formula, answer = attentions[0]
        computed = answer.shape(answer.rows[-1])
        name = tidy(re.sub(r"\(.*", "", formula.left))
        if "(" not in formula.left or len(computed) != 2 or not all(isinstance(size, int) for size in computed):
            return
        for of, shape, place in results_in(self.section.text):
            if name.lower() not in of.lower() and "attention" not in of.lower():
                continue
            line, due = self.section.line_at(place), " × ".join(map(str, computed))
            sizes = normal(shape).split("×")
            if sizes == [str(size) for size in computed]:
                sentence = f"The output of {name} is {due}, as said."
                yield Remark(code="shape_confirmed", line=line, sentence=sentence, verdict="right")
            elif all(size.isdecimal() for size in sizes) and answer.verdict == "fits":
                sentence = f"The output of {name} is {due}, not {' × '.join(sizes)}."
                yield Remark(code="claimed_shape", line=line, sentence=sentence, corrected=due)


def _together(confirmed: dict[str, tuple[int, str]]) -> Iterator[Remark]:
    """One remark for the names of a line that have the same shape."""
    groups: dict[tuple[int, str], list[str]] = {}
    for name, where in confirmed.items():
        groups.setdefault(where, []).append(name)
    for (line, shape), names in groups.items():
        words = f"{', '.join(names[:-1])} and {names[-1]} are" if len(names) > 1 else f"{names[0]} is"
        yield Remark(code="shape_confirmed", line=line, sentence=f"{words} {shape}, as said.", verdict="right")


def key(name: str) -> str:
    """One spelling for `W^Q`, `W_{Q}` and `W_Q`."""
    return tidy(name).replace("^", "_")


def _names_in(body: str) -> set[str]:
    """The names of a body; of letters written together each by itself, too."""
    found: set[str] = set()
    for match in re.finditer(rf"(?<![\\A-Za-z])(?P<base>[A-Za-z]{{1,12}})(?P<scripts>{SCRIPT}{{0,2}})", body):
        scripts = match["scripts"]
        scripts = re.sub(r"\^\{?(?:T|top|\\top|\\intercal)\}?$", "", scripts)
        found.add(key(match["base"] + scripts))
        if len(match["base"]) <= 4:
            found |= set(match["base"][:-1]) | {key(match["base"][-1] + scripts)}
    return found


def _is_used(name: str, used: set[str]) -> bool:
    """Whether a name, or for a running index one of its family, is used."""
    if name in used:
        return True
    base, _, index = name.rpartition("_")
    return index == "i" and any(one.rpartition("_")[0] == base for one in used)


__all__ = ["Formula", "Said", "formula_remarks", "formulas_in"]
