"""Memory: what a step needs beside what is free, said before the first one, and the batch that fits when it runs out."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import torch

from glassformer.model.start import free_bytes, in_words
from glassformer.spec import GlassformerError
from glassformer.training import state
from glassformer.training.measuring import predicted_at
from glassformer.training.runs import Run

SHARE = 0.9  # of what is free: the forecast leaves out the largest temporary tensors


class OutOfMemory(GlassformerError):  # noqa: N818 - a way for a run to end
    """A step that memory had no room for; what was saved is intact."""

    code = 1


def largest_batch(predicted: Mapping[str, Any], room: int) -> int | None:
    """The most rows of the longest length whose step fits into so many bytes; None where nothing was predicted."""
    alone = predicted_at(predicted, 0, predicted.get("t") or 0)
    one = predicted_at(predicted, 1, predicted.get("t") or 0)
    if alone is None or one is None:
        return None
    return max(0, int((room - alone[1]) / max(one[1] - alone[1], 1)))


@contextmanager
def enough_memory(run: Run, device: torch.device, say: Callable[[str], None]) -> Iterator[None]:
    """Inside are the steps: a forecast that does not fit is said before them, and an allocation that fails ends in one line."""
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
    """What a step needs, what is there, and the batch that fits."""
    predicted, settings = run.about.get("predicted", {}), run.settings
    needs = f"a step of {settings.batch_size} rows needs {in_words(predicted['bytes'])}" if predicted else "a step does not fit"
    free = "" if room is None else f", {in_words(room)} can be used"
    fits = None if room is None else largest_batch(predicted, room)
    if fits is None or fits >= settings.batch_size:  # the forecast would fit: others took memory, or a temporary tensor did
        way = "Train again with a smaller --batch-size, and --accumulate more batches for the same step."
    elif fits == 0:
        way = "Not even one row fits: train again with a smaller --max-length, fewer layers or smaller widths."
    else:
        times = -(-settings.batch_size // fits) * settings.accumulate
        way = f"At most {fits} rows fit: train again with --batch-size {fits} --accumulate {times}."
    return f"{needs}{free}. {way}"


def is_out_of_memory(error: BaseException) -> bool:
    """Whether an error is an allocation that failed: Python's, a GPU's, or that of PyTorch's allocator for the CPU."""
    return isinstance(error, MemoryError | torch.OutOfMemoryError) or "can't allocate memory" in str(error)
