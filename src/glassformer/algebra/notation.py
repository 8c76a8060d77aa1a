"""The whole forward pass as numbered equations, as text or LaTeX, with tokens as rows or as columns."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from glassformer.algebra.result import Result
from glassformer.program import Program, Step, Tensor
from glassformer.program.axes import HEADS, IN_LAYER, layer_of
from glassformer.program.matrices import as_matrix
from glassformer.program.pen import LatexPen, Pen, TextPen

# How a step is written: the last words of its name -> the letter a paper would use.
LETTERS = {
    "attention.q": "Q",
    "attention.k": "K",
    "attention.v": "V",
    "attention.q_rotated": "Q_r",
    "attention.k_rotated": "K_r",
    "attention.k_shared": "K_g",
    "attention.v_shared": "V_g",
    "attention.scores": "S",
    "attention.k_relative": "K_B",
    "attention.q_relative": "Q_B",
    "attention.k_relative_shared": "K_Bg",
    "attention.content_to_buckets": "S_cB",
    "attention.content_to_position": "S_cp",
    "attention.buckets_to_content": "S_Bc",
    "attention.position_to_content": "S_pc",
    "attention.biased": "S_b",
    "attention.masked": "S_m",
    "attention.weights": "A",
    "attention.mix": "M",
    "attention.out": "O",
    "ffn.hidden": "H",
    "ffn.active": "F",
    "ffn.gate": "G",
    "ffn.gated": "F_g",
    "ffn.out": "U",
    "sum_1": "R_1",
    "sum_2": "R_2",
    "scaled_1": "O_s",
    "scaled_2": "U_s",
    "relative": "B",
    "embeddings.token": "X_token",
    "embeddings.scaled": "X_scaled",
    "embeddings.segment": "X_segment",
    "embeddings.position": "X_position",
    "embeddings.sum": "X_sum",
    "embeddings.pixels": "P",
    "embeddings.patches": "X_patch",
    "embeddings.sequence": "X_sequence",
    "embeddings.neighbours_1": "T_1",
    "embeddings.convolved_1": "C_1",
    "embeddings.active_1": "G_1",
    "embeddings.neighbours_2": "T_2",
    "embeddings.convolved_2": "C_2",
    "embeddings.active_2": "X_sound",
    "pooler.token": "x_pooled",
    "pooler.dense": "z",
    "pooler.out": "p",
}
NORMS = {
    "norm_1": "1",
    "norm_2": "2",
    "embeddings.norm": "E",
    "relative_norm": "B",
    "final_norm": "F",
    "pooler.norm": "P",
    "head.norm": "H",
}
NORM_STEPS = {
    "mean": "mu",
    "variance": "variance",
    "mean_square": "variance",
    "normalised": "N",
    "gamma": "gamma",
    "beta": "beta",
}
OTHERS = {
    "tokens": "tokens",
    "segments": "segments",
    "image": "image",
    "frames": "frames",
    "attend": "attend",
    "E_relative": "E_B",
}


@dataclass(frozen=True)
class Equation:
    """One step as an equation, with the shape of what it gives."""

    number: int
    name: str
    left: str
    right: str
    shape: str

    def to_dict(self) -> dict[str, Any]:
        return {"number": self.number, "name": self.name, "left": self.left, "right": self.right, "shape": self.shape}


@dataclass(frozen=True)
class Section:
    """Equations that belong together; for layers, with the layers they hold for."""

    title: str
    equations: tuple[Equation, ...]
    layers: tuple[int, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        equations = [equation.to_dict() for equation in self.equations]
        return {"title": self.title, "layers": list(self.layers), "equations": equations}


@dataclass(frozen=True, repr=False)
class Notation(Result):
    """The forward pass as equations."""

    label: str
    program: Program
    pen: Pen
    sections: tuple[Section, ...]

    def __repr__(self) -> str:
        return f"<Notation of {self.label}: {len(self.rows)} equations, tokens as {self.pen.convention}>"

    @property
    def rows(self) -> tuple[Equation, ...]:
        return tuple(equation for section in self.sections for equation in section.equations)

    @property
    def latex(self) -> bool:
        return isinstance(self.pen, LatexPen)

    def to_dict(self) -> dict[str, Any]:
        return {
            "spec": self.program.spec.to_dict(),
            "label": self.label,
            "convention": self.pen.convention,
            "total": len(self.rows),
            "left_out": [],
            "sections": [section.to_dict() for section in self.sections],
            "rows": [equation.to_dict() for equation in self.rows],
        }


def notation(program: Program, pen: Pen | None = None, *, label: str = "spec") -> Notation:
    """The equations of a program; layers that are alike are written once."""
    pen = pen or TextPen()
    number = 0
    sections: list[Section] = []
    for title, steps, layers in _blocks(program):
        layer = layers[0] if layers else None
        equations = []
        for step in steps:
            number += 1
            equations.append(_equation(number, step, layer, program, pen))
        sections.append(Section(title, tuple(equations), tuple(layers)))
    return Notation(label, program, pen, tuple(sections))


def _blocks(program: Program) -> Iterable[tuple[str, list[Step], list[int]]]:
    """Title, steps and layers of each section: what comes before, each kind of layer once, what comes after."""
    layers: dict[int, list[Step]] = {}
    before: list[Step] = []
    after: list[Step] = []
    for step in program.steps:
        number = layer_of(step.name)
        if number is not None:
            layers.setdefault(number, []).append(step)
        else:
            (after if layers else before).append(step)
    if before:
        yield "Input", before, []
    kinds: dict[tuple[Any, ...], list[int]] = {}
    for number, steps in layers.items():
        kinds.setdefault(tuple((IN_LAYER.sub("", step.name), step.operation) for step in steps), []).append(number)
    for numbers in kinds.values():
        alike = f"Layer {numbers[0]}" if len(numbers) == 1 else f"Layers {_ranges(numbers)}, each with weights of its own"
        if len(numbers) > 1 and program.spec.share_layers is not None:
            alike = f"Layers {_ranges(numbers)}, sharing {program.spec.share_layers} set(s) of weights"
        yield alike, layers[numbers[0]], numbers
    if after:
        yield "Output", after, []


def _equation(number: int, step: Step, layer: int | None, program: Program, pen: Pen) -> Equation:
    last = program.spec.layers - 1
    names = [_symbol(tensor.name, layer, last, pen) for tensor in step.inputs]
    right = step.write(names, pen)
    return Equation(number, step.name, _symbol(step.name, layer, last, pen, left=True), right, _shape(step.output, pen))


def _symbol(name: str, layer: int | None, last: int, pen: Pen, *, left: bool = False) -> str:
    """The letter of a tensor. X_0 enters layer 0, X_l enters layer l, and layer l gives X_(l+1)."""
    if name == "x" or re.fullmatch(r"layers\.\d+\.out", name):
        if layer is None:
            return pen.symbol("X_0") if name == "x" else pen.symbol(f"X_{last + 1}")
        return _indexed_x("l+1" if left else "l", pen)
    words = name.split(".")
    if words[-1] in NORM_STEPS and len(words) > 1:
        return pen.symbol(f"{NORM_STEPS[words[-1]]}_{_norm_letter(words[:-1])}")
    key = ".".join(words[-2:])
    letter = LETTERS.get(key) or LETTERS.get(words[-1])
    if letter is None and (words[-1] in NORMS or key in NORMS):
        letter = f"Y_{_norm_letter(words)}"
    return pen.symbol(letter or OTHERS.get(words[-1], words[-1]))


def _indexed_x(index: str, pen: Pen) -> str:
    return f"X_{{\\ell{index[1:]}}}" if isinstance(pen, LatexPen) else f"X_{index}" if len(index) == 1 else f"X_{{{index}}}"


def _norm_letter(words: list[str]) -> str:
    return NORMS.get(".".join(words[-2:])) or NORMS.get(words[-1], "N")


def _shape(tensor: Tensor, pen: Pen) -> str:
    """`t × d_k = 512 × 64, each of 12 heads`."""
    matrix = as_matrix(tensor, pen.convention, one_head=True)
    sizes = " × ".join(f"{size}" for size in matrix.shape) or "1"
    heads = next((axis.size for axis in tensor.axes if axis.name in HEADS), 0)
    many = f", each of {heads} heads" if heads > 1 else ""
    return f"{matrix.formula} = {sizes}{many}"


def _ranges(numbers: list[int]) -> str:
    """`0 to 11`, or `1, 2, 4, 5`."""
    if len(numbers) > 2 and numbers == list(range(numbers[0], numbers[-1] + 1)):
        return f"{numbers[0]} to {numbers[-1]}"
    return ", ".join(str(number) for number in numbers)
