"""How attention looks in a notebook: pictures that stay when it is saved, and below them the page to explore."""

from __future__ import annotations

from dataclasses import dataclass
from html import escape

from glassformer.numbers.attention import Attention
from glassformer.show.attention_html import notebook_html
from glassformer.show.grids import attention_top, is_linear
from glassformer.show.heatmaps import scale_bar, small_multiples, word_panel
from glassformer.show.notebook.frame import framed
from glassformer.show.present import present

LARGE = 4  # heads that are shown with their words; more are small multiples


@dataclass(frozen=True)
class AttentionView:
    """One head or a few with their words, or all of them small."""

    attention: Attention

    def text(self) -> str:
        return self.attention.text()

    def html(self) -> str:
        found = self.attention
        chosen = [(layer, head) for layer in found.layers for head in found.heads]
        top = attention_top(found)
        if len(chosen) <= LARGE:
            inner = "".join(word_panel(found, layer, head, theme="light", top=top) for layer, head in chosen)
        else:
            inner = small_multiples(found, theme="light")
        linear = is_linear(found.grid(*chosen[0]))
        title = f"<p><strong>Attention: {escape(found.label)}</strong>; rows are queries, columns are keys</p>"
        explore = f"<details><summary>Explore: any head, any range of tokens</summary>{notebook_html(found)}</details>"
        return framed(title + scale_bar(linear=linear, theme="light", top=top) + inner + explore)


@present.register
def _attention(attention: Attention) -> AttentionView:
    return AttentionView(attention)
