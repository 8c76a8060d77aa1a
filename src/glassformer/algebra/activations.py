"""Activations in memory: which results a pass stores, and their bytes, for any implementation."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import NamedTuple

from glassformer.algebra.gradients import Gradients, is_dropped, layers_of
from glassformer.program import Program, Tensor
from glassformer.program.kept import MemoryModel
from glassformer.program.operations import PatchBias, PickByDistance, RelativeBias
from glassformer.program.roles import Role

INDEX_BYTES = 8  # token ids and rows of relative tables are 64-bit integers
STATISTIC_BYTES = 4  # kernels keep a norm's mean and variance, and a softmax's log-sum, in float32
LOSS_BYTES = 12  # for each logit: its log-probability, and the gradients of that and of itself, in float32
BY_DISTANCE = (PatchBias, PickByDistance, RelativeBias)  # operations that select rows of a relative table

IN_KERNEL: tuple[Role, ...] = (
    "scores",
    "capped scores",
    "biased scores",
    "masked scores",
    "weights",
)  # never written by a fused kernel
STATISTICS: tuple[Role, ...] = ("mean", "variance")


class Saved(NamedTuple):
    """Bytes that are saved for the backward pass, and the first step that needs them; the backward pass frees them there."""

    size: int
    step: int


@dataclass(frozen=True)
class Activations:
    """The memory of a program's results in an implementation, with `width` bytes per number."""

    program: Program
    memory_model: MemoryModel
    width: int
    predicted_share: Fraction = Fraction(1)  # share of the positions that the head reads: see `prediction_steps`

    @cached_property
    def shares(self) -> dict[str, Fraction]:
        """Step -> share of the positions, for steps computed only at the positions that the head reads."""
        return dict.fromkeys(prediction_steps(self.program, self.memory_model), self.predicted_share)

    @cached_property
    def gradients(self) -> Gradients:
        """What the backward pass reaches and needs."""
        return Gradients(self.program)

    @cached_property
    def unfused(self) -> set[str]:
        """The attention steps that are not fused in training: those with a learned bias, or with dropout on a CPU."""
        if not self.memory_model.unfused_score_bytes:
            return set()
        biased = set()
        for step in self.program.steps:
            learned = self.program.spec_of(step.block).relative
            dropped = self.memory_model.unfused_with_dropout and self.program.spec_of(step.block).dropout > 0
            if (step.role == "biased scores" and learned) or (step.role == "scores" and dropped):
                biased.add(step.block.name)
        return {step.name for step in self.program.steps if step.role in (*IN_KERNEL, "mix") and step.block.name in biased}

    @cached_property
    def in_kernel(self) -> set[str]:
        """The steps whose results are never written to memory."""
        return (
            {step.name for step in self.program.steps if step.role in IN_KERNEL} if self.memory_model.fused_attention else set()
        )

    def saved(self) -> dict[str, Saved]:
        """The tensors that the backward pass needs, each counted once; of recomputed layers, the inputs and one whole layer."""
        return self._of_layers(self._saved()) if self.memory_model.recomputes_layers else self._saved()

    def _of_layers(self, saved: dict[str, Saved]) -> dict[str, Saved]:
        """The same with recomputed layers: the input of each layer, and once the other tensors of the largest layer."""
        program, found = self.program, dict(saved)
        first = {id(step): number for number, step in enumerate(program.steps)}
        held = {parameter.name for parameter in program.parameters}
        largest, start = 0, len(program.steps)
        for steps in layers_of(program).values():
            if not any(self.gradients.reach(step.output) for step in steps):
                continue
            made, begin = {step.name for step in steps}, first[id(steps[0])]
            inner = [name for name in saved if name.partition(": ")[0] in made]
            largest = max(largest, sum(found.pop(name).size for name in inner))
            entered = [tensor for tensor in steps[0].inputs[:1] if tensor.name not in held]
            found |= {tensor.name: Saved(self._bytes(tensor, index=False), begin) for tensor in entered}
            start = min(start, begin)
        return found | ({"one recomputed layer": Saved(largest, start)} if largest else {})

    def _saved(self) -> dict[str, Saved]:
        """The tensors that the backward pass needs, each counted once."""
        program, inside = self.program, self.in_kernel - self.unfused
        inside |= {step.name for step in program.steps if step.role in self.memory_model.recomputed}
        inputs = {tensor.name for tensor in program.inputs}
        held = inside | {parameter.name for parameter in program.parameters}
        saved: dict[str, Saved] = {}
        fused: set[str] = set()
        for number, step in enumerate(program.steps):
            for tensor in () if step.name in self.unfused else self.gradients.saved(step):
                if tensor.name in held or tensor.name in saved:
                    continue
                size = self._bytes(tensor, index=tensor.name in inputs and len(tensor.axes) == 2)
                saved[tensor.name] = Saved(int(size * self.shares.get(tensor.name, 1)), number)
            if not self.gradients.reach(step.output):
                continue
            if step.role == "weights" and step.name in inside:
                # The fused kernel recomputes scores from q and k, and keeps one log-sum for each row of them,
                # and the result of the mix, to which the backward pass compares.
                saved[step.name] = Saved(STATISTIC_BYTES * (step.output.size // step.output.axes[-1].size), number)
                fused.add(step.name)
            if step.role == "mix" and step.inputs[0].name in fused:
                saved.setdefault(step.name, Saved(self._bytes(step.output, index=False), number))
            if program.spec_of(step.block).dropout and step.name not in inside | self.unfused and is_dropped(step):
                mask = int(self.memory_model.mask_bytes * step.output.size * self.shares.get(step.name, 1))
                saved[f"{step.name}: dropout mask"] = Saved(mask, number)
        return saved | self._saved_beside(saved) | self._saved_by_distance()

    def _saved_by_distance(self) -> dict[str, Saved]:
        """The bytes added by a learned relative bias: the row of each (query, key) pair, and what its attention saves.

        Without a fused kernel these are the weights and copies of queries, keys and values; with one, the bias.
        Dropout saves its mask and its result.
        """
        saved: dict[str, Saved] = {}
        precise = max(self.width, self.memory_model.unfused_score_bytes)
        for number, step in enumerate(self.program.steps):
            if isinstance(step.operation, BY_DISTANCE) and self.memory_model.holds_rows_by_distance:
                saved.setdefault("rows by distance", Saved(self._rows_by_distance, number))
            elif step.name in self.unfused:
                for tensor in self.gradients.saved(step):
                    copies = 3 if self.program.spec_of(step.block).dropout and tensor.role == "weights" else 1
                    saved.setdefault(f"{tensor.name}: written out", Saved(copies * precise * tensor.size, number))
            elif step.role == "biased scores" and self.memory_model.fused_attention:
                bias = step.output if self.program.spec.disentangled else step.inputs[1]  # all layers may share the bias
                saved.setdefault(f"{bias.name}: handed over", Saved(self.width * bias.size, number))
        return saved

    def _saved_beside(self, saved: dict[str, Saved]) -> dict[str, Saved]:
        """Views of one tensor: if one is saved, so are the others, even those that are only read after a rotation."""
        made = {step.name: step.output for step in self.program.steps}
        beside: dict[str, Saved] = {}
        for parts in self._of_one_tensor:
            freed = [saved[name].step for name in parts if name in saved]
            if freed:
                beside |= {name: Saved(self._bytes(made[name], index=False), min(freed)) for name in parts if name not in saved}
        return beside

    def backward_peak(self, saved: dict[str, Saved], gradient: int) -> int:
        """Return the peak of the backward pass, in which saved tensors are freed while gradients of weights are allocated.

        `gradient` is the bytes of a weight's gradient.
        """
        program, inside = self.program, self.in_kernel - self.unfused
        trained = {one.name: one.size for one in program.parameters if not one.frozen and self.gradients.reach(one.tensor)}
        freed: dict[int, int] = {}
        for size, number in saved.values():
            freed[number] = freed.get(number, 0) + size
        alive = sum(freed.values())
        most = alive
        if program.spec.head != "none" or program.spec.predicts_next:
            last = program.steps[-1]
            most += int(LOSS_BYTES * last.output.size * self.shares.get(last.name, 1))
        for number in range(len(program.steps) - 1, -1, -1):
            step = program.steps[number]
            alive += gradient * sum(trained.pop(tensor.name, 0) for tensor in step.inputs)
            passing = [tensor for tensor in (step.output, *step.inputs[:1]) if tensor.name not in inside]
            width = max(self.width, self.memory_model.unfused_score_bytes) if step.name in self.unfused else self.width
            flowing = sum(int(width * tensor.size * self.shares.get(step.name, 1)) for tensor in passing)
            most = max(most, alive + flowing)
            alive -= freed.get(number, 0)
        return most

    def most_alive(self) -> int:
        """Return the peak of the forward pass; a result is alive from the step that computes it to the last that reads it."""
        program, in_place = self.program, self.memory_model.in_place(self.program.spec)
        last_use = {tensor.name: number for number, step in enumerate(program.steps) for tensor in step.inputs}
        last_use |= self._layer_inputs | {
            name: max(last_use[part] for part in parts) for parts in self._of_one_tensor for name in parts
        }
        parameters = {parameter.name for parameter in program.parameters}
        sizes = {tensor.name: self._bytes(tensor, index=len(tensor.axes) == 2) for tensor in program.inputs}
        alive = sum(sizes.values()) + (self._rows_by_distance if self.memory_model.holds_rows_by_distance else 0)
        most = alive
        ends: dict[int, list[str]] = {}
        for name, number in last_use.items():
            if name not in parameters:
                ends.setdefault(number, []).append(name)
        for number, step in enumerate(program.steps):
            if step.role in in_place:
                sizes[step.name] = sizes.pop(step.inputs[0].name)
            elif step.name not in self.in_kernel:
                sizes[step.name] = self._bytes(step.output, index=False)
                alive += sizes[step.name]
                most = max(most, alive)
            alive -= sum(sizes.pop(name, 0) for name in ends.get(number, ()))
        return most

    @cached_property
    def _layer_inputs(self) -> dict[str, int]:
        """The input of each layer, and the last step of that layer, after which it is freed."""
        layers: dict[str, list[int]] = {}
        for number, step in enumerate(self.program.steps):
            if step.block.layer is not None and self.memory_model.holds_layer_input:
                layers.setdefault(step.block.layer_name, []).append(number)
        parameters = {parameter.name for parameter in self.program.parameters}
        ends = [(self.program.steps[numbers[0]], numbers[-1]) for numbers in layers.values()]
        return {tensor.name: last for first, last in ends for tensor in first.inputs if tensor.name not in parameters}

    @cached_property
    def _of_one_tensor(self) -> list[list[str]]:
        """The names of the results that are views of one tensor, by block."""
        found: dict[str, list[str]] = {}
        for step in self.program.steps:
            if step.role in self.memory_model.one_tensor and step.block.layer is not None:
                found.setdefault(step.block.name, []).append(step.name)
        return list(found.values())

    @property
    def _rows_by_distance(self) -> int:
        """The bytes of the row numbers of a relative table for all (query, key) pairs, which all layers share."""
        squares = [step.output.axes[-2:] for step in self.program.steps if isinstance(step.operation, BY_DISTANCE)]
        return INDEX_BYTES * squares[0][0].size * squares[0][1].size if squares else 0

    def _bytes(self, tensor: Tensor, *, index: bool) -> int:
        if index:
            return tensor.size * INDEX_BYTES
        return tensor.size * (max(STATISTIC_BYTES, self.width) if tensor.role in STATISTICS else self.width)


def prediction_steps(program: Program, memory_model: MemoryModel) -> list[str]:
    """Return the steps computed only at the positions that the head reads: the head, or all steps by position after some step.

    A masked-token head reads the masked positions; a classifier of the first token reads one.
    """
    if program.spec.head != "mlm" and not (program.spec.reads_one_token and program.spec.block == "layer"):
        return []
    last = [number for number, step in enumerate(program.steps) if step.role == memory_model.predicts_after][-1:]
    if not last:
        return [step.name for step in program.steps if step.block.part == "head" and program.spec.head == "mlm"]
    return [step.name for step in program.steps[last[0] + 1 :] if any(axis.name == "t" for axis in step.output.axes)]
