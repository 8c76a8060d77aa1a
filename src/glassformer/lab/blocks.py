"""The encoder as blocks inside blocks, for a picture that opens on click; show/diagram.py has the fixed one of the report."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import groupby
from typing import Any

from glassformer.algebra.notation import Equation, Notation, Section
from glassformer.program import Program
from glassformer.program.axes import layer_of
from glassformer.show.palette import part_of

TITLES = {
    "embeddings": "embedding",
    "attention": "attention",
    "ffn": "feed-forward",
    "norm": "norm",
    "norm_1": "norm",
    "norm_2": "norm",
    "final_norm": "final norm",
    "sum_1": "add",
    "sum_2": "add",
    "sum": "add",
    "scaled_1": "layer scale",
    "scaled_2": "layer scale",
    "pooler": "pooler",
    "head": "head",
    "relative": "relative bias",
    "relative_norm": "relative table, normalised",
}


def blocks(program: Program, notation: Notation) -> dict[str, Any]:
    """Blocks in the order in which they are computed; layers that are alike are one block with its number of layers."""
    reader = _Reader(program)
    found = [block for section in notation.sections for block in reader.section(section)]
    inputs = [{"name": tensor.name, "axes": [list(axis) for axis in tensor.axes]} for tensor in program.inputs]
    return {"inputs": inputs, "blocks": found}


class _Reader:
    def __init__(self, program: Program) -> None:
        self.program = program
        self.sizes = {parameter.name: parameter.size for parameter in program.parameters}

    def section(self, section: Section) -> list[dict[str, Any]]:
        """A layer is one block; what stands before and after is a block for each first word of its names."""
        numbers = section.layers
        known = 2 if numbers else 1  # layers.0.…, or a step that all layers share: layers.relative_norm
        paths = ((self.path(step, skip=known if step.name.startswith("layers.") else 0), step) for step in section.equations)
        inner = self.blocks(list(paths))
        if not numbers:
            return [self._with_unread(block) for block in inner]
        title = f"layer {numbers[0]}" if len(numbers) == 1 else f"{len(numbers)} layers"
        made = self.block(f"layers.{numbers[0]}", title, "layer", section.equations, inner)
        owned = tuple(f"layers.{self.program.spec.layer_weights(number)}." for number in numbers)
        made["parameters"] = self._below(*owned)
        return [made | {"times": len(numbers), "last": numbers[-1], "about": section.title}]

    def _with_unread(self, block: dict[str, Any]) -> dict[str, Any]:
        """An outermost block holds all that bears its first word, read by a step or not (a mask token, a spare bias)."""
        word = "embeddings" if block["name"] == "x" else block["name"].partition(".")[0]
        return block if word == "layers" else block | {"parameters": self._below(f"{word}.")}

    def _below(self, *places: str) -> int:
        return sum(size for tensor, size in self.sizes.items() if tensor.startswith(places))

    def path(self, step: Equation, *, skip: int) -> list[str]:
        """The blocks around a step, outermost first; the first `skip` words (`layers.0`) are known already."""
        inputs = [tensor.name for tensor in self.program.step_of[step.name].inputs if tensor.name in self.program.step_of]
        words = step.name.split(".")
        if any(name.startswith(f"{step.name}.") for name in inputs):  # a norm's last step bears the norm's name
            return words[skip:]
        # The last step of a block may go by the name of what it is for the rest of the program: x, layers.0.out.
        last_of = [name.split(".")[:-1] for name in inputs if name.endswith((".normalised", ".attention.mix"))]
        if words[-1] in ("x", "out") and last_of:
            return last_of[0][skip:]
        return ["embeddings"] if step.name == "x" else words[skip:-1]

    def blocks(self, steps: Sequence[tuple[list[str], Equation]], around: tuple[str, ...] = ()) -> list[dict[str, Any]]:
        """Neighbours inside the same block become that block; a step that stands alone stays a step."""
        made = []
        for word, group in groupby(steps, key=lambda item: item[0][0] if item[0] else item[1].name):
            inside = [(path[1:], step) for path, step in group]
            equations = [step for _, step in inside]
            if len(equations) == 1:
                known = word if word in TITLES else word.rpartition(".")[2]
                known = "sum_2" if re.fullmatch(r"layers\.\d+\.out", word) and not around else known
                made.append(self.step(equations[0]) | {"title": TITLES.get(known, known)})
                continue
            place = re.findall(r"^layers(?=\.)|(?<=^layers\.)\d+", equations[0].name)
            name = ".".join([*place, *around, word])
            made.append(self.block(name, TITLES.get(word, word), part_of(name), equations, self.blocks(inside, (*around, word))))
        return made

    def block(self, name: str, title: str, part: str, steps: Sequence[Equation], inner: list[dict[str, Any]]) -> dict[str, Any]:
        end = steps[-1]
        return {
            "name": name,
            "output": end.name,
            "title": title,
            "part": part,
            "parameters": self._parameters(steps),
            "shape": end.shape,
            "inputs": self._inputs(steps),
            "blocks": inner,
        }

    def step(self, equation: Equation) -> dict[str, Any]:
        made = self.block(equation.name, equation.name.rpartition(".")[2], part_of(equation.name), [equation], [])
        return made | {"left": equation.left, "right": equation.right}

    def _parameters(self, steps: Sequence[Equation]) -> int:
        """A tied table belongs to the embeddings, although the head reads it: a block counts what bears its own first word."""
        place = "embeddings" if steps[0].name == "x" else steps[0].name.partition(".")[0]
        used = {tensor.name for step in steps for tensor in self.program.step_of[step.name].inputs}
        inside = layer_of(steps[0].name) is not None  # of a layer, which may read a table that belongs to all of them
        own = [name for name in used if name.startswith(f"{place}.") and (not inside or layer_of(name) is not None)]
        return sum(self.sizes.get(name, 0) for name in own)

    def _inputs(self, steps: Sequence[Equation]) -> list[str]:
        """What comes in from outside, parameters left out."""
        own = {step.name for step in steps}
        used = [tensor.name for step in steps for tensor in self.program.step_of[step.name].inputs]
        return [name for name in dict.fromkeys(used) if name not in own and name not in self.sizes]
