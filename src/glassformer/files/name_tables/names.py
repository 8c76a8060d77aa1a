"""The record of a family's tensor names: tables for the body, the layers and each kind of head."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import NamedTuple, TypeAlias


class At(NamedTuple):
    """A tensor name, with its layout: a part of the rows, or additional axes of size one."""

    name: str
    part: int = 0
    of: int = 1  # number of parameters whose rows are stored one after the other in the tensor; 3: queries, keys and values
    ones_before: int = 0
    ones_after: int = 0
    by_head: bool = False  # whether the parts follow one another in each head (GPT-NeoX)
    input_first: bool = False  # whether matrices are stored as [in, out] (GPT-2)
    channels_last: bool = False  # whether a patch is stored pixel by pixel, as a row of numbers (SigLIP 2)
    with_hidden: bool | None = None  # with a value: of heads with a hidden layer alone, or of heads without one
    flipped: bool = False  # whether the two axes of a table are stored in the other order
    one_inside: bool = False  # whether an axis of size one follows the first axis
    merged: int = 1  # number of leading axes that the tensor has as one (groups of a convolution)


def third(name: str, part: int) -> At:
    """One of queries, keys and values stored in a single tensor."""
    return At(name, part, 3)


def input_first(name: str, part: int = 0, of: int = 1) -> At:
    """A matrix stored as [in, out], with its bias."""
    return At(name, part, of, input_first=True)


def half(name: str, part: int) -> At:
    """One of the two projections of a gated block stored in a single tensor."""
    return At(name, part, 2)


def token(name: str) -> At:
    """A learned token, stored with axes [1, 1, d_model]."""
    return At(name, ones_before=2)


def batch(name: str) -> At:
    """A table, stored with a batch axis of size one."""
    return At(name, ones_before=1)


# A parameter (`head.W_C`), or a module with all of its parameters (`head.C`: weight and bias; `norm_1`: gamma and beta)
# -> its tensor or module. Several names: files have one of them, or equal copies.
Named: TypeAlias = str | At | tuple[str | At, ...]
Table: TypeAlias = Mapping[str, Named]


@dataclass(frozen=True, kw_only=True)
class Names:
    """The tensor names of one family. Body and layers have a prefix in models with a head."""

    prefixes: tuple[str, ...]
    body: Table
    layers: tuple[tuple[str, Table], ...]  # prefix of layer {n}, and the names inside; later entries are alternatives
    gated: Table = field(default_factory=dict)  # names that differ if the feed-forward block is gated
    heads: Mapping[str, Table] = field(default_factory=dict)  # by the end of the class name; without prefix
    own_prefix: Mapping[str, str] = field(default_factory=dict)  # by class, if not the first of `prefixes`
    buffers: tuple[str, ...] = ()  # endings of the names of buffers, which are stored but not learned
    shared: tuple[
        str, ...
    ] = ()  # a token table shared by encoder and decoder: a copy of the encoder's, unless the file is untied
    aside: tuple[str, ...] = ()  # prefixes of parts that are not read (a decoder, another head)
    empty: tuple[str, ...] = ()  # tables [1, rows, d_model] that are stored even with no rows

    def is_buffer(self, name: str) -> bool:
        """Whether a tensor is a buffer: stored, but not learned."""
        return any(name == ending or name.endswith(f".{ending}") for ending in BUFFERS + self.buffers)

    def head(self, model_class: str) -> Table:
        """Return the table of a class: that of the longest matching ending."""
        fitting = [ending for ending in self.heads if model_class.endswith(ending)]
        return self.heads[max(fitting, key=len)] if fitting else {}


# Buffers in all families: position ids, indices of a relative bias, rotary frequencies.
BUFFERS = (
    "position_ids",
    "token_type_ids",
    "relative_position_index",
    "inv_freq",
    "original_inv_freq",
    "final_logits_bias",
    "version",
)
