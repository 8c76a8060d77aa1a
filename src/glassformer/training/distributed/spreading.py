"""One encoder on several processes, copied (DDP) or cut up (FSDP2), so that a step is the step of a single process."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from contextlib import AbstractContextManager, nullcontext
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn.parallel import DistributedDataParallel

from glassformer.model import Encoder
from glassformer.training.data.examples import Batch
from glassformer.training.distributed.processes import first, gathered
from glassformer.training.settings import Parallel
from glassformer.training.tasks import Judged, evaluate
from glassformer.training.where import Where

Judge = Callable[[Encoder, Batch], Judged]


class Loss(nn.Module):
    """From a batch to its loss: DDP looks here for what a loss depends on, and at no output that nothing reads."""

    def __init__(self, encoder: Encoder, judge: Judge) -> None:
        super().__init__()
        self.encoder, self.of = encoder, judge
        # DDP is told to expect parameters without a use, and warns where it finds none.
        self.unread = nn.Parameter(torch.zeros(1, device=encoder.here.device))

    def forward(self, batch: Batch) -> Judged:
        return self.of(self.encoder, batch)


class Spread:
    """An encoder where it is trained; alone, nothing is wrapped around it."""

    def __init__(self, encoder: Encoder, where: Where, parallel: Parallel, judge: Judge) -> None:
        self.encoder, self.where = encoder, where
        self.loss: nn.Module = Loss(encoder, judge)
        self.cut = where.world > 1 and parallel == "fsdp"
        if self.cut:
            cut_up(encoder, where)
        elif where.world > 1:
            # A parameter that no loss depends on (a mask token) is none of its business, and the buckets stay as they are
            # from the first step on: a resumed run adds up in the order of the undisturbed one.
            self.loss = DistributedDataParallel(self.loss, find_unused_parameters=True)

    def backward(self, judged: Judged, targets: int) -> None:
        """Add a batch's gradients to those of its step; the mean over processes that comes later is made a sum here."""
        (judged.loss * self.where.world / max(targets, 1)).backward()

    def adding_up(self, *, last: bool) -> AbstractContextManager[None]:
        """The context of a batch's forward pass: after the last one of a step, gradients are added up over processes."""
        if self.cut:
            self.encoder.set_requires_gradient_sync(last)  # type: ignore[operator]
        if isinstance(self.loss, DistributedDataParallel) and not last:
            return self.loss.no_sync()
        return nullcontext()

    def clip(self, most: float | None) -> float:
        """Shorten the gradient of all parameters, which lie on all processes, to at most this; gives the length that it had."""
        parameters = list(self.encoder.parameters())
        length = torch.nn.utils.get_total_norm([one.grad for one in parameters if one.grad is not None])
        length = length.full_tensor() if self.cut else length  # type: ignore[attr-defined]
        if math.isfinite(length):  # or every gradient would be spoiled by the one that is to be named
            torch.nn.utils.clip_grads_with_norm_(parameters, most or math.inf, length)
        return float(length)

    def evaluate(self, batches: Iterable[Batch], *, classes: int = 0) -> dict[str, Any]:
        """Loss and accuracy over all processes; afterwards each has its own part of the weights again."""
        found = evaluate(self.encoder, batches, self.where.device, classes=classes)
        if self.cut:  # a pass without a way back leaves the outermost part put together
            self.encoder.reshard()  # type: ignore[operator]
        return found

    def first_not_finite(self, named: Mapping[str, Tensor | None]) -> str | None:
        """The first of some tensors that holds NaN or infinity, on any process."""
        faults = gathered(*(float(not _finite(_mine(tensor))) for tensor in named.values()))
        return next((name for place, name in enumerate(named) if any(mine[place] for mine in faults)), None)

    @torch.no_grad()
    def weights_finite(self) -> bool:
        """Whether no weight is NaN or infinite, on any process: a quick pass that takes squares which overflow for infinite."""
        mine = [own for one in self.encoder.parameters() if (own := _mine(one)) is not None and own.numel()]
        lengths = torch.stack(torch._foreach_norm(mine)) if mine else torch.zeros(1)
        return not any(fault for (fault,) in gathered(float(not lengths.isfinite().all())))

    def whole(self) -> Encoder | None:
        """The encoder with all of its numbers, in the first process; None in the others, which give theirs."""
        if not self.cut:
            return self.encoder if first() else None
        made = Encoder(self.encoder.spec, device="cpu", fresh=False) if first() else None
        into = dict(made.named_parameters()) if made is not None else {}
        for name, parameter in self.encoder.named_parameters():
            full = parameter.detach().full_tensor()  # type: ignore[attr-defined]
            if name in into:
                into[name].data.copy_(full)
        return made


def cut_up(encoder: Encoder, where: Where) -> None:
    """Leave each process its rows of every parameter; a block is put together when it is used, and let go of afterwards."""
    from torch.distributed.device_mesh import init_device_mesh
    from torch.distributed.fsdp import fully_shard

    mesh = init_device_mesh(where.device.type, (where.world,))
    for block in encoder.layers.values():
        fully_shard(block, mesh=mesh)
    fully_shard(encoder, mesh=mesh)


def _mine(tensor: Tensor | None) -> Tensor | None:
    """Of a tensor that is cut up (a DTensor), the part of this process."""
    local = getattr(tensor, "to_local", None)
    return tensor if local is None else local()


def _finite(tensor: Tensor | None) -> bool:
    return tensor is None or bool(tensor.isfinite().all())
