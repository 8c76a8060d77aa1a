"""A trap: a formula that fits and means something else."""

from __future__ import annotations

from dataclasses import dataclass

from glassformer.answers.shapes.form import Changes

# Code -> what it is, in one line: the list that the docs and the tests go by.
TRAPS: dict[str, str] = {
    "feature_by_feature": "The attention matrix is features × features: the row formula on column data, or the reverse.",
    "row_column_convention": "A weight stands on the side where it meets the tokens.",
    "key_not_transposed": "The scores sum features against tokens.",
    "queries_keys_transposed": "The attention matrix is keys × queries where queries × keys was due, or was taken for square.",
    "value_wrong_side": "The values stand on the side where the weights of the queries meet them.",
    "values_from_queries": "Keys and values come from different tokens.",
    "softmax_wrong_axis": "The softmax runs over the queries.",
    "sqrt_dmodel": "The scores are divided by the root of a width that is not the keys'.",
    "dv_dk_mixed": "The width of the values taken for the width of the keys, or the reverse.",
    "output_wrong_side": "W_O stands on the side where it meets the tokens.",
    "heads_along_tokens": "The heads are joined along the tokens.",
    "added_transposed": "A sum of tokens × features and features × tokens.",
    "claimed_shape": "A shape was given that the formula does not have.",
}


@dataclass(frozen=True)
class Trap:
    """What was written and what it means; `changes` are the places to replace, `about` the scores it is about."""

    code: str
    sentence: str
    changes: Changes | None = None
    about: object = None
    claim: bool = False  # not the formula is wrong, but what was said of it

    def __post_init__(self) -> None:
        assert self.code in TRAPS, self.code
