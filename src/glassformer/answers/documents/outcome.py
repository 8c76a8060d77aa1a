"""Outcomes of comparing two sides: the verdict with its sentences, and the lines that it depends on."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from glassformer.answers.documents.result import Kind
from glassformer.answers.documents.sides import Pair, short
from glassformer.answers.mistakes.catalogue import mistake
from glassformer.answers.verdicts import Finding, Judged, Verdict
from glassformer.errors import shown
from glassformer.expressions import Value, shown_value
from glassformer.expressions.precision import Agreement


@dataclass(frozen=True)
class Outcome:
    """A verdict on two sides."""

    judged: Judged
    kind: Kind = "arithmetic"
    pair: Pair | None = None
    sources: tuple[int, ...] = ()  # the lines of the wrong results that it uses
    true: Value | None = None  # the value with those corrected
    put_right: str = ""  # the same as text, if it differs

    @property
    def verdict(self) -> Verdict:
        return self.judged.verdict


def explained(code: str, what: str, value: object) -> Finding:
    """Return a finding that explains a wrong number by one mistake."""
    return Finding((mistake(code),), (what,), value)


def right(pair: Pair, how: Agreement | None = None, note: str = "", kind: Kind = "arithmetic") -> Outcome:
    cut = f"Truncated, not rounded: it is {shown_value(pair.value)}." if how == "cut" else ""
    return Outcome(_judged(pair, "right", [cut, _sentence(note)]), kind, pair)


def carried(pair: Pair, sources: tuple[int, ...], true: Value | None) -> Outcome:
    put_right = _other(pair, true)
    rest = f"; corrected, it is {put_right}" if put_right else ""
    said = f"Right for the numbers it uses, but the error in {in_lines(sources)} is carried forward{rest}."
    return Outcome(_judged(pair, "carried", [said], sources=sources), "arithmetic", pair, sources, true, put_right)


def wrong(
    pair: Pair, sources: tuple[int, ...] = (), true: Value | None = None, findings: tuple[Finding, ...] = (), implied: str = ""
) -> Outcome:
    put_right = _other(pair, true)
    later = f"With {in_lines(sources)} corrected, it is {put_right}." if put_right else ""
    said = [pair.contradiction(), *(what for finding in findings[:2] for what in finding.what), _sentence(implied), later]
    return Outcome(_judged(pair, "wrong", said, findings, sources), "arithmetic", pair, sources, true, put_right)


def unclear(note: str, pair: Pair | None = None, kind: Kind = "arithmetic") -> Outcome:
    said = [f"Not judged: {shown(note, limit=160)}."]
    if pair is not None and pair.comparable and pair.claim is not None:
        said.append(f"As written, {short(pair.left.tree)} is {pair.like(pair.value)}.")
    return Outcome(Judged("", pair.claimed if pair else "", "unclear", None, notes=tuple(said)), kind, pair)


def of_sizes(verdict: Verdict, due: str, *notes: str) -> Outcome:
    """Return a verdict on shapes."""
    return Outcome(Judged("", "", verdict, due or None, notes=tuple(note for note in notes if note)), "shape")


def in_lines(lines: Sequence[int]) -> str:
    """Return line numbers as text: `lines 3, 4 and 9`."""
    unique = list(dict.fromkeys(lines))
    return f"line {unique[0]}" if len(unique) == 1 else f"lines {', '.join(map(str, unique[:-1]))} and {unique[-1]}"


def _judged(
    pair: Pair, verdict: Verdict, said: Sequence[str], findings: tuple[Finding, ...] = (), sources: tuple[int, ...] = ()
) -> Judged:
    follows, notes = tuple(f"line {line}" for line in sources), tuple(one for one in said if one)
    return Judged(short(pair.left.tree), pair.claimed, verdict, pair.like(pair.value), "", findings, follows, notes)


def _other(pair: Pair, true: Value | None) -> str:
    text = pair.like(true) if true is not None else ""
    return text if text != pair.like(pair.value) else ""


def _sentence(words: str) -> str:
    return f"{words[:1].upper()}{words[1:]}." if words else ""
