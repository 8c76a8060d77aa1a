"""The position of each token's box on a page (Xu et al. 2020): vectors of its sides, and a score bias by distance."""

from __future__ import annotations

from glassformer.program.axes import Axis, Tensor
from glassformer.program.operations import BoxBias, BoxLookup, Join
from glassformer.program.program import Writer
from glassformer.spec import EncoderSpec

# What is looked up in the tables x, y, h and w: one side of a box, or one minus another.
SIDES = {"left": ("x", 0, None), "upper": ("y", 1, None), "right": ("x", 2, None), "lower": ("y", 3, None)}
SPANS = {"height": ("h", 3, 1), "width": ("w", 2, 0)}


def on_page(write: Writer, inside: Writer, spec: EncoderSpec, tokens: Tensor, width: Axis) -> list[Tensor]:
    """Vectors of a box's sides, its height and its width, as wide as the token's, or side by side as wide as that."""
    boxes = write.input("boxes", "input", *tokens.axes, Axis("side", 4))
    rows = Axis("coordinate", spec.page or 0)
    parts = spec.page_parts or (width.size, width.size)
    wide = {name: Axis("d_side", parts[name in "hw"]) if spec.page_parts else width for name in "xyhw"}
    tables = {name: inside.parameter(f"E_{name}", "page position", rows, wide[name], kind="table") for name in "xyhw"}
    found = [
        inside.step(name, "page position", BoxLookup(side, minus), boxes, tables[table])
        for name, (table, side, minus) in {**SIDES, **SPANS}.items()
    ]
    return [inside.step("box", "page position", Join(width, "d_side"), *found)] if spec.page_parts else found


def apart(layers: Writer, spec: EncoderSpec, t: Axis, s: Axis) -> list[Tensor]:
    """Biases for each pair of tokens by the distance between the left sides, and between the lower sides, of their boxes."""
    if not spec.page_relative:
        return []
    buckets, distance = spec.page_relative
    boxes = next(tensor for tensor in layers.program.inputs if tensor.name == "boxes")
    found = []
    for name, side in (("x", 0), ("y", 3)):
        table = layers.parameter(
            f"E_{name}_relative", "box bias", Axis("box_bucket", buckets), Axis("head", spec.heads), kind="table"
        )
        found.append(layers.step(f"{name}_relative", "box bias", BoxBias(side, distance, t, s), table, boxes))
    return found


def stored_picture(inside: Writer, spec: EncoderSpec) -> None:
    """What a model of text and picture needs for the picture, which is stored here and not read."""
    if not spec.beside_picture:
        return
    image, patch, channels = spec.beside_picture
    picture, width = inside.at("picture", "embeddings"), Axis("d_model", spec.d_model)
    pixels = Axis("channel", channels), Axis("row", patch), Axis("column", patch)
    picture.parameter("c_patch", "patch", width, *pixels)
    picture.parameter("b_patch", "patch", width, kind="bias")
    picture.parameter("class_token", "class token", width, kind="token")
    picture.parameter("E_position", "position", Axis("position", (image // patch) ** 2 + 1), width, kind="table")
    for norm in ("norm_picture", "norm_both"):
        inside_norm = picture.at(norm, "norm")
        inside_norm.parameter("gamma", "gamma", width, kind="norm")
        inside_norm.parameter("beta", "beta", width, kind="norm")
