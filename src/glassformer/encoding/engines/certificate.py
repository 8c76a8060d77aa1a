"""An engine compared with PyTorch on the same batches: the largest difference, which is bounded, and the speed of both."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from glassformer.errors import GlassformerError

if TYPE_CHECKING:
    from glassformer.model import LoadedModel

BOUND = 1e-4  # largest difference, relative to the largest number if that is above 1; the same as for exports
LENGTHS = (3, 5, 9, 12, 14, 17, 20, 22, 25, 28, 31, 35, 40, 46, 53, 61, 70, 82, 97, 128)  # tokens of the sampled texts
REPEATS = 3
ROUNDS = 3


@dataclass(frozen=True)
class Certificate:
    """The difference of an engine from PyTorch in float32 on random texts of many lengths, and the speed of both."""

    engine: str
    texts: int
    difference: float
    bound: float
    per_second: float  # texts; the best of some rounds
    torch_per_second: float

    def to_dict(self) -> dict[str, Any]:
        """Ready for JSON."""
        return asdict(self)

    def require(self) -> None:
        """Refuse an engine that differs by more than the bound."""
        if not self.difference <= self.bound:
            raise GlassformerError(
                f"--engine {self.engine}: its results differ from those of PyTorch by {self.difference:.1e}, more than "
                f"{self.bound:.0e}. Use --engine torch."
            )


def sample(model: LoadedModel) -> list[Any]:
    """Return random texts as ids, the same ones each time, of many lengths up to the longest that the model takes."""
    import torch

    rng = np.random.default_rng(0)
    lengths = [min(length, model.longest or length) for length in LENGTHS for _ in range(REPEATS)]
    return [torch.from_numpy(rng.integers(0, model.spec.vocab or 1, length)) for length in lengths]


def results(model: LoadedModel, part: str, run: Any) -> NDArray[Any]:
    """Return what passes of `run` give for the sample: vectors of length one, or logits of each text or token."""
    import torch

    from glassformer.model import encode_packed
    from glassformer.model.sentences.streams import Window, embed

    ids = sample(model)
    if part == "logits":
        with torch.inference_mode():
            found = encode_packed(run.encoder, ids, part="logits", run=run.run)
        return torch.cat([one.reshape(-1) for one in found]).numpy()
    window = Window(list(range(len(ids))), ids, None, [], {}, len(ids))
    return embed(run, window, "pooled" if part == "pooled" else "mean", normalise=True).numpy()


def compared(model: LoadedModel, part: str, engine: str, run: Any, *, bound: float = BOUND) -> Certificate:
    """Compare an engine with PyTorch; both are timed in alternation."""
    ours = model.ready(part)
    calls: dict[str, Callable[[], NDArray[Any]]] = {
        "torch": lambda: results(model, part, ours),
        engine: lambda: results(model, part, run),
    }
    wanted, found = (call() for call in calls.values())
    finite = bool(np.isfinite(found).all())
    difference = float(np.abs(found - wanted).max() / max(1.0, float(np.abs(wanted).max()))) if finite else float("inf")
    seconds = dict.fromkeys(calls, float("inf"))
    for _ in range(ROUNDS):
        for name, call in calls.items():
            began = time.perf_counter()
            call()
            seconds[name] = min(seconds[name], time.perf_counter() - began)
    texts = len(LENGTHS) * REPEATS
    return Certificate(engine, texts, difference, bound, texts / seconds[engine], texts / seconds["torch"])
