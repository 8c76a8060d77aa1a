"""The parameter ledger: every tensor with its axes, formula and count, and the convention of the count."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from glassformer.algebra.parts import PARTS, part_names, selector
from glassformer.algebra.result import Result
from glassformer.algebra.rows import Line, Row, folded
from glassformer.algebra.subtotals import Subtotal, biases_of_matrices, largest, path_of, tree
from glassformer.errors import GlassformerError
from glassformer.program import Parameter, Program, Tensor, build
from glassformer.spec import EncoderSpec

ALL_ELSE = "all else"  # what `only` leaves out


@dataclass(frozen=True)
class LeftOut:
    """A part that a convention leaves out, and its size (without tensors that an earlier part already removed)."""

    part: str
    count: int
    tensors: int

    def to_dict(self) -> dict[str, Any]:
        meaning = PARTS[self.part][0] if self.part in PARTS else self.part
        return {"part": self.part, "meaning": meaning, "count": self.count, "tensors": self.tensors}


@dataclass(frozen=True, repr=False)
class Count(Result):
    """A parameter count: how many, in which tensors, under which convention."""

    label: str
    spec: EncoderSpec
    rows: tuple[Row, ...]
    left_out: tuple[LeftOut, ...] = ()
    only: tuple[str, ...] = ()

    def __repr__(self) -> str:
        return f"<Count of {self.label}: {self.total:,} parameters in {len(self.rows)} tensors>"

    @cached_property
    def total(self) -> int:
        return sum(row.count for row in self.rows)

    @cached_property
    def full(self) -> int:
        """The count without anything left out."""
        return self.total + sum(item.count for item in self.left_out)

    @cached_property
    def trainable(self) -> int:
        return sum(row.count for row in self.rows if not row.frozen)

    @cached_property
    def parts(self) -> dict[str, int]:
        """Total per part: embeddings, layers, pooler, head, ..."""
        return _totals((row.part, row.count) for row in self.rows)

    @cached_property
    def kinds(self) -> dict[str, int]:
        """Total per kind of tensor: weights, biases, norms, tables, ..."""
        return _totals((row.kind, row.count) for row in self.rows)

    @cached_property
    def layers(self) -> dict[int | str, int]:
        """Total per layer: by number, or by name (`decoder.layers.0`) where there are two stacks."""
        return _totals(
            (row.tensor.block.layer_name if row.tensor.block.stack else row.layer, row.count)
            for row in self.rows
            if row.layer is not None
        )

    @cached_property
    def layer_parts(self) -> dict[str, int]:
        """Total per part of a layer, over all layers: attention, ffn, norm_1, norm_2, ..."""
        return _totals((_part_of_layer(row.tensor), row.count) for row in self.rows if row.layer is not None)

    @cached_property
    def lines(self) -> tuple[Line, ...]:
        """The ledger with identical layers combined."""
        return folded(self.rows)

    @cached_property
    def subtotals(self) -> tuple[Subtotal, ...]:
        """The lines as a tree: parts, sub-parts (attention, qkv, ffn, ...), and each matrix with its bias."""
        return tree(self.lines)

    @cached_property
    def largest(self) -> tuple[Subtotal, ...]:
        """The largest of embeddings, attention, ffn, norms, pooler, head; several if they are equal."""
        return largest(self.subtotals)

    @property
    def without(self) -> tuple[str, ...]:
        """The names of the parts that were left out."""
        return tuple(item.part for item in self.left_out if item.part != ALL_ELSE)

    @property
    def convention(self) -> str:
        """One sentence that states what is counted and what is not."""
        once = "; a tensor used twice is counted once" if any(row.also for row in self.rows) else ""
        once += (
            f"; {self.spec.patches} whole patches{self.spec.cut_off}" if self.spec.reads == "image" and self.spec.cut_off else ""
        )
        frozen = self.total - self.trainable
        stored = f"; {frozen:,} of them stored but not trained" if frozen else ""
        words = {"only": self.only, "without": self.without}
        chosen = ", ".join(f"{word} {', '.join(parts)}" for word, parts in words.items() if parts)
        if chosen:
            return f"{chosen}, of {self.full:,} in all{once}{stored}"
        return f"every parameter: weights, biases, norms, tables{once}{stored}"

    def to_dict(self) -> dict[str, Any]:
        return {
            "spec": self.spec.to_dict(),
            "label": self.label,
            "total": self.total,
            "full": self.full,
            "trainable": self.trainable,
            "convention": self.convention,
            "left_out": [item.to_dict() for item in self.left_out],
            "only": list(self.only),
            "parts": self.parts,
            "kinds": self.kinds,
            "layers": [{"layer": number, "count": count} for number, count in self.layers.items()],
            "layer_parts": self.layer_parts,
            "subtotals": [part.to_dict() for part in self.subtotals],
            "largest": [{"name": part.name, "count": part.count, "share": part.count / self.total} for part in self.largest],
            "rows": [row.to_dict() for row in self.rows],
        }


def count(
    spec: EncoderSpec, *, without: str | Iterable[str] | None = None, only: str | Iterable[str] | None = None, label: str = "spec"
) -> Count:
    """Return the parameter ledger of a spec; `without` and `only` name parts to exclude or to include."""
    return ledger(build(spec, t=None if spec.one_length else 1), without=without, only=only, label=label)


def ledger(
    program: Program, *, without: str | Iterable[str] | None = None, only: str | Iterable[str] | None = None, label: str = "spec"
) -> Count:
    """Return the parameter ledger of a program."""
    parameters, kept_words, dropped_words = program.parameters, part_names(only), part_names(without)
    kept = parameters
    left_out: list[LeftOut] = []
    if kept_words:
        choosers = [selector(word, parameters) for word in kept_words]
        kept = [parameter for parameter in parameters if any(selects(parameter) for selects in choosers)]
        if not kept:
            raise GlassformerError(f"--only {','.join(kept_words)}: this spec has none of that.{_hint(kept_words)}")
        names = {parameter.name for parameter in kept}
        others = [parameter for parameter in parameters if parameter.name not in names]
        left_out.append(LeftOut(ALL_ELSE, sum(parameter.size for parameter in others), len(others)))
    for word in dropped_words:
        selects = selector(word, parameters)
        taken = [parameter for parameter in kept if selects(parameter)]
        kept = [parameter for parameter in kept if not selects(parameter)]
        left_out.append(LeftOut(word, sum(parameter.size for parameter in taken), len(taken)))
    return Count(label, program.spec, tuple(_rows(program, kept)), tuple(left_out), tuple(kept_words))


def _rows(program: Program, kept: Iterable[Parameter]) -> Iterator[Row]:
    also: dict[str, list[str]] = {}
    for alias, owner in program.shared.items():
        also.setdefault(owner, []).append(alias)
    matrices = biases_of_matrices(program)
    for parameter in kept:
        yield Row(
            parameter.tensor,
            parameter.kind,
            parameter.frozen,
            also=tuple(also.get(parameter.name, ())),
            within=path_of(parameter),
            bias_of=matrices.get(parameter.name),
        )


def _part_of_layer(tensor: Tensor) -> str:
    """Return the block within its layer that a tensor belongs to; its own symbol if it is in no such block."""
    inside = [block.word for block in tensor.block.path if block.layer is not None and block.kind != "layer"]
    return inside[0] if inside else tensor.symbol


def _hint(words: list[str]) -> str:
    return " Add one with head=classify classes=5." if "head" in words else ""


def _totals(pairs: Iterable[tuple[Any, int]]) -> dict[Any, int]:
    totals: dict[Any, int] = {}
    for key, value in pairs:
        totals[key] = totals.get(key, 0) + value
    return totals
