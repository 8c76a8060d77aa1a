"""The whole forward pass as numbered equations, as text or LaTeX, with tokens as rows or as columns."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import count
from typing import Any

from glassformer.algebra.result import Result
from glassformer.program import Program, Step, Tensor
from glassformer.program.axes import HEADS
from glassformer.program.formatter import Formatter, LatexFormatter, TextFormatter
from glassformer.program.matrices import as_matrix
from glassformer.program.roles import Block, BlockKind, Role
from glassformer.spec import EncoderSpec
from glassformer.spec.fields import MOST_SIZES

# Letters of step results as in papers, by role; other tensors use their symbol.
LETTERS: dict[Role, str] = {
    "token": "X_token",
    "scaled token": "X_scaled",
    "rescaled token": "X_rescaled",
    "segment": "X_segment",
    "position": "X_position",
    "embedding sum": "X_sum",
    "pixels": "P",
    "patch": "X_patch",
    "sequence": "X_sequence",
    "sound": "X_sound",
    "real sound": "X_real",
    "projected embedding": "X_projected",
    "stacked states": "X_states",
    "summed states": "X_sum",
    "query": "Q",
    "key": "K",
    "value": "V",
    "rotated query": "Q_r",
    "rotated key": "K_r",
    "rotated value": "V_r",
    "shared key": "K_g",
    "shared value": "V_g",
    "scores": "S",
    "global query": "Q_G",
    "global key": "K_G",
    "global value": "V_G",
    "local scores": "S_L",
    "global scores": "S_G",
    "local mix": "M_L",
    "global mix": "M_G",
    "capped scores": "S_c",
    "relative bias": "B",
    "relative query": "Q_B",
    "relative key": "K_B",
    "shared relative key": "K_Bg",
    "content to buckets": "S_cB",
    "content to position": "S_cp",
    "buckets to content": "S_Bc",
    "position to content": "S_pc",
    "biased scores": "S_b",
    "masked scores": "S_m",
    "weights": "A",
    "mix": "M",
    "attention output": "O",
    "mixed": "M",
    "ffn hidden": "H",
    "ffn activation": "F",
    "ffn gate": "G",
    "gated ffn activation": "F_g",
    "ffn output": "U",
    "scaled attention output": "O_s",
    "scaled cross output": "O_s",
    "scaled ffn output": "U_s",
    "attention residual": "R_1",
    "cross residual": "R_C",
    "ffn residual": "R_2",
    "bottleneck residual": "R_3",
    "convolution residual": "R_L",
    "scaled output": "Z_s",
    "uncapped logits": "L_u",
    "offset logits": "L_c",
    "pooled token": "x_pooled",
    "pooler hidden": "z",
    "pooled": "p",
}
NUMBERED: dict[Role, str] = {"neighbours": "T", "convolution": "C", "convolution activation": "G"}
# The letters of a norm and of its parameters, each with the index of the norm.
IN_NORM: dict[Role, str] = {
    "mean": "mu",
    "variance": "variance",
    "normalised": "N",
    "gamma": "gamma",
    "beta": "beta",
    "norm output": "Y",
}
NORM_INDEX = {
    "norm_1": "1",
    "norm_2": "2",
    "output_norm_1": "O1",
    "output_norm_2": "O2",
    "q_norm": "Q",
    "k_norm": "K",
    "relative_norm": "B",
    "feature_norm": "S",
    "final_norm": "F",
    "norm_cross": "C",
    "output_norm_cross": "OC",
    "token_norm": "T",
    "norm_3": "3",
    "norm_beside": "L",
    "norm_narrow": "N",
    "norm_asked": "A",
}
NORM_INDEX |= {f"norm_ffn_{number}": f"U{number}" for number in range(1, MOST_SIZES + 1)}
NORM_INDEX |= {f"conv_norm_{number}": f"C{number}" for number in range(1, MOST_SIZES + 1)}
NORM_INDEX_INSIDE: dict[BlockKind, str] = {"embeddings": "E", "pooler": "P", "head": "H"}


@dataclass(frozen=True)
class Equation:
    """One step as an equation, with the shape of its result."""

    number: int
    step: Step
    left: str
    right: str
    shape: str

    @property
    def name(self) -> str:
        return self.step.name

    def to_dict(self) -> dict[str, Any]:
        return {"number": self.number, "name": self.name, "left": self.left, "right": self.right, "shape": self.shape}


@dataclass(frozen=True)
class Section:
    """A group of equations; for layers, with the numbers of the layers that they apply to."""

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
    formatter: Formatter
    sections: tuple[Section, ...]

    def __repr__(self) -> str:
        return f"<Notation of {self.label}: {len(self.rows)} equations, tokens as {self.formatter.convention}>"

    @property
    def rows(self) -> tuple[Equation, ...]:
        return tuple(equation for section in self.sections for equation in section.equations)

    @property
    def latex(self) -> bool:
        return isinstance(self.formatter, LatexFormatter)

    def to_dict(self) -> dict[str, Any]:
        return {
            "spec": self.program.spec.to_dict(),
            "label": self.label,
            "convention": self.formatter.convention,
            "total": len(self.rows),
            "left_out": [],
            "sections": [section.to_dict() for section in self.sections],
            "rows": [equation.to_dict() for equation in self.rows],
        }


def notation(program: Program, formatter: Formatter | None = None, *, label: str = "spec") -> Notation:
    """Return the equations of a program; identical layers are written once."""
    formatter = formatter or TextFormatter()
    letters, numbers = _Letters(program, formatter), count(1)
    sections: list[Section] = []
    for title, steps, layers in _blocks(program):
        layer = layers[0] if layers else None
        equations = tuple([letters.equation(next(numbers), step, layer) for step in steps])
        sections.append(Section(title, equations, tuple(layers)))
    return Notation(label, program, formatter, tuple(sections))


def _blocks(program: Program) -> Iterable[tuple[str, list[Step], list[int]]]:
    """Title, steps and layers of each section, stack by stack."""
    stacks: dict[str, list[Step]] = {}
    for step in program.steps:
        stacks.setdefault(step.block.stack or ("decoder" if program.sizes.u is not None else ""), []).append(step)
    for stack, steps in stacks.items():
        yield from _of_stack(stack, steps, program.spec_of(steps[0].block))


def _of_stack(stack: str, steps: list[Step], spec: EncoderSpec) -> Iterable[tuple[str, list[Step], list[int]]]:
    """The sections of a stack: before the layers, each kind of layer once, after the layers."""
    of_stack = f"{stack.capitalize()} " if stack else ""
    layers: dict[int, list[Step]] = {}
    before: list[Step] = []
    after: list[Step] = []
    for step in steps:
        number = step.block.layer
        if number is not None:
            layers.setdefault(number, []).append(step)
        else:
            (after if layers else before).append(step)
    if before:
        yield f"{of_stack}input".capitalize(), before, []
    kinds: dict[tuple[Any, ...], list[int]] = {}
    for number, inside in layers.items():
        kinds.setdefault(tuple((step.block.any_layer, step.output.symbol, step.operation) for step in inside), []).append(number)
    for numbers in kinds.values():
        alike = f"layer {numbers[0]}" if len(numbers) == 1 else f"layers {_ranges(numbers)}, each with its own weights"
        if len(numbers) > 1 and spec.share_layers is not None:
            alike = f"layers {_ranges(numbers)}, sharing {spec.share_layers} set(s) of weights"
        yield f"{of_stack}{alike}".capitalize(), layers[numbers[0]], numbers
    if after:
        yield f"{of_stack}output".capitalize(), after, []


class _Letters:
    """The letters of the tensors of a program."""

    def __init__(self, program: Program, formatter: Formatter) -> None:
        self.formatter = formatter
        self.steps = program.step_of
        self.target = program.sizes.u is not None
        self.source = {tensor.name for tensor in program.inputs[:1]}

    def equation(self, number: int, step: Step, layer: int | None) -> Equation:
        names = [self.of(tensor, layer, step.block.stack) for tensor in step.inputs]
        left = self.of(step.output, layer, step.block.stack, left=True)
        return Equation(number, step, left, step.write(names, self.formatter), _shape(step.output, self.formatter))

    def of(self, tensor: Tensor, layer: int | None, stack: str = "", *, left: bool = False) -> str:
        """The letter of a tensor. X_0 enters layer 0, X_l enters layer l, and layer l gives X_(l+1); in a decoder, Z_l."""
        if tensor.hidden:
            letter = "Z" if self.target and tensor.block.stack != "encoder" and tensor.name not in self.source else "X"
            if layer is not None and tensor.block.stack in (stack, ""):
                return self.indexed(letter, "l+1" if left else "l")
            return self.formatter.symbol(f"{letter}_0" if tensor.block.layer is None else f"{letter}_{tensor.block.layer + 1}")
        if tensor.role in IN_NORM:
            return self.formatter.symbol(f"{IN_NORM[tensor.role]}_{_norm_index(tensor.block)}")
        if tensor.role == "relative table":
            return self.formatter.symbol("E_B")
        known = LETTERS.get(tensor.role) if tensor.name in self.steps else None
        if tensor.role in NUMBERED and tensor.name in self.steps:  # several of a kind: `C_2` is the second convolution
            known = f"{NUMBERED[tensor.role]}_{tensor.symbol.rpartition('_')[2]}"
        return self.formatter.symbol(known or tensor.symbol)

    def indexed(self, letter: str, index: str) -> str:
        if isinstance(self.formatter, LatexFormatter):
            return f"{letter}_{{\\ell{index[1:]}}}"
        return f"{letter}_{index}" if len(index) == 1 else f"{letter}_{{{index}}}"


def _norm_index(block: Block) -> str:
    if block.kind != "norm" or block.above is None:  # the mean over positions
        return "N"
    if block.word == "final_norm" and block.stack == "decoder":  # the encoder's letters are in use, since the decoder reads them
        return "D"
    return NORM_INDEX.get(block.word) or NORM_INDEX_INSIDE[block.above.kind]


def _shape(tensor: Tensor, formatter: Formatter) -> str:
    """`t × d_k = 512 × 64, each of 12 heads`."""
    matrix = as_matrix(tensor, formatter.convention, one_head=True)
    sizes = " × ".join(f"{size}" for size in matrix.shape) or "1"
    heads = next((axis.size for axis in tensor.axes if axis.name in HEADS), 0)
    many = f", each of {heads} heads" if heads > 1 else ""
    return f"{matrix.formula} = {sizes}{many}"


def _ranges(numbers: list[int]) -> str:
    """`0 to 11`, or `1, 2, 4, 5`."""
    if len(numbers) > 2 and numbers == list(range(numbers[0], numbers[-1] + 1)):
        return f"{numbers[0]} to {numbers[-1]}"
    return ", ".join(str(number) for number in numbers)
