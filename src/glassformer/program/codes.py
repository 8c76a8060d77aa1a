"""Heads of sound for pre-training: the codes that sound is quantised to, and what is compared with them (Baevski et al. 2020)."""

from __future__ import annotations

from glassformer.program.axes import Axis, Tensor
from glassformer.program.operations import Largest, Merge, ReplaceSome
from glassformer.program.parts import linear
from glassformer.program.program import Writer
from glassformer.spec import EncoderSpec


def compared(head: Writer, spec: EncoderSpec, x: Tensor) -> None:
    """States and codes in one space (wav2vec 2.0)."""
    _, _, _, width = spec.codebooks
    into, bias = (Axis("d_compared", width),), spec.bias("head")
    linear(head, "states", "projection", x, "S", into, bias=bias)
    linear(head, "out", "projection", _quantised(head, spec), "P", into, bias=bias)


def letters_of_both(head: Writer, spec: EncoderSpec, x: Tensor) -> None:
    """Letters of states, some of which are replaced at random by codes (UniSpeech, Wang et al. 2021)."""
    into, bias = (Axis("d_compared", spec.codebooks[3]),), spec.bias("head")
    narrow = linear(head, "codes_narrow", "projection", _quantised(head, spec), "P", into, bias=bias)
    codes = linear(head, "codes", "projection", narrow, "S", x.axes[-1:], bias=bias)
    mixed = head.step("mixed", "projection", ReplaceSome(), x, codes)
    linear(head, "logits", "logits", mixed, "C", (Axis("class", spec.classes),), bias=spec.bias("classes"))


def stored(head: Writer, spec: EncoderSpec, _x: Tensor) -> None:
    """What UniSpeech-SAT's class stores and does not compute: codes, projections, a vector for each cluster, a norm."""
    groups, each, wide, width = spec.codebooks
    features, codes, compared = Axis("d_model", spec.d_model), Axis("d_codes", wide), Axis("d_compared", width)
    every = Axis("code", groups * each)
    head.parameter("E_code", "code", every, Axis("d_code", wide // groups), kind="table")
    matrices = {"V": (features, every), "P": (codes, compared), "S": (features, compared), "K": (features, codes)}
    for index, (rows, columns) in matrices.items():
        head.parameter(f"W_{index}", "projection", rows, columns)
        head.parameter(f"b_{index}", "projection", columns, kind="bias")
    head.parameter("E_cluster", "code", Axis("cluster", spec.classes), codes, kind="table")
    inside = head.at("norm", "norm")
    inside.parameter("gamma", "gamma", features, kind="norm")
    inside.parameter("beta", "beta", features, kind="norm")


def _quantised(head: Writer, spec: EncoderSpec) -> Tensor:
    """The code of each group that the features of the sound score highest, side by side."""
    groups, each, wide, _ = spec.codebooks
    sound = next(step.inputs[0] for step in head.program.steps if step.role == "projected embedding")
    group, code, width = Axis("code_group", groups), Axis("code", each), Axis("d_code", wide // groups)
    scores = linear(head, "code_scores", "code scores", sound, "V", (group, code), bias=spec.bias("head"))
    table = head.parameter("E_code", "code", group, code, width, kind="table")
    found = head.step("code", "code", Largest("code"), scores, table)
    return head.step("quantised", "code", Merge((group.name, width.name), Axis("d_codes", wide)), found)
