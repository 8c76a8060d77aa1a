"""What a family's files call our parameters: a table for the body, one for a layer, and one for each kind of head."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import NamedTuple, TypeAlias


class At(NamedTuple):
    """A name, with what it does not say: a share of a tensor's rows, or axes of size one around the tensor."""

    name: str
    part: int = 0
    of: int = 1  # one tensor holds the rows of so many parameters, one after the other
    ones_before: int = 0
    ones_after: int = 0


def third(name: str, part: int) -> At:
    """One of queries, keys and values where a single tensor holds the three."""
    return At(name, part, 3)


def half(name: str, part: int) -> At:
    """One of the two projections of a gated block where a single tensor holds both."""
    return At(name, part, 2)


def token(name: str) -> At:
    """A learned token, kept as a batch of one sequence."""
    return At(name, ones_before=2)


def batch(name: str) -> At:
    """A table, kept as a batch of one."""
    return At(name, ones_before=1)


# A parameter (`head.W_C`), or a unit for all of its parameters (`head.C`: weight and bias; `norm_1`: gamma and beta)
# -> the tensor or module that holds it. Several names: files have one of them, or equal copies.
Named: TypeAlias = str | At | tuple[str | At, ...]
Table: TypeAlias = Mapping[str, Named]


@dataclass(frozen=True, kw_only=True)
class Names:
    """The names of one family. Body and layers stand under a prefix where a head stands beside them."""

    prefixes: tuple[str, ...]
    body: Table
    layers: tuple[tuple[str, Table], ...]  # where layer {n} stands, and the names inside; later ones are other spellings
    gated: Table = field(default_factory=dict)  # the layer's other names where the feed-forward block is gated
    heads: Mapping[str, Table] = field(default_factory=dict)  # by the end of the class's name; without prefix
    own_prefix: Mapping[str, str] = field(default_factory=dict)  # by class, where it is not the first
    buffers: tuple[str, ...] = ()  # last words of the names of numbers that are stored but not learned
    shared: tuple[str, ...] = ()  # a token table for encoder and decoder: a copy of the encoder's, unless the file says untied
    aside: tuple[str, ...] = ()  # beginnings of names that belong to parts that are not read (a decoder, another head)

    def head(self, model_class: str) -> Table:
        """The table of a class; the longest ending that fits."""
        fitting = [ending for ending in self.heads if model_class.endswith(ending)]
        return self.heads[max(fitting, key=len)] if fitting else {}


# The same in every family: positions counted up, indices of a relative bias, rotary frequencies.
BUFFERS = (
    "position_ids",
    "token_type_ids",
    "relative_position_index",
    "inv_freq",
    "original_inv_freq",
    "final_logits_bias",
    "version",
)
