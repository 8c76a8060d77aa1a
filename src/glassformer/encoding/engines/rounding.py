"""Int8 products compared with float32 on the user's texts: cosines, speed, and whether this processor saturates."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from glassformer.errors import GlassformerError

if TYPE_CHECKING:
    from glassformer.model import LoadedModel

LEAST = 0.99  # mean cosine
TEXTS = 256


@dataclass(frozen=True)
class Rounding:
    """The cosines between vectors with int8 products and those in float32, and the speed of both."""

    engine: str
    precision: str
    texts: int
    smallest_cosine: float
    mean_cosine: float
    bound: float  # on the mean
    saturates: bool  # whether this processor may cut sums of int8 products to 16 bits
    per_second: float  # texts
    float32_per_second: float

    def to_dict(self) -> dict[str, Any]:
        """Ready for JSON."""
        return {**asdict(self), "note": self.note()}

    def note(self) -> str:
        """Return the figures in one line."""
        said = f"cosine to float32: mean {self.mean_cosine:.4f}, smallest {self.smallest_cosine:.4f}, of {self.texts} texts"
        rate = f"{self.per_second / self.float32_per_second:.2f} times as fast"
        return f"{said}; {rate}{'; ' + SATURATES if self.saturates else ''}"

    def require(self) -> None:
        """Refuse vectors that are too far from those in float32."""
        if not self.mean_cosine >= LEAST:
            why = f" ({SATURATES})" if self.saturates else ""
            raise GlassformerError(
                f"--precision int8: the mean cosine to float32 is {self.mean_cosine:.4f} on {self.texts} of these texts, "
                f"less than {LEAST}{why}. Leave out --precision, or try --dtype bfloat16."
            )


SATURATES = "this processor has no VNNI instructions, so sums of int8 products may saturate"


def rounded(model: LoadedModel, exact: LoadedModel, texts: Sequence[str], options: dict[str, Any]) -> Rounding:
    """Compare a model whose products are in int8 with the same one in float32; both are timed in alternation."""
    from glassformer.model.fast.int8 import saturates

    reading = options | {"normalise": True, "empty": "skip", "truncate": True}
    if not texts:
        raise GlassformerError(
            "--precision int8 is compared with float32 on the texts of the inputs, but these contain no texts."
        )
    wanted, found = (one.encode(texts, **reading) for one in (exact, model))
    cosines = (wanted.astype(np.float64) * found).sum(1)
    seconds = {}
    for name, one in (("float32", exact), ("int8", model)):
        began = time.perf_counter()
        one.encode(texts, **reading)
        seconds[name] = time.perf_counter() - began
    rates = {name: len(wanted) / one for name, one in seconds.items()}
    finite = np.isfinite(cosines).all()
    smallest, mean = (float(cosines.min()), float(cosines.mean())) if finite and len(cosines) else (float("nan"),) * 2
    return Rounding("torch", "int8", len(wanted), smallest, mean, LEAST, saturates(), rates["int8"], rates["float32"])


def check_precision(precision: str, *, kind: str, engine: str, device: str, dtype: str) -> None:
    """Refuse int8 if it is not supported, before a model is loaded."""
    if precision != "int8":
        return
    if kind != "encode":
        raise GlassformerError("--precision int8 is for vectors: use it with encode.")
    for name, given, wanted in (("engine", engine, "torch"), ("device", device, "cpu"), ("dtype", dtype, "float32")):
        if given != wanted:
            raise GlassformerError(f"--precision int8 requires --{name} {wanted}, not {given}.")
