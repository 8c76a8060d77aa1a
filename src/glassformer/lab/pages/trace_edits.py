"""What somebody changed in a run: a number, a head, a word; read from the address, and everything after it run again."""

from __future__ import annotations

import math
import re
from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from glassformer.errors import GlassformerError, shown
from glassformer.lab.cells import read_cell
from glassformer.numbers import Difference, Run
from glassformer.numbers.inputs import checked_inputs
from glassformer.numbers.keep import KeptValues
from glassformer.numbers.values import Replaced
from glassformer.program import build
from glassformer.program.axes import Array
from glassformer.spec import Seq2SeqSpec

MOST_EDITS = 64
HEAD = re.compile(r"(encoder\.|decoder\.)?(\d{1,5})(\.cross)?\.(\d{1,5})")
Patch: TypeAlias = Callable[[Array], Array]


@dataclass(frozen=True)
class Edit:
    """One change: the tensor, what happens to its value, and how it is said."""

    tensor: str
    patch: Patch
    words: str


def masks(edits: Sequence[str]) -> bool:
    """Whether a word is masked: then the run must have a mask to begin with."""
    return any(edit.startswith("mask:") for edit in edits)


def with_mask(run: Run) -> Run:
    """The same run with a mask that lets everything through: no number moves, and there is a mask to change."""
    _require_whole(run)
    spec, sizes = run.program.spec, run.program.sizes
    program = build(spec, batch=sizes.batch, t=None if spec.one_length else sizes.t, u=sizes.u, padded=True)
    masks = {tensor.name: np.ones(tensor.shape, dtype=bool) for tensor in program.inputs if tensor.role == "attend"}
    values = run.values | masks
    for step in program.steps:
        if step.name not in values:  # a masked copy of the scores; all the rest is as it was
            values[step.name] = step.evaluate(values)
    return Run(program, values, tokens=run.tokens, target=run.target, replaced=run.replaced)


def edited(run: Run, texts: Sequence[str]) -> tuple[Difference[Run], list[Edit]]:
    """The run before and after all changes. A changed number stays what it was changed to, whatever changes before it."""
    _require_whole(run)
    if len(texts) > MOST_EDITS:
        raise GlassformerError(f"{len(texts)} changes are too many: at most {MOST_EDITS} at once.")
    edits = [_read(run, text) for text in texts]
    patches: dict[str, list[Patch]] = defaultdict(list)
    for edit in edits:
        patches[edit.tensor].append(edit.patch)
    values = run.values.copy()
    replaced: dict[str, Replaced] = {}

    def patch(name: str) -> None:
        rule_gives = values[name]
        values[name] = _patched(rule_gives, patches[name])
        replaced[name] = Replaced(values[name] != rule_gives, run.values[name])

    steps = run.program.step_of
    touched = dict.fromkeys(name for name in patches if name not in steps)
    for name in touched:
        patch(name)
    _check_inputs(run, values, touched)
    rerun = []
    for step in run.program.steps:
        if any(tensor.name in touched for tensor in step.inputs):
            values[step.name] = step.evaluate(values)
            touched[step.name] = None
            rerun.append(step.name)
        if step.name in patches:
            patch(step.name)
            touched[step.name] = None
    after = Run(run.program, values, tokens=_words(run, texts), target=_target(run, texts), replaced=replaced)
    return Difference(run, after, tuple(patches), tuple(name for name in rerun if name not in patches)), edits


def _patched(value: Array, patches: Sequence[Patch]) -> Array:
    value = value.copy()
    for patch in patches:
        value = patch(value)
    return value


def _read(run: Run, text: str) -> Edit:
    kind, _, rest = text.partition(":")
    if kind == "drop":
        return _drop(run, text, rest)
    if kind == "mask":
        place = _place(run, rest, text)
        return Edit("attend", lambda value: _set(value, (0, place), number=0), f"{_word(run, place)} masked")
    if kind == "swap":
        return _swap(run, text, rest)
    cell, equals, number = text.rpartition("=")
    name, where = read_cell(run, cell if equals and cell.endswith("]") else text)
    new = _number(number, text)
    index = run.tensor(name).at(where)
    short = name if name in run.program.step_of or "." in name else f"input {name}"
    at = ", ".join(f"{axis} {place}" for axis, place in where.items() if axis != "batch")
    return Edit(name, lambda value: _set(value, index, number=new), f"{short}[{at}] = {new:g}".replace("-", "−"))


