"""Presentation of quiz papers in notebooks: the questions, as on the printed page."""

from __future__ import annotations

from dataclasses import dataclass

from glassformer.answers.quiz.variant import Variant
from glassformer.show.fragment import fragment
from glassformer.show.markup import Html, tags
from glassformer.show.present import present
from glassformer.show.quiz.html_page import html_blocks, inline
from glassformer.show.quiz.markdown import markdown_page
from glassformer.show.quiz.page import quiz_page


@dataclass(frozen=True)
class PaperView:
    """A student's paper, without the key."""

    variant: Variant

    def text(self) -> str:
        return markdown_page(quiz_page(self.variant))

    def html(self) -> Html:
        page = quiz_page(self.variant)
        questions = [tags.section(html_blocks(blocks)) for blocks in page.questions]
        return fragment(tags.h2(inline(page.title)), tags.p(page.subtitle), questions)


@present.register
def _variant(variant: Variant) -> PaperView:
    return PaperView(variant)
