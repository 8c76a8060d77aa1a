"""Measured against predicted: peak FLOP/s of the machine, and FLOPs and bytes of a real step."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager, ExitStack
from typing import Any, TypeAlias

import torch
from torch import Tensor, nn
from torch.autograd.graph import saved_tensors_hooks
from torch.nn.attention import SDPBackend, sdpa_kernel
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils.flop_counter import flop_registry

from glassformer.model import Encoder
from glassformer.model.fast.checkpointing import kept
from glassformer.model.fast.compiling import as_written
from glassformer.model.fast.products import without_onednn
from glassformer.training.data.examples import Batch, Extent
from glassformer.training.prediction import POWERS
from glassformer.training.tasks import Task

Context: TypeAlias = AbstractContextManager[object]
PEAK_SECONDS = 0.2  # time spent measuring the peak
SIDES = {"cpu": 1024, "cuda": 8192}


def peak_flops(device: torch.device, dtype: torch.dtype) -> float:
    """Return the FLOP/s of the fastest of several square matrix products on this device with the current threads."""
    side = SIDES.get(device.type, 1024)
    own = torch.Generator(device).manual_seed(0)  # the random numbers of the run continue where they were
    a, b = (torch.randn(side, side, device=device, generator=own).to(dtype) for _ in range(2))  # equal numbers would be faster
    out = torch.empty_like(a)
    fastest, until = float("inf"), time.perf_counter() + PEAK_SECONDS
    while time.perf_counter() < until:
        began = time.perf_counter()
        torch.mm(a, b, out=out)
        if device.type == "cuda":
            torch.cuda.synchronize(device)
        fastest = min(fastest, time.perf_counter() - began)
    return 2 * side**3 / fastest


def predicted_at(predicted: Mapping[str, Any], extent: Extent) -> tuple[float, float] | None:
    """Return the FLOPs and bytes of a step on these rows; None if there is no prediction.

    Both are polynomials whose coefficients come from the algebra: `fixed`, and those of
    `POWERS`, in the order of the fields of an extent.
    """
    if "flops_by" not in predicted:
        return None
    if not extent.tokens and extent.rows:
        extent = Extent.of([int(predicted.get("t") or 0)] * extent.rows)
    flops, size = (
        one["fixed"] + sum(count * one.get(name, 0.0) for name, count in zip(POWERS, extent, strict=True))
        for one in (predicted["flops_by"], predicted["bytes_by"])
    )
    return flops, size


class FlopCounter(TorchDispatchMode):
    """Counts FLOPs as `torch.utils.flop_counter.FlopCounterMode` does, without importing the compiler: over a second."""

    def __init__(self) -> None:
        super().__init__()
        self.flops = 0

    @classmethod
    def _should_skip_dynamo(cls) -> bool:
        return False  # nothing is compiled while this counts

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        formula = flop_registry.get(func._overloadpacket)
        if formula is None:
            with self:  # an operation that is made of others
                made = func.decompose(*args, **kwargs or {})
            if made is not NotImplemented:
                return made
        out = func(*args, **kwargs or {})
        if formula is not None:
            self.flops += int(formula(*args, **kwargs or {}, out_val=out))
        return out


def measure_step(encoder: Encoder, batch: Batch, task: Task, number_format: Callable[[], Context]) -> dict[str, int]:
    """Measure the matrix FLOPs of one step, and its memory: weights, gradients, AdamW moments and saved activations.

    The counter cannot see inside fused attention and oneDNN's products, so it counts plain kernels, which compute the same.
    """
    plain = as_written(encoder)  # the counter cannot see inside compiled graphs
    with plain, without_onednn(), sdpa_kernel(SDPBackend.MATH), FlopCounter() as counter, number_format():
        task.judge(encoder, batch).loss.backward()
    encoder.zero_grad(set_to_none=True)
    activations = kept_bytes(encoder, lambda: task.judge(encoder, batch).loss, number_format)
    every = list(encoder.parameters())
    weights = sum(one.nbytes for one in every)
    learned = sum(one.nbytes for one in every if one.requires_grad)
    return {"flops": counter.flops, "bytes": weights + 3 * learned + activations}


def kept_bytes(encoder: Encoder, forward: Callable[[], Tensor], number_format: Callable[[], Context]) -> int:
    """Return the bytes of the activations that a forward pass keeps; of recomputed layers their inputs, and one of them whole."""
    own = {one.untyped_storage().data_ptr() for one in encoder.parameters()}
    outside: dict[int, int] = {}
    layers: list[dict[int, int]] = []
    current = [outside]
    counted: list[Any] = []  # held until the end: memory that is used again would be taken for the same tensor

    def keep(tensor: Tensor, into: dict[int, int] | None = None) -> Tensor:
        storage = tensor.untyped_storage()
        counted.append(storage)
        if storage.data_ptr() not in own:
            (current[-1] if into is None else into)[storage.data_ptr()] = storage.nbytes()
        return tensor

    def enter(_: nn.Module, inputs: tuple[Any, ...]) -> None:
        keep(inputs[0], outside)
        layers.append({})
        current.append(layers[-1])

    def leave(*_: Any) -> None:
        current.pop()

    with ExitStack() as stack:
        for block in stack.enter_context(kept(encoder)):
            for handle in (block.register_forward_pre_hook(enter), block.register_forward_hook(leave)):
                stack.callback(handle.remove)
        stack.enter_context(as_written(encoder))
        stack.enter_context(saved_tensors_hooks(keep, lambda tensor: tensor))
        stack.enter_context(number_format())
        loss = forward()  # everything it stores stays in memory until all is counted
    inside = [sum(size for pointer, size in one.items() if pointer not in outside) for one in layers]
    del loss
    return sum(outside.values()) + max(inside, default=0)


class Gauge:
    """Measures the throughput of one process relative to the peak of its machine."""

    def __init__(self, predicted: Mapping[str, Any], device: torch.device, dtype: torch.dtype) -> None:
        self.predicted = predicted
        self.peak = peak_flops(device, dtype) if "flops_by" in predicted else None
        self.flops = self.seconds = self.units = 0.0

    def step(self, batches: list[Batch], seconds: float) -> dict[str, float]:
        """Record a step; return its share of the peak, if FLOPs were predicted."""
        self.seconds += seconds
        self.units += sum(batch.tokens or batch.targets for batch in batches)
        if self.peak is None:
            return {}
        flops = sum(found[0] for batch in batches if (found := predicted_at(self.predicted, batch.extent)) is not None)
        self.flops += flops
        self.peak = max(self.peak, flops / seconds)  # other processes slowed the peak measurement down
        return {"share": round(flops / seconds / self.peak, 4)}

    def figures(self) -> dict[str, float]:
        """Return tokens or images per second and the share of the peak, over all recorded steps."""
        if not self.seconds:
            return {}
        found = {"per_second": round(self.units / self.seconds, 1)}
        if self.peak is not None:
            found |= {"peak": round(self.peak), "share": round(self.flops / self.seconds / self.peak, 4)}
        return found

    def one_step(self, encoder: Encoder, batch: Batch, task: Task, number_format: Callable[[], Context]) -> dict[str, Any]:
        """Measure one real step, with the prediction for its size."""
        expected = predicted_at(self.predicted, batch.extent) or (None, None)
        rows, t = len(batch.inputs), batch.inputs.shape[1] if batch.attend is not None else int(self.predicted.get("t") or 0)
        found = {"rows": rows, "t": t, "predicted_flops": expected[0], "predicted_bytes": expected[1]}
        return {"step": found | measure_step(encoder, batch, task, number_format)}
