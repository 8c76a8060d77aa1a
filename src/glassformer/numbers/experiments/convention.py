"""Convention: tokens as rows or as columns give the same numbers, provided that formula and data agree."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any, ClassVar

import numpy as np

from glassformer.errors import GlassformerError
from glassformer.numbers.experiments.experiment import CLEARLY, ROUNDING, Check, Experiment
from glassformer.numbers.experiments.setting import SENTENCE, divisor, program_for, requested, vectors_of, words_of
from glassformer.numbers.run import Run, run
from glassformer.numbers.weights import random_weights
from glassformer.program.axes import Array, Floats
from glassformer.program.matrices import as_matrix
from glassformer.spec import EncoderSpec

PLACE = "layers.0.attention."

START = EncoderSpec(d_model=768, heads=1, layers=1, block="attention", biases=())
CHOSEN = {
    "biases": "the formulas have no biases",
    "kv_heads": "the formulas assume that every head has its own keys and values",
    "block": "the experiment uses attention alone",
    "layers": "the experiment uses one layer",
    "vocab": "the words are given as vectors",
    "position": "the words are given as vectors",
    "image": "the experiment reads words",
    "mels": "the experiment reads words",
    "attend": "the formulas have no mask",
    "window": "the formulas have no mask",
    "d_v": "the row formula on column data needs V and Q of the same height",
    "batch": "there is one sentence",
    "t": "the sentence determines the number of tokens",
}


@dataclass(frozen=True)
class ConventionRow:
    """One tensor in both conventions: formulas, shapes, and the difference after transposing one."""

    name: str
    by_rows: str
    row_shape: tuple[int, ...]
    by_columns: str
    column_shape: tuple[int, ...]
    difference: float


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class Convention(Experiment):
    """Attention with tokens as rows, with tokens as columns, and with the row formula on column data."""

    name: ClassVar[str] = "convention"
    claim: ClassVar[str] = (
        "Tokens as rows or as columns give the same numbers, transposed. The row formula on column data gives different "
        "ones: its weights are features × features, not tokens × tokens, and no error is raised."
    )
    words: tuple[str, ...]
    rows: tuple[ConventionRow, ...]
    right: Floats  # the correct weights [t, s] of head 0
    mixed: Floats  # the weights of head 0 from the row formula on column data
    mixed_output: tuple[int, ...]
    mixed_moved: float

    @property
    def checks(self) -> tuple[Check, ...]:
        tokens, features = len(self.words), self.spec.head_k
        return (
            Check(
                "largest difference between columns, transposed, and rows", max(r.difference for r in self.rows), high=ROUNDING
            ),
            Check("rows of the correct weights: one per token", len(self.right), tokens, tokens),
            Check("rows of the mixed-up weights: one per feature of the head", len(self.mixed), features, features),
            Check("the mixed-up output has the right shape but different numbers", self.mixed_moved, low=CLEARLY),
        )

    def numbers(self) -> dict[str, Any]:
        return {
            "words": list(self.words),
            "rows": [asdict(row) for row in self.rows],
            "weights": list(self.right.shape),
            "mixed_weights": list(self.mixed.shape),
            "mixed_output": list(self.mixed_output),
            "mixed_moved": self.mixed_moved,
        }


def convention(*, text: str = SENTENCE, seed: int = 0, **fields: Any) -> Convention:
    """Compute attention with tokens as rows and as columns, then with the row formula on column data."""
    words = words_of(text)
    spec = requested(START, fields, chosen=CHOSEN).spec
    if spec.head_k == len(words):
        raise GlassformerError(
            f"d_k={spec.head_k} is also the number of words, so the shapes would not reveal the mix-up. Change d_k."
        )
    program = program_for(spec, t=len(words))
    found = run(program, random_weights(program, seed), {"x": vectors_of(words, spec.d_model, seed)[None]})
    columns = _by_columns(found)
    rows = tuple(_row(found, name, formulas, columns[name]) for name, formulas in _formulas(spec).items())
    q, k, v = (columns[name] for name in ("q", "k", "v"))
    mixed = _softmax(q @ k.transpose(0, 2, 1) / divisor(spec), axis=-1)  # the row formula, Q Kᵀ, on columns
    output = mixed @ v
    wanted = columns["mix"]
    return Convention(
        spec=spec,
        seed=seed,
        words=tuple(words),
        rows=rows,
        right=found[PLACE + "weights"][0, 0],
        mixed=mixed[0],
        mixed_output=output.shape[1:],
        mixed_moved=float(np.abs(output - wanted).max()),
    )


def _formulas(spec: EncoderSpec) -> dict[str, tuple[str, str]]:
    """Return tensor -> its formulas, with tokens as rows and as columns."""
    root = {"d_k": " / √d_k", "d_model": " / √d_model", "none": ""}[spec.scale]
    return {
        "q": ("X W_Q", "W_Q X"),
        "k": ("X W_K", "W_K X"),
        "v": ("X W_V", "W_V X"),
        "scores": (f"Q Kᵀ{root}", f"Kᵀ Q{root}"),
        "weights": ("softmax of each row", "softmax of each column"),
        "mix": ("A V", "V A"),
        "out": ("mix W_O", "W_O mix"),
    }


def _by_columns(found: Run) -> dict[str, Array]:
    """Compute attention with column vectors from the same numbers; results are [head, rows, columns]."""
    spec = found.program.spec
    x = found["x"][0].T
    w_q, w_k, w_v = (found[PLACE + name].transpose(1, 2, 0) for name in ("W_Q", "W_K", "W_V"))  # [head, d_k, d_model]
    q, k, v = w_q @ x, w_k @ x, w_v @ x
    scores = k.transpose(0, 2, 1) @ q / divisor(spec)
    weights = _softmax(scores, axis=-2)
    mix = v @ weights
    out = (found[PLACE + "W_O"].transpose(0, 2, 1) @ mix).sum(axis=0, keepdims=True)
    return {"q": q, "k": k, "v": v, "scores": scores, "weights": weights, "mix": mix, "out": out}


def _row(found: Run, name: str, formulas: tuple[str, str], columns: Array) -> ConventionRow:
    step = "layers.0.out" if name == "out" else PLACE + name
    tensor, rows = found.tensor(step), found[step][0]
    if rows.ndim == 2:
        rows = rows[None]
    elif tensor.axes[2].name == "head":  # [t, head, d_k] -> [head, t, d_k]
        rows = rows.transpose(1, 0, 2)
    shapes = [as_matrix(tensor, way, one_head=True).shape for way in ("rows", "columns")]
    difference = float(np.abs(columns - rows.transpose(0, 2, 1)).max())
    return ConventionRow(name, formulas[0], shapes[0], formulas[1], shapes[1], difference)


def _softmax(scores: Array, *, axis: int) -> Array:
    powers = np.exp(scores - scores.max(axis=axis, keepdims=True))
    return powers / powers.sum(axis=axis, keepdims=True)
