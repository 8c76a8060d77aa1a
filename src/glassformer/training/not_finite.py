"""NaN and infinity: stops before they are saved, names the rows and the first tensor, and says how to resume."""

from __future__ import annotations

import math
from typing import NoReturn, Protocol

import torch
from torch import Tensor, nn

from glassformer.errors import GlassformerError
from glassformer.model import Encoder
from glassformer.model.fast.compiling import as_written
from glassformer.training import state
from glassformer.training.adamw import AdamW
from glassformer.training.data.examples import Batch
from glassformer.training.distributed.parallel_encoder import ParallelEncoder
from glassformer.training.distributed.processes import texts
from glassformer.training.optimizer import optimizer_state
from glassformer.training.runs import Run
from glassformer.training.saving import Progress
from glassformer.training.settings import Settings
from glassformer.training.tasks.task import Tally, Task
from glassformer.training.worker import Worker

SHOWN_IDS = 8


class Trainer(Protocol):
    """The part of the training loop's state that these checks read."""

    run: Run
    task: Task
    settings: Settings
    encoder: Encoder
    parallel: ParallelEncoder
    optimizer: AdamW
    progress: Progress
    worker: Worker


class NotFinite(GlassformerError):  # noqa: N818 - a way for a run to end
    """A value became NaN or infinite; nothing was saved after it."""

    code = 1


def refuse_not_finite(trainer: Trainer, mine: Tally, tally: Tally, length: float, batches: list[Batch]) -> None:
    """Stop before the update if the loss or a gradient is not finite on any process; `mine` holds this process's sums."""
    if math.isfinite(tally.loss) and math.isfinite(length):
        return
    parameters = dict(trainer.encoder.named_parameters())
    first = trainer.parallel.first_not_finite({name: parameter.grad for name, parameter in parameters.items()})
    by_loss = not math.isfinite(tally.loss)
    what = f"loss is {tally.loss}" if by_loss else f"the gradient of {first} is not finite"
    where = f" First non-finite gradient: {first}." if first is not None and by_loss else ""
    concerned = not (by_loss and math.isfinite(mine.loss))
    weight = trainer.parallel.first_not_finite(parameters)
    cause = f" The weight {weight} is not finite." if weight is not None else origin(trainer, batches if concerned else [])
    stop(trainer, f"{what}.{where}{cause}", batches if concerned else [])


def refuse_update(trainer: Trainer, batches: list[Batch]) -> None:
    """Stop if an update made a weight NaN or infinite: a bad optimizer state, or too large a learning rate."""
    if trainer.parallel.weights_finite():
        return
    first = trainer.parallel.first_not_finite(dict(trainer.encoder.named_parameters()))
    if first is None:  # very large but finite
        return
    memory = trainer.parallel.first_not_finite(optimizer_state(trainer.encoder, trainer.optimizer))
    cause = f" The optimizer's {memory} is not finite." if memory is not None else ""
    stop(trainer, f"the update made {first} not finite.{cause}", batches)


def refuse_validation(trainer: Trainer, loss: float) -> None:
    """Stop if the validation loss is NaN or infinite although the weights are finite."""
    if not math.isfinite(loss):
        stop(trainer, f"the validation loss is {loss}.", [], step=trainer.progress.step)


def refuse_state(trainer: Trainer) -> None:
    """Refuse to save weights or optimizer state that are not finite."""
    named = {f"weight {name}": parameter.detach() for name, parameter in trainer.encoder.named_parameters()}
    remembered = optimizer_state(trainer.encoder, trainer.optimizer)
    named |= {f"optimizer's {name}": value for name, value in remembered.items() if value.is_floating_point()}
    first = trainer.parallel.first_not_finite(named)
    if first is not None:
        stop(trainer, f"the {first} is not finite, so this step is not saved.", [], step=trainer.progress.step)


def stop(trainer: Trainer, what: str, batches: list[Batch], step: int | None = None) -> NoReturn:
    """Raise the error: step, cause, learning rate, the affected rows of all processes, and how to resume."""
    gathered_ids = texts(" ".join(str(number) for batch in batches for number in batch.ids))
    ids = [number for text in gathered_ids for number in text.split()]
    listed = ", ".join(ids[:SHOWN_IDS]) + (", …" if len(ids) > SHOWN_IDS else "")
    rows = f" Training rows of the batch: {listed}." if ids else ""
    good = next(iter(state.saved_steps(trainer.run.checkpoints)), None)
    kept = "No checkpoint yet" if good is None else f"Last good checkpoint: step {good}"
    rate, lr = float(trainer.optimizer.param_groups[0]["lr"]), trainer.settings.lr
    raise NotFinite(
        f"step {trainer.progress.step + 1 if step is None else step}: {what} lr = {rate:.3g}.{rows} {kept}. "
        f"Nothing was overwritten. To resume: {trainer.run.resume_command} --lr {lr / 10:.3g}"
    )


def origin(trainer: Trainer, batches: list[Batch]) -> str:
    """Find where a non-finite value first appears: an input row, or the first module output."""
    mine = "" if trainer.parallel.sharded else next((found for batch in batches if (found := _origin(trainer, batch))), "")
    return next((text for text in texts(mine) if text), "")


def _origin(trainer: Trainer, batch: Batch) -> str:
    if batch.inputs.is_floating_point():
        bad = (~batch.inputs.isfinite().flatten(1).all(1)).nonzero().flatten().tolist()
        if bad:
            return f" The input of row {batch.ids[bad[0]]} is not finite."
    seen: list[str] = []

    def look(name: str) -> object:
        def hook(_: nn.Module, __: object, out: object) -> None:
            if isinstance(out, Tensor) and out.is_floating_point() and not out.isfinite().all():
                seen.append(name)

        return hook

    handles = [module.register_forward_hook(look(name)) for name, module in trainer.encoder.named_modules() if name]
    try:
        with torch.no_grad(), as_written(trainer.encoder):
            trainer.task.judge(trainer.encoder, batch.to(trainer.worker.device))
    finally:
        for handle in handles:
            handle.remove()
    return f" The first module with a non-finite output is {seen[0]}." if seen else ""
