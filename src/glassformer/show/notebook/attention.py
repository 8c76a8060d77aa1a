"""Presentation of attention in notebooks: static pictures, which are saved, and below them an interactive page."""

from __future__ import annotations

from dataclasses import dataclass

from glassformer.numbers.attention import Attention
from glassformer.show.attention_html import notebook_html
from glassformer.show.fragment import fragment
from glassformer.show.grids import attention_top, is_linear
from glassformer.show.heatmaps import scale_bar, small_multiples, word_panel
from glassformer.show.markup import Child, Html, tags
from glassformer.show.present import present

LARGE = 4  # up to this many heads are shown with their words; more are small multiples


@dataclass(frozen=True)
class AttentionView:
    """One or a few heads with their tokens, or small panels of all heads."""

    attention: Attention

    def text(self) -> str:
        return self.attention.text()

    def html(self) -> Html:
        found = self.attention
        chosen = [(layer, head) for layer in found.layers for head in found.heads]
        top = attention_top(found)
        inner: Child = small_multiples(found, theme="light")
        if len(chosen) <= LARGE:
            inner = [word_panel(found, layer, head, theme="light", top=top) for layer, head in chosen]
        title = tags.p(tags.strong(f"Attention: {found.label}"), f"; {found.sides}")
        explore = tags.details(tags.summary("Explore: any head, any range of tokens"), notebook_html(found))
        return fragment(title, scale_bar(linear=is_linear(found.grid(*chosen[0])), theme="light", top=top), inner, explore)


@present.register
def _attention(attention: Attention) -> AttentionView:
    return AttentionView(attention)
