"""Presentation of encoders in notebooks: a one-sentence summary and the diagram."""

from __future__ import annotations

from dataclasses import dataclass

from glassformer.program import Program, build
from glassformer.show.diagram import diagram, inside
from glassformer.show.fragment import fragment
from glassformer.show.markup import Html, join, tags
from glassformer.show.present import present
from glassformer.show.report.derived import sentence
from glassformer.spec import EncoderSpec


@dataclass(frozen=True)
class EncoderView:
    """A program drawn."""

    program: Program

    def text(self) -> str:
        return sentence(self.program.spec)

    def html(self) -> Html:
        return fragment(program_html(self.program))


def program_html(program: Program) -> Html:
    """The summary, the diagram, and the first attention block expanded."""
    first = next((step.block.name for step in program.steps if step.role == "weights"), None)
    opened = tags.figure(inside(program, first).svg()) if first else None
    pictures = tags.div(tags.figure(diagram(program).svg()), opened, class_="pictures")
    return join(tags.p(sentence(program.spec)), pictures)


def encoder_html(spec: EncoderSpec) -> Html:
    """The same of a spec, at a usual length."""
    return program_html(build(spec))


@present.register
def _spec(spec: EncoderSpec) -> EncoderView:
    return EncoderView(build(spec))


@present.register
def _program(program: Program) -> EncoderView:
    return EncoderView(program)
