"""Memory: warns before the first step if memory may run out, and suggests a batch size that fits."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import torch

from glassformer.errors import GlassformerError
from glassformer.model.boundary.start import free_bytes, in_words
from glassformer.training import state
from glassformer.training.data.examples import Extent
from glassformer.training.measuring import predicted_at
from glassformer.training.runs import Run

SHARE = 0.9  # of free memory: the prediction leaves out temporary tensors


class OutOfMemory(GlassformerError):  # noqa: N818 - a way for a run to end
    """A step ran out of memory; saved checkpoints are intact."""

    code = 1


def largest_batch(predicted: Mapping[str, Any], room: int) -> int | None:
    """Return the largest batch of maximum length that fits into `room` bytes; None if there is no prediction."""
    alone = predicted_at(predicted, Extent(0))
    one = predicted_at(predicted, Extent.of([predicted.get("t") or 0], [predicted.get("u") or 0]))
    if alone is None or one is None:
        return None
    return max(0, int((room - alone[1]) / max(one[1] - alone[1], 1)))


@contextmanager
def enough_memory(run: Run, device: torch.device, say: Callable[[str], None]) -> Iterator[None]:
    """Warn before the steps if the prediction exceeds free memory; report a failed allocation in one line."""
    predicted, free = run.about.get("predicted", {}), free_bytes(device)
    room = None if free is None else round(SHARE * free)
    if room is not None and predicted.get("bytes", 0) > room:
        say(f"memory may run out: {forecast(run, room)}")
    try:
        yield
    except (MemoryError, RuntimeError) as error:
        if not is_out_of_memory(error):
            raise
        good = next(iter(state.saved_steps(run.checkpoints)), None)
        kept = "No checkpoint yet" if good is None else f"Last good checkpoint: step {good}"
        raise OutOfMemory(f"out of memory: {forecast(run, room)} {kept}; nothing was overwritten.") from None


def forecast(run: Run, room: int | None) -> str:
    """Describe the memory a step needs, the memory available, and a batch size that fits."""
    predicted, settings = run.about.get("predicted", {}), run.settings
    rows = predicted.get("batch", settings.batch_size)
    needs = f"a step of {rows} rows needs {in_words(predicted['bytes'])}" if predicted else "a step does not fit"
    option = "--batch-size" if settings.batch_tokens is None else "--batch-tokens"
    free = "" if room is None else f", {in_words(room)} is available"
    fits = None if room is None else largest_batch(predicted, room)
    if fits is None or fits >= rows:  # predicted to fit, but other processes or temporary tensors used the memory
        way = f"Train again with a smaller {option} and a larger --accumulate for the same effective batch."
    elif fits == 0:
        way = "Not even one row fits: train again with a smaller --max-length, fewer layers or smaller widths."
    else:
        times = -(-rows // fits) * settings.accumulate
        fitting = fits if settings.batch_tokens is None else fits * predicted["t"]
        way = f"At most {fits} rows fit: train again with {option} {fitting} --accumulate {times}."
    return f"{needs}{free}. {way}"


def is_out_of_memory(error: BaseException) -> bool:
    """Return whether an error is a failed allocation, by Python, on a GPU, or by PyTorch's CPU allocator."""
    return isinstance(error, MemoryError | torch.OutOfMemoryError) or "can't allocate memory" in str(error)
