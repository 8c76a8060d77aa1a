"""What was predicted beside what is measured: the machine's peak, and the FLOPs and bytes of one real step."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from typing import Any, TypeAlias

import torch
from torch import Tensor
from torch.autograd.graph import saved_tensors_hooks
from torch.nn.attention import SDPBackend, sdpa_kernel
from torch.utils.flop_counter import FlopCounterMode

from glassformer.model import Encoder
from glassformer.training.data.examples import Batch
from glassformer.training.tasks import judge

Context: TypeAlias = AbstractContextManager[object]
PEAK_SECONDS = 0.2  # spent on finding the peak
SIDES = {"cpu": 1024, "cuda": 8192}


def peak_flops(device: torch.device, dtype: torch.dtype) -> float:
    """FLOPs a second of the fastest of some square matrix products: what this device does with this number of threads."""
    side = SIDES.get(device.type, 1024)
    a, b = (torch.ones(side, side, device=device, dtype=dtype) for _ in range(2))
    out = torch.empty_like(a)
    fastest, until = float("inf"), time.perf_counter() + PEAK_SECONDS
    while time.perf_counter() < until:
        began = time.perf_counter()
        torch.mm(a, b, out=out)
        if device.type == "cuda":
            torch.cuda.synchronize(device)
        fastest = min(fastest, time.perf_counter() - began)
    return 2 * side**3 / fastest


def predicted_at(predicted: Mapping[str, Any], rows: int, t: int) -> tuple[float, float] | None:
    """FLOPs and bytes of a step on so many rows of so many tokens; None where nothing was predicted.

    Both are `fixed`, and for each row so much, so much a token and so much a pair of tokens: numbers that the algebra gave.
    """
    if "flops_by" not in predicted:
        return None
    flops, size = (
        one["fixed"] + rows * (one["row"] + one["token"] * t + one["pair"] * t * t)
        for one in (predicted["flops_by"], predicted["bytes_by"])
    )
    return flops, size


def length_of(batch: Batch, predicted: Mapping[str, Any]) -> int:
    """Tokens of a row as the encoder sees it: padding included; patches of an image."""
    return batch.inputs.shape[1] if batch.attend is not None else int(predicted.get("t") or 0)


def measure_step(encoder: Encoder, batch: Batch, number_format: Callable[[], Context]) -> dict[str, int]:
    """The matrix FLOPs of one step, and the bytes it has to keep: weights, gradients, AdamW's moments, what backward reads.

    The products of fused attention are hidden from the counter, so it counts those of the plain kernel, which are the same.
    """
    plain = torch.compiler.set_stance("force_eager")  # a compiled graph shows the counter nothing
    with plain, sdpa_kernel(SDPBackend.MATH), FlopCounterMode(display=False) as counter, number_format():
        judge(encoder, batch).loss.backward()
    encoder.zero_grad(set_to_none=True)
    kept: dict[int, int] = {}

    def keep(tensor: Tensor) -> Tensor:
        storage = tensor.untyped_storage()
        kept[storage.data_ptr()] = storage.nbytes()
        return tensor

    with torch.compiler.set_stance("force_eager"), saved_tensors_hooks(keep, lambda tensor: tensor), number_format():
        loss = judge(encoder, batch).loss
    every = list(encoder.parameters())
    own = {one.untyped_storage().data_ptr() for one in every}
    activations = sum(size for pointer, size in kept.items() if pointer not in own)
    del loss
    weights = sum(one.nbytes for one in every)
    learned = sum(one.nbytes for one in every if one.requires_grad)
    return {"flops": int(counter.get_total_flops()), "bytes": weights + 3 * learned + activations}


class Gauge:
    """How fast one process of a run goes, beside the fastest that its machine can do."""

    def __init__(self, predicted: Mapping[str, Any], device: torch.device, dtype: torch.dtype) -> None:
        self.predicted = predicted
        self.peak = peak_flops(device, dtype) if "flops_by" in predicted else None
        self.flops = self.seconds = self.units = 0.0

    def step(self, batches: list[Batch], seconds: float) -> dict[str, float]:
        """Note a step; its share of the peak, where FLOPs were predicted."""
        self.seconds += seconds
        self.units += sum(batch.tokens or batch.targets for batch in batches)
        if self.peak is None:
            return {}
        sizes = [(len(batch.inputs), length_of(batch, self.predicted)) for batch in batches]
        flops = sum(found[0] for rows, t in sizes if (found := predicted_at(self.predicted, rows, t)) is not None)
        self.flops += flops
        self.peak = max(self.peak, flops / seconds)  # others were busy while the peak was looked for: this machine can do more
        return {"share": round(flops / seconds / self.peak, 4)}

    def figures(self) -> dict[str, float]:
        """Over all the steps that were noted: tokens or images a second, and the share of the peak."""
        if not self.seconds:
            return {}
        found = {"per_second": round(self.units / self.seconds, 1)}
        if self.peak is not None:
            found |= {"peak": round(self.peak), "share": round(self.flops / self.seconds / self.peak, 4)}
        return found

    def one_step(self, encoder: Encoder, batch: Batch, number_format: Callable[[], Context]) -> dict[str, Any]:
        """One real step, measured, with what was predicted for its size."""
        rows, t = len(batch.inputs), length_of(batch, self.predicted)
        said = predicted_at(self.predicted, rows, t) or (None, None)
        found = {"rows": rows, "t": t, "predicted_flops": said[0], "predicted_bytes": said[1]}
        return {"step": found | measure_step(encoder, batch, number_format)}
