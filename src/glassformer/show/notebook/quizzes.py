"""How a quiz paper looks in a notebook: its questions, as on the printed page."""

from __future__ import annotations

from dataclasses import dataclass
from html import escape

from glassformer.answers.quiz.variant import Variant
from glassformer.show.notebook.frame import framed
from glassformer.show.present import present
from glassformer.show.quiz.html_page import html_blocks, inline
from glassformer.show.quiz.markdown import markdown_page
from glassformer.show.quiz.page import quiz_page


@dataclass(frozen=True)
class PaperView:
    """A paper as one student gets it; the key stays where it is."""

    variant: Variant

    def text(self) -> str:
        return markdown_page(quiz_page(self.variant))

    def html(self) -> str:
        page = quiz_page(self.variant)
        questions = "".join(f"<section>{html_blocks(blocks)}</section>" for blocks in page.questions)
        return framed(f"<h2>{inline(page.title)}</h2><p>{escape(page.subtitle)}</p>{questions}")


@present.register
def _variant(variant: Variant) -> PaperView:
    return PaperView(variant)
