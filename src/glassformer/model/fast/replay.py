"""Short inputs on a GPU: the kernels of a pass are recorded as a CUDA graph for each shape, and replayed."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Sequence
from typing import NamedTuple

import torch
from torch import Tensor, nn

from glassformer.model.encoder import USUAL, Inputs, Output, PlainEncoder, Wanted

LONGEST = 512  # tokens; with more, the kernels take longer than their launches
SHAPES = 64  # number of recorded passes that are kept
WARM_UPS = 2


class Recording(NamedTuple):
    """A recorded pass: fill `inputs`, replay, read `output`."""

    graph: torch.cuda.CUDAGraph
    inputs: Inputs
    output: Output


class Replayer:
    """Forward passes over a few tokens, for an encoder in eval mode on a GPU.

    Launching a few hundred small kernels from Python takes longer than running them; a recording is launched at once.
    """

    def __init__(self, encoder: PlainEncoder, wanted: Wanted = USUAL) -> None:
        self.encoder, self.wanted = encoder, wanted
        self.addresses: tuple[int, ...] = ()
        self.kept: OrderedDict[tuple[object, ...], Recording] = OrderedDict()

    def serves(self, inputs: Inputs) -> bool:
        """Whether to record this input: few tokens, no padding, no gradients."""
        return (
            inputs.inputs.is_cuda
            and inputs.inputs.ndim == 2
            and inputs.inputs.numel() <= LONGEST
            and inputs.attend is None
            and not torch.is_grad_enabled()
            and not self.encoder.training
        )

    def __call__(self, given: Inputs, modules: Sequence[nn.Module]) -> Output:
        """Return what `encoder.run` returns; `modules` are all of its modules. The next call for the same shape overwrites it."""
        now = addresses(modules)
        if self.addresses != now:  # the weights have moved: recordings read the old addresses
            self.kept.clear()
            self.addresses = now
        key = tuple(None if value is None else tuple(value.shape) for value in given)
        if key not in self.kept:
            self.kept[key] = self.record(given)
            if len(self.kept) > SHAPES:
                self.kept.popitem(last=False)
        self.kept.move_to_end(key)
        recording = self.kept[key]
        for place, value in zip(recording.inputs, given, strict=True):
            if place is not None and value is not None:
                place.copy_(value)
        recording.graph.replay()
        return recording.output

    def record(self, given: Inputs) -> Recording:
        """Record a pass on copies of the inputs, after a few unrecorded ones in which libraries initialize themselves."""
        own = Inputs(*(None if value is None else value.clone() for value in given))  # type: ignore[arg-type]
        side = torch.cuda.Stream()
        side.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(side):
            for _ in range(WARM_UPS):
                self.encoder.run(own, wanted=self.wanted)
        torch.cuda.current_stream().wait_stream(side)
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            output = self.encoder.run(own, wanted=self.wanted)
        return Recording(graph, own, output)


def addresses(modules: Sequence[nn.Module]) -> tuple[int, ...]:
    """The addresses of the weights."""
    return tuple(one.data_ptr() for module in modules for one in module._parameters.values() if one is not None)


def as_copies(output: Output) -> Output:
    """A copy of the output, which the next replay does not overwrite."""
    parts = (value.clone() if isinstance(value, Tensor) else value for value in output)
    return type(output)(*parts)  # type: ignore[arg-type]