def _drop(run: Run, text: str, rest: str) -> Edit:
    found = HEAD.fullmatch(rest)
    stack, layer, cross, head = found.groups(default="") if found else ("", "", "", "")
    name = f"{stack}layers.{layer}.{'cross' if cross else 'attention'}.mix"
    step = run.program.step_of.get(name)
    heads = next((axis.size for axis in step.output.axes if axis.name == "head"), 0) if step is not None else 0
    if not found or int(head) >= heads:
        spec = run.program.spec
        if isinstance(spec, Seq2SeqSpec):
            rule = "write one as drop:encoder.0.1, drop:decoder.0.1 or drop:decoder.0.cross.1 (layer and head, from 0)."
        else:
            rule = f"this encoder has layers 0 to {spec.layers - 1} and heads 0 to {spec.heads - 1}."
        raise GlassformerError(f"'{shown(text)}' is not a head: {rule}")

    def silence(value: Array) -> Array:
        value[:, :, int(head)] = 0.0
        return value

    where = {"encoder.": " of the encoder", "decoder.": " of the decoder"}.get(stack, "")
    return Edit(name, silence, f"{'cross-attention ' if cross else ''}head {head} of layer {layer}{where} ablated")


def _swap(run: Run, text: str, rest: str) -> Edit:
    first, _, second = rest.partition(",")
    if run.program.spec.reads == "image":
        raise GlassformerError(f"'{shown(text)}' cannot be applied: image patches cannot be swapped.")
    one, other = _place(run, first, text), _place(run, second, text)

    def swap(value: Array) -> Array:
        value[0, [one, other]] = value[0, [other, one]]
        return value

    return Edit(run.program.inputs[0].name, swap, f"{_word(run, one)} and {_word(run, other)} swapped")


def _words(run: Run, texts: Sequence[str]) -> list[list[str]] | None:
    """The words where they stand after swaps; a token number that was typed in has no word of its own."""
    if run.tokens is None:
        return None
    words = list(run.tokens[0])
    for text in texts:
        if text.startswith("swap:"):
            one, other = (int(place) for place in text.removeprefix("swap:").split(","))
            words[one], words[other] = words[other], words[one]
        elif text.startswith("tokens["):
            cell, _, number = text.rpartition("=")
            words[read_cell(run, cell)[1]["t"]] = f"[{number}]"
    return [words]


def _target(run: Run, texts: Sequence[str]) -> list[list[str]] | None:
    """The words that the decoder reads; a token number that was typed in has no word of its own."""
    if run.target is None:
        return None
    words = list(run.target[0])
    for text in texts:
        if text.startswith("target["):
            cell, _, number = text.rpartition("=")
            words[read_cell(run, cell)[1]["u"]] = f"[{number}]"
    return [words]


def _set(value: Array, index: tuple[int, ...], *, number: float) -> Array:
    value[index] = number
    return value


def _number(text: str, edit: str) -> float:
    try:
        number = float(text.replace("−", "-").strip()) if len(text) < 40 else math.nan
    except ValueError:
        number = math.nan
    if not math.isfinite(number):
        raise GlassformerError(f"'{shown(edit)}' cannot be set: {shown(text) or 'nothing'} is not a finite number.")
    return number


def _place(run: Run, text: str, edit: str) -> int:
    length = run.program.sizes.t
    if not text.isdecimal() or len(text) > 9 or int(text) >= length:
        raise GlassformerError(f"'{shown(edit)}' is not a token: this run has tokens 0 to {length - 1}.")
    return int(text)


def _word(run: Run, place: int) -> str:
    words = run.tokens[0] if run.tokens else []
    return f'"{shown(words[place])}" ({place})' if place < len(words) else f"token {place}"


def _check_inputs(run: Run, values: dict[str, Array], touched: dict[str, None]) -> None:
    """What was typed into an input must be something that could have gone in."""
    changed = [tensor.name for tensor in run.program.inputs if tensor.name in touched and tensor.role != "attend"]
    if changed:
        given = {tensor.name: values[tensor.name] for tensor in run.program.inputs if tensor.role != "attend"}
        dict(checked_inputs(run.program, given))


def _require_whole(run: Run) -> None:
    if isinstance(run.values, KeptValues):
        raise GlassformerError("this run is too large to keep in full, so it cannot be changed: use a shorter text.")
