"""Claims about a spec: in a fenced block `glassformer`, or as the answer to a question that describes a model."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from glassformer.answers.documents.lines import Line
from glassformer.answers.documents.settings import settings_in
from glassformer.answers.documents.totals import figure_of
from glassformer.answers.verdicts import Judged, check
from glassformer.configs.presets import known_preset, preset_names
from glassformer.configs.reading import Request, request_from_words
from glassformer.errors import GlassformerError, nearest, shown

MOST_QUESTIONS = 200
LONGEST_LINE = 500
REACH = 30  # the most lines between a question and its answer
PARAMETERS = frozenset(("parameter", "parameters"))
UNREAD = "Not understood: a block of claims has a line 'spec: …', then lines 'expression = value'."


@dataclass(frozen=True)
class Question:
    """A line `expression = value` of a block, and its spec."""

    spec: tuple[str, ...]
    expression: str
    claim: str

    def judged(self) -> Judged:
        name = f"{self.expression} @ {' '.join(self.spec)}"
        try:
            return replace(check(self.expression, _request(self.spec), claim=self.claim).judged, name=name, claim=self.claim)
        except GlassformerError as error:
            return Judged(name, self.claim, "unclear", None, notes=(f"Not understood: {shown(str(error), limit=300)}",))


def _request(words: tuple[str, ...]) -> Request:
    """Return a preset with fields; an untrusted document must not open files."""
    name = known_preset(words[0]) if words else None
    if name is None:
        said = words[0] if words else ""
        raise GlassformerError(
            f"'{shown(said)}' is not a preset, and a document cannot name files.{nearest(said, preset_names())}"
        )
    return request_from_words((name, *words[1:]), decoders=True)


def block_questions(text: str, start: int, end: int) -> Iterator[tuple[int, int, Question | None]]:
    """Yield the claims in a block with their positions; None for a line that is not a claim."""
    spec: tuple[str, ...] = ()
    for raw in text[start:end].split("\n"):
        content = raw.strip().removeprefix("- ").strip()
        name, colon, words = content.partition(":")
        if colon and name.strip().lower() == "spec":
            spec = tuple(words.strip("\"' ").split())
        elif content and not content.startswith("#"):
            expression, claim = _sides(content) if len(content) <= LONGEST_LINE else ("", "")
            yield start, start + len(raw), Question(spec, expression, claim) if expression and claim and spec else None
        start += len(raw) + 1


def _sides(line: str) -> tuple[str, str]:
    """Split a line into expression and value at the first sign between spaces, otherwise at the last sign."""
    for sign in (" = ", " ≈ "):
        left, found, right = line.partition(sign)
        if found:
            return left.strip(), right.strip(" =≈")
    left, _, right = line.replace("≈", "=").rpartition("=")
    return left.strip(" ="), right.strip()


def described_questions(lines: Sequence[Line]) -> Iterator[tuple[Line, Question]]:
    """Yield questions about the parameters of an encoder layer, followed by its sizes and then a number on its own line."""
    asked: Line | None = None
    for line in lines:
        words = line.text.lower().replace("?", " ").replace(":", " ").split()
        if not PARAMETERS.isdisjoint(words) and "layer" in words and "encoder" in words and "decoder" not in words:
            asked = line if line.text.rstrip().endswith(("?", ":")) else None
        elif asked is not None and line.number <= asked.number + REACH and line.part == asked.part and _is_number(line):
            given = settings_in([one for one in lines if asked.number <= one.number < line.number]).at(line.part)
            sizes = {size: value for size, value in given.items() if size in ("d_model", "heads", "d_k", "d_ff")}
            if {"d_model", "heads", "d_ff"} <= set(sizes):
                number = next(token.text for token in line.tokens if token.kind == "number")
                yield line, Question(("layer", *(f"{size}={value}" for size, value in sizes.items())), "params", number)
            asked = None


def _is_number(line: Line) -> bool:
    if len(line.text) > 40 or not any(letter.isdigit() for letter in line.text):
        return False
    said = [token for token in line.tokens if token.kind not in ("edge", "stop", "wall")]
    said = said[1:] if said and said[0].text.lower() in ("answer", "ans") else said
    found = figure_of(said)
    return found is not None and found.unit == 1 and found.value >= 100
