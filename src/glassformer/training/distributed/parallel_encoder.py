"""Data-parallel training: an encoder replicated (DDP) or sharded (FSDP2), with the same steps as a single process."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from contextlib import AbstractContextManager, nullcontext
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn.parallel import DistributedDataParallel

from glassformer.model import Encoder
from glassformer.model.adapters import lora
from glassformer.model.boundary.decoder import model_of
from glassformer.training.data.dataset import Dataset
from glassformer.training.data.examples import Batch
from glassformer.training.distributed.processes import first, gathered
from glassformer.training.settings import Parallel
from glassformer.training.tasks.evaluating import Judge, evaluate
from glassformer.training.tasks.task import Judged, Task
from glassformer.training.worker import Worker


class Loss(nn.Module):
    """The loss of a batch as a module: DDP sees only the outputs that the loss depends on."""

    def __init__(self, encoder: Encoder, judge: Judge) -> None:
        super().__init__()
        self.encoder, self.of = encoder, judge
        # DDP is configured to expect unused parameters, and warns if there are none.
        self.unread = nn.Parameter(torch.zeros(1, device=encoder.here.device))

    def forward(self, batch: Batch) -> Judged:
        return self.of(self.encoder, batch)


class ParallelEncoder:
    """An encoder wrapped for parallel training; unwrapped in a single process."""

    def __init__(self, encoder: Encoder, worker: Worker, parallel: Parallel, task: Task, judge: Judge) -> None:
        self.encoder, self.worker, self.task = encoder, worker, task
        self.loss: nn.Module = Loss(encoder, judge)
        self.sharded = worker.world > 1 and parallel == "fsdp"
        if self.sharded:
            shard_encoder(encoder, worker)
        elif worker.world > 1:
            # Parameters that the loss does not depend on (a mask token) are ignored, and the buckets stay fixed from the
            # first step on, so that a resumed run sums in the same order.
            self.loss = DistributedDataParallel(self.loss, find_unused_parameters=True)

    def backward(self, judged: Judged, targets: int) -> None:
        """Accumulate the gradients of a batch; multiplying by `world` turns the later mean over processes into a sum."""
        (judged.loss * self.worker.world / max(targets, 1)).backward()

    def gradient_sync(self, *, last: bool) -> AbstractContextManager[None]:
        """Return the context of a forward pass: gradients are synchronized only after the last batch of a step."""
        if self.sharded:
            self.encoder.set_requires_gradient_sync(last)  # type: ignore[operator]
        if isinstance(self.loss, DistributedDataParallel) and not last:
            return self.loss.no_sync()
        return nullcontext()

    def clip(self, most: float | None) -> float:
        """Clip the gradient norm over all parameters and processes; return the norm before clipping."""
        parameters = list(self.encoder.parameters())
        length = torch.nn.utils.get_total_norm([one.grad for one in parameters if one.grad is not None])
        length = length.full_tensor() if self.sharded else length  # type: ignore[attr-defined]
        if math.isfinite(length):  # otherwise all gradients would become NaN, and the bad one could not be named
            torch.nn.utils.clip_grads_with_norm_(parameters, most or math.inf, length)
        return float(length)

    def evaluate(self, batches: Iterable[Batch], *, detailed: Dataset | None = None) -> dict[str, Any]:
        """Return loss and metrics over all processes; reshard the weights afterwards."""
        found = evaluate(self.encoder, batches, self.worker.device, self.task, detailed=detailed)
        if self.sharded:  # a forward pass without backward leaves the root module unsharded
            self.encoder.reshard()  # type: ignore[operator]
        return found

    def first_not_finite(self, named: Mapping[str, Tensor | None]) -> str | None:
        """Return the name of the first tensor that holds NaN or infinity on any process."""
        faults = gathered(*(float(not _finite(_mine(tensor))) for tensor in named.values()))
        return next((name for place, name in enumerate(named) if any(mine[place] for mine in faults)), None)

    @torch.no_grad()
    def weights_finite(self) -> bool:
        """Return whether all weights are finite on all processes; a fast check in which overflowing squares count as infinite."""
        mine = [own for one in self.encoder.parameters() if (own := _mine(one)) is not None and own.numel()]
        lengths = torch.stack(torch._foreach_norm(mine)) if mine else torch.zeros(1)
        return not any(fault for (fault,) in gathered(float(not lengths.isfinite().all())))

    def whole(self) -> Encoder | None:
        """Return the full encoder in the first process, and None in the others."""
        if not self.sharded:
            return self.encoder if first() else None
        made = model_of(self.encoder.spec, device="cpu", fresh=False) if first() else None
        if made is not None:
            lora.apply_same(made, self.encoder)
        into = dict(made.named_parameters()) if made is not None else {}
        for name, parameter in self.encoder.named_parameters():
            full = parameter.detach().full_tensor()  # type: ignore[attr-defined]
            if name in into:
                into[name].data.copy_(full)
        return made


def shard_encoder(encoder: Encoder, worker: Worker) -> None:
    """Shard every parameter by rows over the processes; a block is gathered while it is used."""
    from torch.distributed.device_mesh import init_device_mesh
    from torch.distributed.fsdp import fully_shard

    mesh = init_device_mesh(worker.device.type, (worker.world,))
    for block in encoder.blocks():
        fully_shard(block, mesh=mesh)
    fully_shard(encoder, mesh=mesh)


def _mine(tensor: Tensor | None) -> Tensor | None:
    """Return the local part of a sharded tensor (a DTensor)."""
    local = getattr(tensor, "to_local", None)
    return tensor if local is None else local()


def _finite(tensor: Tensor | None) -> bool:
    return tensor is None or bool(tensor.isfinite().all())
