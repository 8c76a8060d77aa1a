"""The palette: one colour for each part of an encoder, the same in every table, diagram, plot and page, light and dark."""

from __future__ import annotations

from typing import Literal, NamedTuple, TypeAlias, get_args

from glassformer.program import Tensor
from glassformer.program.roles import Block, BlockKind

Part: TypeAlias = Literal["embedding", "attention", "feed-forward", "norm", "head"]
PARTS: tuple[Part, ...] = get_args(Part)


class Theme(NamedTuple):
    """The colours of a page: of parts by name, and of its other elements."""

    parts: dict[Part, str]
    page: str
    ink: str
    quiet: str
    line: str
    act: str  # interactive elements
    raised: str  # a surface slightly different from the page


# After Okabe and Ito (2008): distinguishable with any kind of colour vision, and by lightness on both pages.
LIGHT = Theme(
    parts={"embedding": "#0072b2", "attention": "#c75000", "feed-forward": "#00805c", "norm": "#6f7580", "head": "#a6488f"},
    page="#ffffff",
    ink="#1b1f27",
    quiet="#5c626d",
    line="#c9cdd3",
    act="#0b559f",
    raised="#f5f6f8",
)
DARK = Theme(
    parts={"embedding": "#56b4e9", "attention": "#f0904a", "feed-forward": "#3ec79b", "norm": "#8b919c", "head": "#dd9acb"},
    page="#14171d",
    ink="#e6e8ec",
    quiet="#a0a6b0",
    line="#3a404a",
    act="#7db8f0",
    raised="#1c2028",
)


OF_BLOCKS: dict[BlockKind, Part] = {
    "embeddings": "embedding",
    "attention": "attention",
    "mixing": "attention",
    "cross": "attention",
    "ffn": "feed-forward",
    "norm": "norm",
    "pooler": "head",
    "head": "head",
}


def tensor_part(tensor: Tensor) -> Part:
    """The part that a tensor belongs to: `layers.3.attention.W_Q` is attention."""
    if tensor.block.kind == "encoder":
        return "norm" if tensor.role == "attend" else "embedding"
    if tensor.hidden and tensor.block.layer is None:
        return "embedding"
    return (
        "attention"
        if tensor.role in ("relative table", "relative bias", "box bias", "summed bias", "scaled bias")
        else block_part(tensor.block)
    )


def block_part(block: Block) -> Part:
    """The part of a block: a norm is one wherever it is; sums and scales of a layer count as norms."""
    kinds = [one.kind for one in block.path]
    return "norm" if "norm" in kinds else next((OF_BLOCKS[kind] for kind in kinds if kind in OF_BLOCKS), "norm")


def ink(part: Part) -> str:
    """The colour of a part as a value of CSS and SVG: a page's own variable, or the light colour where there is none."""
    return f"var(--gf-{part},{LIGHT.parts[part]})"


def css_variables(theme: Theme) -> str:
    """`--gf-attention:#c75000;…` for a style sheet."""
    around = {name: value for name, value in theme._asdict().items() if name != "parts"}
    return "".join(f"--gf-{name}:{value};" for name, value in (*theme.parts.items(), *around.items()))
