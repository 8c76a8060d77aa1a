"""The convolution parallel to layer 0 (He et al. 2021, section 5): its output is added to the output of the layer."""

from __future__ import annotations

from glassformer.program.axes import Axis, Tensor
from glassformer.program.operations import Add, Merge, Neighbours, Pointwise, Split
from glassformer.program.parts import AFFINE, CONTRACT, norm
from glassformer.program.program import Writer
from glassformer.program.sound import blanked
from glassformer.spec import EncoderSpec


def beside(write: Writer, spec: EncoderSpec, entered: Tensor, left: Tensor, real: Tensor | None) -> Tensor:
    """`norm(left + f(convolution(entered)))`: `entered` is the input of the layer, `left` its output."""
    batch, t, d_model = entered.axes
    share, size = spec.d_model // spec.beside_groups, spec.beside_kernel or 1
    group, inner, outer = Axis("group", spec.beside_groups), Axis("d_in", share), Axis("d_out", share)
    kernel = Axis("kernel", size)
    cut = write.step("beside_groups", "feature groups", Split("d_model", (group, inner)), blanked(write, entered, real))
    near = write.step("beside_neighbours", "neighbours", Neighbours(t.name, t, kernel, 1, size // 2), cut)
    weight = write.parameter("V_beside", "convolution", group, outer, inner, kernel)
    bias = [write.parameter("b_beside", "convolution", group, outer, kind="bias")] if spec.bias("convolution") else []
    axes = (batch, t, group, outer)
    made = write.step("beside_convolved", "grouped convolution", AFFINE if bias else CONTRACT, near, weight, *bias, axes=axes)
    merged = write.step("beside_merged", "feature groups", Merge(("group", "d_out"), d_model), made)
    active = write.step("beside", "convolution activation", Pointwise(spec.beside_activation), merged)
    return norm(write, spec, "norm_beside", write.step("sum_beside", "convolution residual", Add(), left, active))
