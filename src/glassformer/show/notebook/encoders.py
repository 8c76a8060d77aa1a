"""How an encoder looks in a notebook: what it is in a sentence, and its diagram."""

from __future__ import annotations

from dataclasses import dataclass
from html import escape

from glassformer.program import Program, build
from glassformer.show.diagram import diagram
from glassformer.show.diagram_inside import inside
from glassformer.show.notebook.frame import framed
from glassformer.show.present import present
from glassformer.show.report.derived import sentence
from glassformer.spec import EncoderSpec


@dataclass(frozen=True)
class EncoderView:
    """A program drawn."""

    program: Program

    def text(self) -> str:
        return sentence(self.program.spec)

    def html(self) -> str:
        return framed(program_html(self.program))


def program_html(program: Program) -> str:
    """The sentence, the diagram, and the first attention opened."""
    first = next((step.name for step in program.steps if step.name.endswith(".attention.weights")), None)
    opened = f"<figure>{inside(program, first.removesuffix('.weights')).svg()}</figure>" if first else ""
    pictures = f"<div class=pictures><figure>{diagram(program).svg()}</figure>{opened}</div>"
    return f"<p>{escape(sentence(program.spec))}</p>{pictures}"


def encoder_html(spec: EncoderSpec) -> str:
    """The same of a spec, at a usual length."""
    return program_html(build(spec))


@present.register
def _spec(spec: EncoderSpec) -> EncoderView:
    return EncoderView(build(spec))


@present.register
def _program(program: Program) -> EncoderView:
    return EncoderView(program)
